// The messages of one channel, kept up to date while they change.

import { el } from "./dom.js";
import { messageElement } from "./message.js";
import { isEphemeral } from "./store.js";

const NEAR = 120;
const SOON = 5 * 60 * 1000;

/** Tell whether a message goes on where the same person's last one ended. */
function goesOn(message, before) {
  if (!message || !before || isEphemeral(message) || isEphemeral(before)) return false;
  const same = message.author.id === before.author.id && message.channel_id === before.channel_id;
  return same && new Date(message.timestamp) - new Date(before.timestamp) < SOON;
}

/** Shows a channel's messages; stays at the end while the end is in sight. */
export class Timeline {
  #store;
  #doing;
  #channelId = null;
  #intro = null;
  #atEnd = true;

  constructor(store, label, doing) {
    this.#store = store;
    this.#doing = doing;
    this.element = el("div", { class: "timeline", role: "log", "aria-label": label, tabindex: "0" });
    this.element.addEventListener("scroll", () => {
      this.#atEnd = this.#isAtEnd();
    });
    new ResizeObserver(() => this.#atEnd && this.#toEnd()).observe(this.element);
    store.on("message", (message) => this.#changed(message));
    store.on("gone", ({ id }) => this.#find(id) && this.#fill());
    store.on("channel", () => this.#refreshThreadLinks());
  }

  /** Show a channel, below an introduction. */
  show(channelId, intro = null) {
    this.#channelId = channelId;
    this.#intro = intro;
    this.element.replaceChildren();
    this.#fill();
    this.#toEnd();
  }

  #changed(message) {
    if (message.channel_id !== this.#channelId) return this.#refreshStarter(message);
    const old = this.#find(message.id);
    if (old) this.#replace(old, message);
    else this.#fill();
    if (this.#atEnd || (!old && this.#isMine(message))) this.#toEnd();
    return undefined;
  }

  /** Draw a message anew where it stands, and leave the focus where it was. */
  #replace(old, message) {
    const held = old.contains(document.activeElement) ? document.activeElement : null;
    const fresh = messageElement(message, this.#store, this.#doing);
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
    const messages = this.#store.timeline(this.#channelId);
    const drawn = messages.map((message) => this.#find(message.id) ?? messageElement(message, this.#store, this.#doing));
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
      shown.classList.toggle("grouped", !shown.querySelector(".context") && goesOn(message, before));
      before = message;
    }
  }

  #refreshStarter(message) {
    const starter = this.element.querySelector(`.starter[data-id="${message.id}"]`);
    if (starter) this.show(this.#channelId, this.#intro);
  }

  #refreshThreadLinks() {
    for (const link of this.element.querySelectorAll("[data-thread]")) {
      const thread = this.#store.channels.get(link.dataset.thread);
      if (thread) link.firstChild.textContent = thread.name;
    }
  }

  #find(id) {
    return this.element.querySelector(`:scope > [data-id="${id}"]:not(.starter)`);
  }

  /** Tell whether I wrote a message, or asked for it. */
  #isMine(message) {
    const asker = message.interaction_metadata?.user ?? message.author;
    return asker.id === this.#store.me;
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
