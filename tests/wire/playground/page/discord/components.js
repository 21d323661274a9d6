// The rows of buttons below a message.

import { el } from "../dom.js";

const ROW = 1;
const BUTTON = 2;
const STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "secondary" };
const LINK = 5;

/** Return a message's rows of buttons. */
export function components(message, doing) {
  return message.components.map((component) => row(component, message, doing));
}

function row(component, message, doing) {
  if (component.type !== ROW) return unknown(component);
  const shown = component.components.map((each) => (each.type === BUTTON ? button(each, message, doing) : unknown(each)));
  return el("div", { class: "buttons" }, ...shown);
}

function button(component, message, doing) {
  const label = [component.emoji?.name, component.label].filter(Boolean).join(" ");
  if (component.style === LINK) {
    return el("a", { class: "button secondary", href: component.url, target: "_blank", rel: "noopener noreferrer" }, label);
  }
  const style = STYLES[component.style] ?? "secondary";
  const shown = el("button", { type: "button", class: `button ${style}`, disabled: component.disabled, "data-component": component.custom_id }, label);
  shown.addEventListener("click", async () => {
    shown.setAttribute("aria-busy", "true");
    await doing.click(message, component.custom_id);
    shown.removeAttribute("aria-busy");
  });
  return shown;
}

function unknown(component) {
  return el("p", { class: "hint" }, `The playground does not show components of type ${component.type}.`);
}
