// What an app shows beside messages: a modal, and its Home.

import { act } from "../api.js";
import { byId, el, freshId } from "../dom.js";
import { blockElements } from "./blocks.js";
import { namesOf } from "./message.js";

let dialog = null;
let drawn = "";

/** Show the modal that is on top, or none; one that did not change keeps what was typed. */
export function drawModal(store) {
  const wanted = JSON.stringify(store.modal);
  if (wanted === drawn) return;
  drawn = wanted;
  dialog?.close();
  dialog?.remove();
  dialog = store.modal && modal(store, store.modal);
  if (!dialog) return;
  byId("toast").before(dialog);
  dialog.showModal();
}

/** Show the app's Home. */
export function drawHome(store) {
  const { home } = store;
  const shown = home ? elements(store, home) : [el("p", {}, "The app fills its Home when it is running.")];
  byId("home").replaceChildren(...shown);
}

function modal(store, view) {
  const title = freshId("modal");
  const buttons = [el("button", { type: "button", class: "button secondary" }, view.close ?? "Close")];
  if (view.submit) buttons.push(el("button", { class: "button primary" }, view.submit));
  const wrong = Object.values(view.errors).map((text) => el("p", { class: "wrong", role: "alert" }, text));
  const form = el(
    "form",
    {},
    el("h2", { id: title }, view.title),
    el("div", { class: "blocks", tabindex: "0" }, ...elements(store, view)),
    ...wrong,
    el("div", { class: "buttons end" }, ...buttons),
  );
  const shown = el("dialog", { "aria-labelledby": title }, form);
  const dismiss = () => act("close", { user: store.me, view: view.id });
  buttons[0].addEventListener("click", dismiss);
  shown.addEventListener("cancel", (event) => {
    event.preventDefault();
    dismiss();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const filled = [...new FormData(form)].filter(([, value]) => value !== "");
    act("submit", { user: store.me, view: view.id, fields: Object.fromEntries(filled) });
  });
  return shown;
}

function elements(store, view) {
  const press = (action, choice) => act("press", { user: store.me, view: view.id, action, choice });
  return blockElements(view.blocks, namesOf(store), press);
}
