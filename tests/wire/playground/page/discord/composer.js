// Where messages are written: with replies, edits, mentions and commands.

import { act } from "../api.js";
import { Attachments, encoded } from "../attachments.js";
import { CommandForm, slashCommands } from "./commands.js";
import { el, freshId, say, STILL_READING } from "../dom.js";
import { namesOf, written as textOf } from "./message.js";
import { openModal } from "./modal.js";
import { isThread } from "./store.js";
import { Suggestions } from "../suggestions.js";

const LONGEST = 2000;
const MOST_ROWS = 10;

/** The form below a channel. */
export class Composer {
  #store;
  #channel = null;
  #reply = null;
  #editing = null;
  #command = null;
  #text;
  #label = el("span", { class: "hidden" });
  #above = el("div", { class: "above", hidden: true });
  #place = el("div", { class: "place" });
  #suggestions;
  #attachments;

  constructor(store, id) {
    this.#store = store;
    this.#text = el("textarea", { id, rows: "1", maxlength: LONGEST });
    this.#attachments = new Attachments(this.#text, LONGEST);
    this.#suggestions = new Suggestions(this.#text, "Commands and people", () => this.#find(), (chosen) => chosen.take());
    this.#text.addEventListener("input", () => this.#fit());
    const send = el("button", { class: "send", "aria-label": "Send", title: "Send (Enter)" }, "➤");
    const hint = freshId("hint");
    this.#text.setAttribute("aria-describedby", hint);
    this.element = el(
      "form",
      { class: "composer" },
      this.#suggestions.element,
      this.#attachments.element,
      this.#above,
      el("div", { class: "row" }, this.#attachments.button, this.#place, send),
      el("p", { class: "hint", id: hint }, el("kbd", {}, "/"), " for commands, ", el("kbd", {}, "@"), " to mention, ", el("kbd", {}, ">"), " to quote"),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
    this.#reset();
  }

  /** Write into this channel from now on. */
  show(channel) {
    this.#channel = channel;
    const title = this.#store.title(channel);
    const name = isThread(channel) ? "the thread" : channel.type === 0 ? `#${title}` : title;
    this.#label.textContent = `Message to ${name}`;
    this.#text.placeholder = `Message to ${name}`;
    this.#attachments.put([]);
    this.#reset();
  }

  reply(message) {
    const begun = this.#editing ? "" : this.#text.value;
    this.#reset();
    this.#reply = message;
    this.#tell("Replying to ", el("b", {}, this.#store.person(message.author.id).name));
    this.write(begun);
  }

  edit(message) {
    this.#reset();
    this.#editing = message;
    this.#tell("Editing your message");
    this.write(readable(message.content, this.#store));
  }

  quote(message) {
    const quoted = textOf(message).split("\n").map((line) => `> ${line}`).join("\n");
    this.#reset();
    this.write(`${quoted}\n`);
  }

  /** Put a text into the field, for the person to send. */
  write(text) {
    this.#text.value = text;
    this.#fit();
    this.#text.focus();
    this.#text.setSelectionRange(text.length, text.length);
  }

  /** Open the form of a command, with some options filled in. */
  async command(path, values = {}) {
    const known = await slashCommands(this.#store.me, this.#channel.id);
    const command = known.find((each) => each.path === path);
    if (command) this.#begin(command, values);
  }

  #begin(command, values = {}) {
    this.#reset();
    const where = { me: this.#store.me, channel: this.#channel.id };
    this.#command = new CommandForm(command, where, this.#store, values);
    this.#place.replaceChildren(this.#command.element);
    this.#tell(el("b", { class: "mention" }, `/${command.path}`), ` ${command.description}`);
    if (!command.options.length) this.element.querySelector(".send").focus();
    this.#command.focus();
  }

  async #send() {
    if (this.#command) return this.#sendCommand();
    const content = written(this.#text.value.trim(), this.#store);
    const files = this.#editing ? [] : this.#attachments.take();
    if (!content && !files.length) return undefined;
    const { me } = this.#store;
    const [editing, reply] = [this.#editing, this.#reply];
    const before = this.#text.value;
    this.#reset();
    const answer = editing
      ? await act("edit", { user: me, message: editing.id, content })
      : await act("say", { user: me, channel: this.#channel.id, content, reply_to: reply?.id ?? null, files: await encoded(files) });
    if (!answer) {
      this.write(before);
      this.#attachments.put(files);
    } else if (this.#store.bot.state === "starting") {
      say(STILL_READING);
    }
    return undefined;
  }

  async #sendCommand() {
    const command = this.#command;
    if (!command.check()) return;
    const { me } = this.#store;
    this.#reset();
    this.#text.focus();
    const answer = await act("command", { user: me, channel: this.#channel.id, command: command.path, options: command.options });
    if (answer?.modal) openModal(me, namesOf(this.#store), answer.interaction, answer.modal);
  }

  #pressed(event) {
    if (event.key === "Escape" && !this.#above.hidden) this.#reset(true);
    if (event.key === "ArrowUp" && event.target === this.#text && !this.#text.value) this.#editLast(event);
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    if (event.target === this.#text || event.target.matches("input")) {
      event.preventDefault();
      this.#send();
    }
  }

  #editLast(event) {
    const own = this.#store.timeline(this.#channel.id).filter((message) => message.author.id === this.#store.me);
    const last = own[own.length - 1];
    if (!last) return;
    event.preventDefault();
    this.edit(last);
  }

  #tell(...content) {
    const cancel = el("button", { type: "button", class: "plain", "aria-label": "Cancel", onclick: () => this.#reset(true) }, "✕");
    this.#above.replaceChildren(el("span", {}, ...content), cancel);
    this.#above.hidden = false;
  }

  /** Make the field as high as its text, for browsers that do not do so by themselves. */
  #fit() {
    this.#text.rows = Math.min(MOST_ROWS, this.#text.value.split("\n").length);
  }

  #reset(focus = false) {
    this.#reply = null;
    this.#editing = null;
    this.#command = null;
    this.#above.hidden = true;
    this.#text.value = "";
    this.#fit();
    this.#place.replaceChildren(el("label", {}, this.#label, this.#text));
    this.#suggestions.hide();
    if (focus) this.#text.focus();
  }

  /** Suggest commands after a slash at the beginning, and people after an @. */
  async #find() {
    const before = this.#text.value.slice(0, this.#text.selectionStart);
    const command = /^\/([\w -]*)$/.exec(before);
    if (command) {
      const known = await slashCommands(this.#store.me, this.#channel.id);
      return known
        .filter((each) => each.path.startsWith(command[1]))
        .map((each) => ({ label: `/${each.path}`, hint: each.description, take: () => this.#begin(each) }));
    }
    const name = /(^|\s)@(\w*)$/.exec(before);
    return name ? this.#people(name[2], before.length) : [];
  }

  #people(typed, end) {
    const fits = (person) => person.id !== this.#store.me && person.name.toLowerCase().startsWith(typed.toLowerCase());
    return [...this.#store.people.values()].filter(fits).map((person) => ({
      label: `@${person.name}`,
      hint: person.id === this.#store.botId ? "the bot" : person.role,
      take: () => {
        const { value } = this.#text;
        this.#text.setRangeText(`@${person.name} `, end - typed.length - 1, end, "end");
        if (value !== this.#text.value) this.#text.focus();
      },
    }));
  }
}

/** Return a text with the names after an @ as mentions. */
function written(text, store) {
  return [...store.people.values()].reduce(
    (all, person) => all.replaceAll(new RegExp(`(?<![\\w@])@${person.name}\\b`, "gi"), `<@${person.id}>`),
    text,
  );
}

/** Return a text with its mentions as names. */
function readable(text, store) {
  return text.replaceAll(/<@!?(\d+)>/g, (_, id) => `@${store.person(id).name}`);
}
