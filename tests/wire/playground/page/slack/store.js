// What the page knows of the workspace; everything that shows something listens to it.

const SOON = 5 * 60 * 1000;

/** Return the place of a thread; the place of a channel is its id. */
export const threadPlace = (channel, ts) => `${channel}:${ts}`;

/**
 * All that one person sees. A message has `id`, its timestamp in Slack, and `blocks`.
 * Events: `all`, `message`, `gone`, `modal`, `home`, `session`, `prompts`, `bot`.
 */
export class Store extends EventTarget {
  constructor() {
    super();
    this.bot = { state: "starting", detail: "" };
    this.dismissed = new Set();
    this.messages = new Map();
    this.channels = new Map();
    this.people = new Map();
    this.sessions = new Map();
    this.prompts = null;
  }

  apply(name, data) {
    if (name === "all") this.#replace(data);
    if (name === "message") this.messages.set(data.id, data);
    if (name === "gone") this.messages.delete(data.id);
    if (name === "session") this.sessions.set(threadPlace(data.channel, data.thread), data);
    if (["bot", "home", "modal", "prompts"].includes(name)) this[name] = data;
    this.dispatchEvent(new CustomEvent(name, { detail: data }));
  }

  on(name, listener) {
    this.addEventListener(name, (event) => listener(event.detail));
  }

  /** The messages of a place, the oldest first. */
  timeline(place) {
    return [...this.messages.values()].filter((message) => this.isIn(message, place)).sort((one, other) => one.id.localeCompare(other.id));
  }

  /** Tell whether a message is shown in a place: replies in their thread, all others in the channel. */
  isIn(message, place) {
    if (this.dismissed.has(message.id)) return false;
    if (place === message.channel_id) return !message.is_reply || message.broadcast;
    return place === threadPlace(message.channel_id, message.thread ?? message.id);
  }

  /** Tell whether a message goes on where the same person's last one ended. */
  goesOn(message, before) {
    if (message.ephemeral || before.ephemeral || this.replies(before).length) return false;
    const same = message.author.id === before.author.id;
    return same && new Date(message.timestamp) - new Date(before.timestamp) < SOON;
  }

  isMine(message) {
    return message.author.id === this.me;
  }

  /** The replies to a message, the oldest first. */
  replies(message) {
    const place = threadPlace(message.channel_id, message.id);
    return this.timeline(place).filter((each) => each.is_reply);
  }

  person(id) {
    return this.people.get(id) ?? { id, name: "Somebody", role: "student" };
  }

  mayDelete(message) {
    return this.isMine(message) || this.person(this.me).role === "staff";
  }

  title(channel) {
    return channel.direct ? this.person(this.botId).name : `# ${channel.name}`;
  }

  dismiss(message) {
    this.dismissed.add(message.id);
    this.apply("gone", { id: message.id });
  }

  #replace(all) {
    const byId = (records) => new Map(records.map((record) => [record.id, record]));
    this.me = all.me;
    this.botId = all.bot_id;
    this.server = all.server;
    this.people = byId(all.people);
    this.channels = byId(all.channels);
    this.messages = byId(all.messages);
    this.sessions = new Map(all.sessions.map((record) => [threadPlace(record.channel, record.thread), record]));
    this.prompts = all.prompts;
    this.home = all.home;
    this.modal = all.modal;
    this.examples = all.examples;
    this.commands = all.commands;
    this.shortcuts = all.shortcuts;
    this.bot = all.bot;
  }
}
