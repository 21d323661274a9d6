// The messages of one place, a channel or a thread, kept up to date while they change.

import { el } from "./dom.js";

const NEAR = 120;

/**
 * Shows a place's messages; stays at the end while the end is in sight.
 *
 * The store tells which messages are in a place (`timeline`, `isIn`), which one goes on where the
 * last one ended (`goesOn`), and which are one's own doing (`isMine`); `draw` returns an element.
 */
export class Timeline {
  #store;
  #draw;
  #place = null;
  #intro = null;
  #atEnd = true;

  constructor(store, label, draw) {
    this.#store = store;
    this.#draw = draw;
    this.element = el("div", { class: "timeline", role: "log", "aria-label": label, tabindex: "0" });
    this.element.addEventListener("scroll", () => {
      this.#atEnd = this.#isAtEnd();
    });
    new ResizeObserver(() => this.#atEnd && this.#toEnd()).observe(this.element);
    store.on("message", (message) => this.#changed(message));
    store.on("gone", ({ id }) => this.#find(id) && this.#fill());
  }

  /** Show a place, below an introduction. */
  show(place, intro = null) {
    this.#place = place;
    this.#intro = intro;
    this.element.replaceChildren();
    this.#fill();
    this.#toEnd();
  }

  /** Draw all there is anew. */
  refresh() {
    this.show(this.#place, this.#intro);
  }

  /** Draw one message anew, if it is shown. */
  redraw(id) {
    const [shown, message] = [this.#find(id), this.#store.messages.get(id)];
    if (shown && message) this.#replace(shown, message);
  }

  #changed(message) {
    if (!this.#store.isIn(message, this.#place)) return;
    const old = this.#find(message.id);
    if (old) this.#replace(old, message);
    else this.#fill();
    if (this.#atEnd || (!old && this.#store.isMine(message))) this.#toEnd();
  }

  /** Draw a message anew where it stands, and leave the focus where it was. */
  #replace(old, message) {
    const held = old.contains(document.activeElement) ? document.activeElement : null;
    const fresh = this.#draw(message);
    old.replaceWith(fresh);
    this.#group();
    if (!held) return;
    const { component } = held.dataset;
    const same = component && fresh.querySelector(`[data-component="${CSS.escape(component)}"]`);
    (same ?? fresh).focus();
  }

  /** Add what is new and remove what is gone; what stays is not moved, and keeps the focus. */
  #fill() {
    const place = this.element;
    const messages = this.#store.timeline(this.#place);
    const drawn = messages.map((message) => this.#find(message.id) ?? this.#draw(message));
    const wanted = [this.#intro, ...drawn].filter(Boolean);
    [...place.children].filter((child) => !wanted.includes(child)).forEach((child) => child.remove());
    wanted.forEach((each, at) => place.children[at] === each || place.insertBefore(each, place.children[at] ?? null));
    this.#group();
  }

  /** Draw the messages that one person wrote one after the other as one. */
  #group() {
    let before = null;
    for (const shown of this.element.querySelectorAll("article")) {
      const message = this.#store.messages.get(shown.dataset.id);
      const goesOn = Boolean(message && before) && this.#store.goesOn(message, before);
      shown.classList.toggle("grouped", goesOn && !shown.querySelector(".context"));
      before = message;
    }
  }

  #find(id) {
    return this.element.querySelector(`:scope > [data-id="${id}"]:not(.starter)`);
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  #toEnd() {
    this.#atEnd = true;
    this.element.scrollTop = this.element.scrollHeight;
  }
}
