// What a message consists of: texts, cards, pictures, buttons and menus.

import { el } from "../dom.js";
import { markdown } from "../markdown/discord.js";

const [ROW, BUTTON, SELECT] = [1, 2, 3];
const [TEXT, GALLERY, SEPARATOR, CARD] = [10, 12, 14, 17];
const STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "secondary" };
const LINK = 5;

const DRAWN = { [ROW]: row, [TEXT]: text, [GALLERY]: gallery, [SEPARATOR]: separator, [CARD]: card };
const IN_ROW = { [BUTTON]: button, [SELECT]: select };

/** Return a message's components; `around` has the message, its names and what can be done. */
export function components(around) {
  return around.message.components.map((component) => drawn(component, around));
}

/** Return all that is written in components, in order. */
export function textsOf(parts) {
  return parts.flatMap((part) => (part.type === TEXT ? [part.content] : textsOf(part.components ?? [])));
}

function drawn(component, around) {
  return (DRAWN[component.type] ?? unknown)(component, around);
}

function card(component, around) {
  const accent = component.accent_color;
  const shown = el("div", { class: "layout" }, ...component.components.map((part) => drawn(part, around)));
  if (typeof accent === "number") shown.style.setProperty("--bar", `#${accent.toString(16).padStart(6, "0")}`);
  return shown;
}

function text(component, { names }) {
  return el("div", { class: "text" }, ...markdown(component.content, names));
}

function separator() {
  return el("hr", { class: "separator" });
}

function gallery(component) {
  return el("div", { class: "gallery" }, ...component.items.map((item) => {
    const src = item.media.attachment_id ? `attachments/${item.media.attachment_id}` : item.media.url;
    return el("img", { class: "picture", src, alt: item.description ?? "" });
  }));
}

function row(component, around) {
  const shown = component.components.map((each) => (IN_ROW[each.type] ?? unknown)(each, around));
  return el("div", { class: "buttons" }, ...shown);
}

function button(component, { message, doing }) {
  const label = [component.emoji?.name, component.label].filter(Boolean).join(" ");
  if (component.style === LINK) {
    return el("a", { class: "button secondary", href: component.url, target: "_blank", rel: "noopener noreferrer" }, label);
  }
  const style = STYLES[component.style] ?? "secondary";
  const shown = el("button", { type: "button", class: `button ${style}`, disabled: component.disabled, "data-component": component.custom_id }, label);
  shown.addEventListener("click", () => busy(shown, () => doing.click(message, component.custom_id)));
  return shown;
}

function select(component, { message, doing }) {
  const hint = el("option", { value: "", disabled: true, selected: true }, component.placeholder ?? "Choose");
  const options = component.options.map((option) => el("option", { value: option.value, "data-component": option.value }, option.label));
  const shown = el("select", { class: "button", "aria-label": component.placeholder ?? "Choose", "data-component": component.custom_id }, hint, ...options);
  shown.addEventListener("change", () => busy(shown, () => doing.click(message, component.custom_id, [shown.value])));
  return shown;
}

async function busy(shown, act) {
  shown.setAttribute("aria-busy", "true");
  await act();
  shown.removeAttribute("aria-busy");
}

function unknown(component) {
  return el("p", { class: "hint" }, `The playground does not show components of type ${component.type}.`);
}
