// Slash commands: which there are, and the form for one's options.

import { act } from "../api.js";
import { el } from "../dom.js";
import { Suggestions } from "../suggestions.js";

const GROUPS = [1, 2];
const NUMBERS = [4, 10];
const BOOLEAN = 5;
const CHANNEL = 7;

/** Return the commands of a channel; subcommands are commands of their own: "course bind". */
export async function slashCommands(me, channel) {
  const answer = await act("commands", { user: me, channel });
  return (answer?.slash ?? []).flatMap((command) => flat(command, command.name));
}

/** Return the names of the entries that bots add to the menu of a message. */
export async function menuCommands(me, channel) {
  const answer = await act("commands", { user: me, channel });
  return (answer?.menu ?? []).map((command) => command.name);
}

function flat(command, path) {
  const options = command.options ?? [];
  const groups = options.filter((option) => GROUPS.includes(option.type));
  if (!groups.length) return [{ path, description: command.description, options }];
  return groups.flatMap((group) => flat(group, `${path} ${group.name}`));
}

/** The form for a command's options. */
export class CommandForm {
  #command;
  #inputs = new Map();

  /** `where` has `me` and `channel`; `values` are filled in already. */
  constructor(command, where, store, values = {}) {
    this.#command = command;
    const fields = command.options.map((option) => this.#field(option, where, store, values[option.name] ?? ""));
    this.element = el("div", { class: "command", role: "group", "aria-label": `Options of /${command.path}` }, ...fields);
  }

  get path() {
    return this.#command.path;
  }

  /** What is filled in, by name; what is empty is left out. */
  get options() {
    const filled = [...this.#inputs].filter(([, { input }]) => input.value !== "");
    return Object.fromEntries(filled.map(([name, { option, input }]) => [name, valueOf(option, input.value)]));
  }

  focus() {
    this.#inputs.values().next().value?.input.focus();
  }

  /** Tell whether all is filled in as it must be; the browser says what is not. */
  check() {
    return [...this.#inputs.values()].every(({ input }) => input.reportValidity());
  }

  #field(option, where, store, value) {
    const input = inputFor(option, store);
    input.value = value;
    this.#inputs.set(option.name, { option, input });
    const label = el("label", {}, el("span", {}, option.name, option.required ? "" : el("i", {}, " optional")), input);
    if (!option.autocomplete) return el("div", { class: "field" }, label, el("small", {}, option.description));
    const suggestions = new Suggestions(input, option.description, () => this.#complete(option.name, where), (chosen) => {
      input.value = chosen.value;
    });
    input.addEventListener("focus", () => suggestions.refresh());
    return el("div", { class: "field" }, label, suggestions.element, el("small", {}, option.description));
  }

  async #complete(focused, { me, channel }) {
    const options = { ...this.options, [focused]: this.#inputs.get(focused).input.value };
    const answer = await act("complete", { user: me, channel, command: this.path, focused, options });
    return (answer?.choices ?? []).map((choice) => ({ label: choice.name, value: choice.value }));
  }
}

function valueOf(option, text) {
  if (option.type === BOOLEAN) return text === "true";
  return NUMBERS.includes(option.type) ? Number(text) : text;
}

function inputFor(option, store) {
  const required = option.required ?? false;
  if (option.type === BOOLEAN) return choice([["Yes", "true"], ["No", "false"]], required);
  if (option.type === CHANNEL) {
    const channels = [...store.channels.values()].filter((channel) => channel.type === 0);
    return choice(channels.map((channel) => [`#${channel.name}`, channel.id]), required);
  }
  if (option.choices?.length) return choice(option.choices.map(({ name, value }) => [name, value]), required);
  const number = NUMBERS.includes(option.type) ? { type: "number", min: option.min_value, max: option.max_value } : {};
  return el("input", { required, minlength: option.min_length, maxlength: option.max_length, ...number });
}

function choice(pairs, required) {
  const options = pairs.map(([label, value]) => el("option", { value }, label));
  return el("select", { required }, el("option", { value: "" }, "not set"), ...options);
}
