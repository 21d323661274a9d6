// What a message carries of another one: forwarded, linked to, or a preview.

import { el } from "../dom.js";
import { mrkdwn } from "../markdown/slack.js";
import { blockElements } from "./blocks.js";

/** Return a message that is carried; its buttons do nothing there. */
export function sharedElement({ author, text, blocks }, store, names) {
  const from = author ? el("p", { class: "from" }, "↪ ", el("b", {}, store.person(author).name)) : null;
  const shown = blocks.length ? blockElements(blocks, names, () => {}) : [el("div", { class: "text" }, ...mrkdwn(text, names))];
  return el("div", { class: "forwarded" }, from, ...shown);
}
