// Below the list of places: the people one can be, and how the bot is.

import { act } from "./api.js";
import { byId, el } from "./dom.js";

const STATES = { starting: "Starting", ready: "Ready", stopping: "Stopping", stopped: "Stopped", lost: "Not reachable" };

/** Return a person's round picture: their initials. */
export function avatar(person) {
  const initials = person.name.split(/\s+/, 2).map((word) => word[0]).join("").toUpperCase();
  return el("span", { class: `avatar ${person.role}`, "aria-hidden": "true" }, initials);
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
  const order = () => act("bot", { do: running ? "stop" : "start" });
  byId("bot").replaceChildren(
    el("span", { class: `light ${state}`, "aria-hidden": "true" }),
    el("div", { role: "status" }, el("b", {}, `Bot: ${name}`), el("small", {}, detail)),
    stoppable ? el("button", { type: "button", class: "button small", onclick: order }, running ? "Stop" : "Start") : "",
  );
  byId("bot-badge").replaceChildren(el("span", { class: `light ${state}`, "aria-hidden": "true" }), name);
}
