// A place to read and write in: the channel in the middle, or the thread beside it.

import { act } from "../api.js";
import { menuCommands } from "./commands.js";
import { Composer } from "./composer.js";
import { say } from "../dom.js";
import { openForward } from "../forward.js";
import { introduction } from "./intro.js";
import { messageElement, namesOf } from "./message.js";
import { openMenu } from "../menu.js";
import { Timeline } from "../timeline.js";
import { openModal } from "./modal.js";
import { isEphemeral, isThread } from "./store.js";

/** A timeline with a composer below it. */
export class Room {
  #store;
  #openThread;
  #menus = [];

  constructor(store, root, { label, composerId, openThread }) {
    this.#store = store;
    this.#openThread = openThread;
    this.composer = new Composer(store, composerId);
    const doing = this.#doing();
    this.timeline = new Timeline(store, label, (message) => messageElement(message, store, doing));
    root.append(this.timeline.element, this.composer.element);
    store.on("message", (message) => this.#refreshStarter(message));
    store.on("channel", () => this.#renameThreads());
  }

  /** Show a channel; a thread has no introduction. */
  async show(channel) {
    this.timeline.show(channel.id, isThread(channel) ? null : introduction(channel, this.#store, this.#trying()));
    this.composer.show(channel);
    this.#menus = await menuCommands(this.#store.me, channel.id);
  }

  /** Keep the beginning of a thread up to date: it stands in another channel. */
  #refreshStarter(message) {
    if (this.timeline.element.querySelector(`.starter[data-id="${message.id}"]`)) this.timeline.refresh();
  }

  #renameThreads() {
    for (const link of this.timeline.element.querySelectorAll("[data-thread]")) {
      const thread = this.#store.channels.get(link.dataset.thread);
      if (thread) link.firstChild.textContent = thread.name;
    }
  }

  /** What the buttons and the menu of a message do. */
  #doing() {
    return {
      click: (message, customId, values = null) => this.#use("click", message, { custom_id: customId, values }),
      entries: (message) => this.#entries(message),
      openThread: (id) => this.#openThread(id),
      reply: (message) => this.composer.reply(message),
      react: (message, emoji) => act("react", { user: this.#store.me, message: message.id, emoji }),
    };
  }

  #trying() {
    return {
      write: (text) => this.composer.write(text),
      command: (path, values) => this.#tryCommand(path, values),
      menu: (id) => {
        const shown = this.timeline.element.querySelector(`[data-id="${id}"]`);
        shown?.scrollIntoView({ block: "nearest" });
        if (shown) openMenu(this.#entries(this.#store.messages.get(id)), shown);
      },
    };
  }

  async #tryCommand(path, values) {
    if (this.#store.bot.state !== "ready") return say("One moment: commands are there when the bot is ready.");
    return this.composer.command(path, values);
  }

  /** Use something of the bot's on a message; it may answer with a form. */
  async #use(action, message, what) {
    const { me } = this.#store;
    const answer = await act(action, { user: me, message: message.id, ...what });
    if (answer?.modal) openModal(me, namesOf(this.#store), answer.interaction, answer.modal);
  }

  /** The entries of a message's menu. */
  #entries(message) {
    const { me } = this.#store;
    const bots = this.#menus.map((name) => [name, () => this.#use("menu", message, { command: name })]);
    const entries = isEphemeral(message) ? [] : [["Reply", () => this.composer.reply(message)]];
    entries.push(["Quote", () => this.composer.quote(message)]);
    if (!isEphemeral(message)) entries.push(["Forward", () => this.#forward(message)]);
    if (bots.length && !isEphemeral(message)) entries.push(null, ...bots);
    const changing = [];
    if (message.author.id === me) changing.push(["Edit message", () => this.composer.edit(message)]);
    if (this.#store.mayDelete(message) && !isEphemeral(message)) {
      changing.push(["Delete message", () => act("delete", { user: me, message: message.id }), true]);
    }
    return changing.length ? [...entries, null, ...changing] : entries;
  }

  #forward(message) {
    const store = this.#store;
    const places = [...store.channels.values()].map((each) => ({ id: each.id, title: each.type === 0 ? `# ${each.name}` : store.title(each) }));
    openForward(places, (channel, content) => act("forward", { user: store.me, message: message.id, channel, content }));
  }

  /** Look up the commands again: a bot that has just started registers them. */
  async refreshCommands(channelId) {
    this.#menus = await menuCommands(this.#store.me, channelId);
  }
}
