// Tables of messages, and menus to choose from.

import { el } from "../dom.js";

/** Return a table; `cell` returns the content of a cell that is no plain text. */
export function table({ rows }, cell) {
  const content = (each) => (each.type === "raw_text" ? [each.text] : cell(each));
  const line = (cells, tag) => el("tr", {}, ...cells.map((each) => el(tag, {}, ...content(each))));
  const [head, ...body] = rows;
  const shown = el("table", {}, el("thead", {}, line(head, "th")), el("tbody", {}, ...body.map((cells) => line(cells, "td"))));
  return el("div", { class: "block table", tabindex: "0", role: "region", "aria-label": "Table" }, shown);
}

/** Return a menu; `press` is called with its action and what was chosen. */
export function select({ action_id: action, placeholder, options }, press) {
  const label = placeholder?.text ?? "Choose";
  const hint = el("option", { value: "", disabled: true, selected: true }, label);
  const shown = el("select", { class: "button", "aria-label": label, "data-component": action }, hint, ...options.map((option) => el("option", { value: option.value, "data-component": option.value.replace(/:[^:]*$/, "") }, option.text.text)));
  shown.addEventListener("change", () => press(action, shown.value));
  return shown;
}
