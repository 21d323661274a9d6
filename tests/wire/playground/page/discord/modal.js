// The form that a bot may show in answer to a click.

import { act } from "../api.js";
import { byId, el, freshId } from "../dom.js";
import { markdown } from "../markdown/discord.js";

const [TEXT_INPUT, TEXT, RADIO_GROUP] = [4, 10, 21];
const PARAGRAPH = 2;

/** Show a form and send what is filled in; `names` are those of people and channels. */
export function openModal(me, names, interaction, modal) {
  const cancel = el("button", { type: "button", class: "button secondary" }, "Cancel");
  const title = freshId("form");
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: title }, modal.title),
    el("div", { class: "fields" }, ...parts(modal.components, names)),
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

/** Return what stands in a form in order: texts, and fields with their labels, however they are wrapped. */
function parts(components, names, label = "") {
  return components.flatMap((component) => {
    const name = component.label ?? label;
    if (component.type === TEXT) return [el("div", { class: "text" }, ...markdown(component.content, names))];
    if (component.type === TEXT_INPUT) return [labelled(name, textInput(component))];
    if (component.type === RADIO_GROUP) return [radioGroup(name, component)];
    return parts(component.components ?? [component.component].filter(Boolean), names, name);
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

function radioGroup(label, { custom_id: name, options, required = true }) {
  const choices = options.map((option) => el("label", {}, el("input", { type: "radio", name, value: option.value, required, checked: option.default }), option.label));
  return el("fieldset", {}, el("legend", {}, label), ...choices);
}

function labelled(label, input) {
  return el("label", {}, el("span", {}, label), input);
}
