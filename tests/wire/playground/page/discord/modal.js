// The form that a bot may show in answer to a click.

import { act } from "../api.js";
import { byId, el, freshId } from "../dom.js";

const PARAGRAPH = 2;

/** Show a form and send what is filled in. */
export function openModal(me, interaction, modal) {
  const fields = textInputs(modal.components);
  const cancel = el("button", { type: "button", class: "button secondary" }, "Cancel");
  const title = freshId("form");
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: title }, modal.title),
    ...fields.map(({ label, input }) => labelled(label, input)),
    el("div", { class: "buttons end" }, cancel, el("button", { class: "button primary" }, "Submit")),
  );
  const dialog = el("dialog", { "aria-labelledby": title }, form);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", () => submit(me, interaction, new FormData(form)));
  byId("toast").before(dialog);
  dialog.showModal();
}

function submit(me, interaction, filled) {
  return act("submit", { user: me, interaction, fields: Object.fromEntries(filled) });
}

/** Return the text fields of a form, each with its label, however they are wrapped. */
function textInputs(components, label = "") {
  return components.flatMap((component) => {
    const name = component.label ?? label;
    if (component.type === 4) return [{ label: name, input: textInput(component) }];
    return textInputs(component.components ?? [component.component].filter(Boolean), name);
  });
}

function textInput(component) {
  const shared = {
    name: component.custom_id,
    required: component.required ?? true,
    minlength: component.min_length,
    maxlength: component.max_length,
    placeholder: component.placeholder,
  };
  const input = component.style === PARAGRAPH ? el("textarea", { ...shared, rows: "4" }) : el("input", shared);
  input.value = component.value ?? "";
  return input;
}

function labelled(label, input) {
  return el("label", {}, el("span", {}, label), input);
}
