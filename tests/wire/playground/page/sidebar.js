// The list of channels, the people one can be, and how the bot is.

import { act } from "./api.js";
import { byId, el } from "./dom.js";
import { avatar } from "./message.js";
import { isThread } from "./store.js";

const STATES = { starting: "Starting", ready: "Ready", stopping: "Stopping", stopped: "Stopped", lost: "Not reachable" };

/** Draw the channels; the open one is marked. */
export function drawChannels(store, openId, threadId, open) {
  const all = [...store.channels.values()];
  const text = all.filter((channel) => channel.type === 0);
  const direct = all.filter((channel) => channel.type === 1);
  const button = (channel, name, current, kind) =>
    el("button", { type: "button", class: `place-link ${kind}`, "aria-current": current ? "page" : null, onclick: () => open(channel) }, name);
  const threads = (parent) =>
    all
      .filter((channel) => isThread(channel) && channel.parent_id === parent.id)
      .map((thread) => el("li", {}, button(thread, thread.name, thread.id === threadId, "thread")));
  const channels = text.map((channel) =>
    el("li", {}, button(channel, `# ${channel.name}`, channel.id === openId, "text"), el("ul", {}, ...threads(channel))),
  );
  const conversations = direct.map((channel) => el("li", {}, button(channel, store.title(channel), channel.id === openId, "direct")));
  byId("channels").replaceChildren(
    el("h3", {}, "Channels"),
    el("ul", {}, ...channels),
    el("h3", {}, "Direct messages"),
    el("ul", {}, ...conversations),
  );
}

/** Draw whom one can be. */
export function drawPeople(store, become) {
  const people = [...store.people.values()].filter((person) => person.role !== "app");
  const choice = (person) =>
    el(
      "label",
      { class: "person" },
      el("input", { type: "radio", name: "me", value: person.id, checked: person.id === store.me, onchange: () => become(person.id) }),
      avatar(person),
      el("span", {}, el("b", {}, person.name), el("small", {}, person.role)),
    );
  byId("people").replaceChildren(el("legend", {}, "You are"), ...people.map(choice));
}

/** Draw how the bot is, with a way to stop it and to start it again. */
export function drawBot(store) {
  const { state, detail } = store.bot;
  const name = STATES[state];
  const running = state === "ready" || state === "starting";
  const stoppable = running || state === "stopped";
  const order = () => act("bot", { user: store.me, do: running ? "stop" : "start" });
  byId("bot").replaceChildren(
    el("span", { class: `light ${state}`, "aria-hidden": "true" }),
    el("div", { role: "status" }, el("b", {}, `Bot: ${name}`), el("small", {}, detail)),
    stoppable ? el("button", { type: "button", class: "button small", onclick: order }, running ? "Stop" : "Start") : "",
  );
  byId("bot-badge").replaceChildren(el("span", { class: `light ${state}`, "aria-hidden": "true" }), name);
}
