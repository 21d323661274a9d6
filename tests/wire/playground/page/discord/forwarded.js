// What a forwarded message carries: a copy of another one.

import { el } from "../dom.js";

/** Return the copies that a message carries, each drawn by `draw`. */
export function forwardedElements(message, draw) {
  return (message.message_snapshots ?? []).map((copy) => el("div", { class: "forwarded" }, el("p", { class: "from" }, "↪ Forwarded"), ...draw(copy.message).filter(Boolean)));
}
