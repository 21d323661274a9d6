// Where messages are written: with edits, mentions and commands.

import { act } from "../api.js";
import { Attachments, encoded } from "../attachments.js";
import { el, freshId, say, STILL_READING } from "../dom.js";
import { escaped, unescaped } from "../markdown/slack.js";
import { Suggestions } from "../suggestions.js";
import { textOf } from "./texts.js";

const LONGEST = 4000;
const MOST_ROWS = 10;

/** The form below a place. */
export class Composer {
  #store;
  #channel = null;
  #thread = null;
  #editing = null;
  #text;
  #label = el("span", { class: "hidden" });
  #above = el("div", { class: "above", hidden: true });
  #suggestions;
  #attachments;

  constructor(store, id) {
    this.#store = store;
    this.#text = el("textarea", { id, rows: "1", maxlength: LONGEST });
    this.#attachments = new Attachments(this.#text);
    this.#suggestions = new Suggestions(this.#text, "Commands and people", () => this.#find(), (chosen) => chosen.take());
    this.#text.addEventListener("input", () => this.#fit());
    const hint = freshId("hint");
    this.#text.setAttribute("aria-describedby", hint);
    const place = el("div", { class: "place" }, el("label", {}, this.#label, this.#text));
    const send = el("button", { class: "send", "aria-label": "Send", title: "Send (Enter)" }, "➤");
    this.element = el(
      "form",
      { class: "composer" },
      this.#suggestions.element,
      this.#attachments.element,
      this.#above,
      el("div", { class: "row" }, this.#attachments.button, place, send),
      el("p", { class: "hint", id: hint }, el("kbd", {}, "/"), " for commands, ", el("kbd", {}, "@"), " to mention, ", el("kbd", {}, ">"), " to quote"),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** Write into a channel, or into a thread of it, from now on. */
  show(channel, thread = null) {
    this.#channel = channel;
    this.#thread = thread;
    const name = thread ? "Reply in the thread" : `Message to ${this.#store.title(channel)}`;
    this.#label.textContent = name;
    this.#text.placeholder = name;
    this.#attachments.put([]);
    this.#reset();
  }

  edit(message) {
    this.#reset();
    this.#editing = message;
    const cancel = el("button", { type: "button", class: "plain", "aria-label": "Cancel", onclick: () => this.#reset() }, "✕");
    this.#above.replaceChildren(el("span", {}, "Editing your message"), cancel);
    this.#above.hidden = false;
    this.write(readable(message.text, this.#store));
  }

  quote(message) {
    const lines = readable(textOf(message), this.#store).split("\n");
    this.#reset();
    this.write(`${lines.map((line) => `> ${line}`).join("\n")}\n`);
  }

  /** Put a text into the field, for the person to send. */
  write(text) {
    this.#text.value = text;
    this.#fit();
    this.#text.focus();
    this.#text.setSelectionRange(text.length, text.length);
  }

  async #send() {
    const text = this.#text.value.trim();
    const command = /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(text);
    if (command && this.#thread) {
      say("Slack knows no commands inside threads: mention the bot there, or just ask on.");
      return;
    }
    const [before, editing] = [this.#text.value, this.#editing];
    const files = editing || command ? [] : this.#attachments.take();
    if (!text && !files.length) return;
    this.#reset();
    if (await this.#act(text, command, editing, files)) {
      if (this.#store.bot.state === "starting") say(STILL_READING);
      return;
    }
    this.write(before);
    if (files.length) this.#attachments.put(files);
  }

  async #act(text, command, editing, files) {
    const { me } = this.#store;
    const channel = this.#channel.id;
    if (editing) return act("edit", { user: me, message: editing.id, text: this.#written(text) });
    if (command) return act("command", { user: me, channel, command: command[1], text: command[2] ?? "" });
    return act("say", { user: me, channel, text: this.#written(text), thread: this.#thread, files: await encoded(files) });
  }

  #pressed(event) {
    if (event.key === "Escape" && this.#editing) this.#reset();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target !== this.#text) return;
    event.preventDefault();
    this.#send();
  }

  #fit() {
    this.#text.rows = Math.min(MOST_ROWS, this.#text.value.split("\n").length);
  }

  #reset() {
    this.#editing = null;
    this.#above.hidden = true;
    this.#text.value = "";
    this.#fit();
    this.#suggestions.hide();
  }

  /** Suggest commands after a slash at the beginning, and people after an @. */
  #find() {
    const before = this.#text.value.slice(0, this.#text.selectionStart);
    const command = /^\/([\w-]*)$/.exec(before);
    if (command && !this.#thread) {
      const fits = ({ command: name }) => name.startsWith(command[0]);
      return this.#store.commands.filter(fits).map((each) => ({
        label: [each.command, each.usage_hint].filter(Boolean).join(" "),
        hint: each.description,
        take: () => this.write(`${each.command} `),
      }));
    }
    const name = /(^|\s)@(\w*)$/.exec(before);
    return name ? this.#people(name[2], before.length) : [];
  }

  #people(typed, end) {
    const fits = (person) => person.id !== this.#store.me && person.name.toLowerCase().startsWith(typed.toLowerCase());
    return [...this.#store.people.values()].filter(fits).map((person) => ({
      label: `@${person.name}`,
      hint: person.id === this.#store.botId ? "the bot" : person.role,
      take: () => this.#text.setRangeText(`@${person.name} `, end - typed.length - 1, end, "end"),
    }));
  }

  /** Return a text as it goes over the wire, the names after an @ as mentions. */
  #written(text) {
    return [...this.#store.people.values()].reduce(
      (all, person) => all.replaceAll(new RegExp(`(?<![\\w@])@${person.name}\\b`, "gi"), `<@${person.id}>`),
      escaped(text),
    );
  }
}

/** Return a text with its mentions as names. */
function readable(text, store) {
  return unescaped(text.replaceAll(/<@(\w+)(?:\|[^>]*)?>/g, (_, id) => `@${store.person(id).name}`));
}
