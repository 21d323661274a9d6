// A place to read and write in: the channel in the middle, or the thread beside it.

import { act } from "../api.js";
import { el } from "../dom.js";
import { openForward } from "../forward.js";
import { openMenu } from "../menu.js";
import { escaped } from "../markdown/slack.js";
import { Timeline } from "../timeline.js";
import { Composer } from "./composer.js";
import { messageElement } from "./message.js";
import { sessionLine } from "./session.js";
import { threadPlace } from "./store.js";

/** A timeline with what the bot is doing, and with a composer below it. */
export class Room {
  #store;
  #openThread;
  #place = null;
  #status = el("div", { role: "status" });

  /** `openThread` opens the thread of a message beside; a thread itself has none. */
  constructor(store, root, { label, composerId, openThread = null }) {
    this.#store = store;
    this.#openThread = openThread;
    this.composer = new Composer(store, composerId);
    const doing = {
      press: (...pressed) => this.#press(...pressed),
      entries: (message) => this.#entries(message),
      react: (message, emoji) => act("react", { user: store.me, message: message.id, emoji }),
      openThread,
    };
    this.timeline = new Timeline(store, label, (message) => messageElement(message, store, doing));
    root.append(this.timeline.element, this.#status, this.composer.element);
    store.on("session", ({ thread }) => {
      this.#drawStatus();
      this.timeline.redraw(thread);
    });
    store.on("message", (message) => message.is_reply && this.timeline.redraw(message.thread));
    store.on("gone", ({ root: thread }) => thread && this.timeline.redraw(thread));
  }

  /** Show a channel, or a thread of it by its first message's timestamp. */
  show(channel, thread = null, intro = null) {
    this.#place = thread ? threadPlace(channel.id, thread) : channel.id;
    this.timeline.show(this.#place, intro);
    this.composer.show(channel, thread);
    this.#drawStatus();
  }

  /** Put something above the messages, in place of what is there. */
  introduce(intro) {
    this.timeline.show(this.#place, intro);
  }

  /** Open the menu of a message that is shown here. */
  openMenu(id) {
    const shown = this.timeline.element.querySelector(`[data-id="${id}"]`);
    shown?.scrollIntoView({ block: "nearest" });
    if (shown) openMenu(this.#entries(this.#store.messages.get(id)), shown);
  }

  #drawStatus() {
    const line = sessionLine(this.#store.sessions.get(this.#place), this.#store);
    this.#status.replaceChildren(...[line].filter(Boolean));
  }

  #press(message, action, choice) {
    return act("click", { user: this.#store.me, message: message.id, action, choice });
  }

  #forward(message) {
    const store = this.#store;
    const places = [...store.channels.values()].map((each) => ({ id: each.id, title: store.title(each) }));
    openForward(places, (channel, text) => act("forward", { user: store.me, message: message.id, channel, text: escaped(text) }));
  }

  #entries(message) {
    const { me, shortcuts } = this.#store;
    const entries = [["Quote", () => this.composer.quote(message)]];
    if (message.ephemeral) return entries;
    if (this.#openThread && !message.is_reply) entries.unshift(["Reply in thread", () => this.#openThread(message)]);
    const explain = ({ name, callback_id: callback }) => [name, () => act("shortcut", { user: me, message: message.id, callback })];
    entries.push(["Forward", () => this.#forward(message)]);
    entries.push(null, ...shortcuts.map(explain));
    const changing = [];
    if (this.#store.isMine(message)) changing.push(["Edit message", () => this.composer.edit(message)]);
    if (this.#store.mayDelete(message)) changing.push(["Delete message", () => act("delete", { user: me, message: message.id }), true]);
    return changing.length ? [...entries, null, ...changing] : entries;
  }
}
