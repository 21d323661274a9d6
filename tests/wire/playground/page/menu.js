// A menu of things to do, at a button or at the pointer.

import { el } from "./dom.js";

let close = () => {};

/** Open a menu; `entries` are pairs of a label and what it does, or null for a line. */
export function openMenu(entries, owner, pointer = null) {
  close();
  const menu = el("div", { class: "menu", role: "menu", "aria-label": "Message" }, ...entries.map(entry));
  document.body.append(menu);
  place(menu, owner, pointer);
  const outside = (event) => menu.contains(event.target) || close();
  close = () => {
    document.removeEventListener("pointerdown", outside, true);
    menu.remove();
    close = () => {};
  };
  document.addEventListener("pointerdown", outside, true);
  menu.addEventListener("keydown", (event) => steer(event, menu, owner));
  menu.querySelector("[role=menuitem]")?.focus();
}

function entry(pair) {
  if (pair === null) return el("hr");
  const [label, what, danger] = pair;
  const chosen = () => {
    close();
    what();
  };
  return el("button", { type: "button", role: "menuitem", tabindex: "-1", class: danger ? "danger" : null, onclick: chosen }, label);
}

function place(menu, owner, pointer) {
  const box = owner.getBoundingClientRect();
  const byPointer = pointer && (pointer.clientX || pointer.clientY);
  const [left, top] = byPointer ? [pointer.clientX, pointer.clientY] : [box.right - menu.offsetWidth, Math.max(box.top, 0) + 28];
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(top, innerHeight - menu.offsetHeight - 8))}px`;
}

function steer(event, menu, owner) {
  const items = [...menu.querySelectorAll("[role=menuitem]")];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") {
    close();
    owner.focus();
  }
  if (to !== undefined) items[to % items.length].focus();
  if (to !== undefined || event.key === "Escape") event.preventDefault();
}
