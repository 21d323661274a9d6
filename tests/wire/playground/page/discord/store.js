// What the page knows; everything that shows something listens to it.

const EPHEMERAL = 64;
const LOADING = 128;
const LAYOUT = 1 << 15;
const SOON = 5 * 60 * 1000;

/** All that one person sees. Events: `all`, `message`, `gone`, `channel`, `bot`. */
export class Store extends EventTarget {
  constructor() {
    super();
    this.bot = { state: "starting", detail: "" };
    this.dismissed = new Set();
    this.#forget();
  }

  apply(name, data) {
    if (name === "all") this.#replace(data);
    if (name === "message") this.messages.set(data.id, data);
    if (name === "gone") this.messages.delete(data.id);
    if (name === "channel") this.channels.set(data.id, data);
    if (name === "bot") this.bot = data;
    this.dispatchEvent(new CustomEvent(name, { detail: data }));
  }

  on(name, listener) {
    this.addEventListener(name, (event) => listener(event.detail));
  }

  /** The messages of a channel, the oldest first. */
  timeline(channelId) {
    return [...this.messages.values()]
      .filter((message) => message.channel_id === channelId && !this.dismissed.has(message.id))
      .sort((one, other) => Number(BigInt(one.id) - BigInt(other.id)));
  }

  isIn(message, channelId) {
    return message.channel_id === channelId;
  }

  /** Tell whether a message goes on where the same person's last one ended. */
  goesOn(message, before) {
    if (isEphemeral(message) || isEphemeral(before)) return false;
    const same = message.author.id === before.author.id && message.channel_id === before.channel_id;
    return same && new Date(message.timestamp) - new Date(before.timestamp) < SOON;
  }

  /** Tell whether I wrote a message, or asked for it. */
  isMine(message) {
    const asker = message.interaction_metadata?.user ?? message.author;
    return asker.id === this.me;
  }

  person(id) {
    return this.people.get(id) ?? { id, name: "Somebody", role: "student" };
  }

  mayDelete(message) {
    return message.author.id === this.me || this.person(this.me).role === "staff";
  }

  title(channel) {
    if (channel.type === 1) return this.person(this.botId).name;
    return channel.name;
  }

  dismiss(message) {
    this.dismissed.add(message.id);
    this.apply("gone", { id: message.id });
  }

  #forget() {
    this.me = null;
    this.people = new Map();
    this.channels = new Map();
    this.messages = new Map();
    this.examples = {};
  }

  #replace(all) {
    const byId = (records) => new Map(records.map((record) => [record.id, record]));
    this.me = all.me;
    this.botId = all.bot_id;
    this.server = all.server;
    this.people = byId(all.people);
    this.channels = byId(all.channels);
    this.messages = byId(all.messages);
    this.examples = all.examples;
    this.bot = all.bot;
  }
}

export const isEphemeral = (message) => Boolean(message.flags & EPHEMERAL);
export const isLayout = (message) => Boolean(message.flags & LAYOUT);
export const isLoading = (message) => Boolean(message.flags & LOADING);
export const isThread = (channel) => channel.type >= 10 && channel.type <= 12;
