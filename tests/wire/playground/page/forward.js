// Forwarding a message: where to, and what to write with it.

import { byId, el, freshId, say } from "./dom.js";

/** Ask where a message goes; `places` have an `id` and a `title`, `send` returns null when it was refused. */
export function openForward(places, send) {
  const heading = freshId("forward");
  const target = el("select", {}, ...places.map((place) => el("option", { value: place.id }, place.title)));
  const text = el("textarea", { rows: "2", maxlength: "2000" });
  const cancel = el("button", { type: "button", class: "button secondary" }, "Cancel");
  const form = el(
    "form",
    {},
    el("h2", { id: heading }, "Forward the message"),
    el("label", { class: "block" }, el("span", {}, "To"), target),
    el("label", { class: "block" }, el("span", {}, "Message ", el("i", {}, "optional")), text),
    el("div", { class: "buttons end" }, cancel, el("button", { class: "button primary" }, "Forward")),
  );
  const dialog = el("dialog", { "aria-labelledby": heading, class: "forward" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    dialog.close();
    const sent = await send(target.value, text.value.trim());
    if (sent) say(`Forwarded to ${target.selectedOptions[0].textContent}.`);
  });
  byId("toast").before(dialog);
  dialog.showModal();
}
