// The files of a message that was sent.

import { size } from "./attachments.js";
import { el } from "./dom.js";

/** Return a file as an element: a picture is shown, anything else named. */
export function fileElement({ id, name, bytes, picture, alt }) {
  if (picture) return el("img", { class: "picture", src: `attachments/${id}`, alt: alt ?? name });
  const about = el("span", {}, el("b", {}, name), el("small", {}, size(bytes)));
  return el("p", { class: "file" }, el("span", { class: "sheet", "aria-hidden": "true" }), about);
}
