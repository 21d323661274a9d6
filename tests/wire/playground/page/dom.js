// Elements built without any HTML text, so that nothing written by anybody becomes markup.

/** Return a new element; `on...` properties are listeners, the others attributes. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Return an element of the page by its id. */
export function byId(id) {
  return document.getElementById(id);
}

let last = 0;

/** Return an id that no other element has. */
export function freshId(prefix) {
  last += 1;
  return `${prefix}-${last}`;
}

/** What is said to whom asks before the bot is ready. */
export const STILL_READING = "The bot is still reading: it answers this as soon as it is ready.";

/** Say a sentence in the corner, also to screen readers. */
export function say(sentence) {
  const place = byId("toast");
  const note = el("p", {}, sentence);
  place.append(note);
  setTimeout(() => note.remove(), 7000);
}
