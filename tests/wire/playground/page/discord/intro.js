// What stands at the top of a channel: where one is, and what there is to try.

import { el } from "../dom.js";

/** Return the introduction of a channel; `trying` does what a card suggests. */
export function introduction(channel, store, trying) {
  if (channel.type === 1) return direct(store, trying);
  return el(
    "section",
    { class: "intro", "aria-label": "What to try" },
    el("h3", {}, `Welcome to #${channel.name}`),
    el("p", {}, `${store.examples.about} Try:`),
    el("div", { class: "cards" }, ...cards(store, trying)),
  );
}

function cards(store, trying) {
  const { mention, ask, private: alone, passage } = store.examples;
  const all = [
    card("Mention the bot", `@Glossator ${mention}`, () => trying.write(`@Glossator ${mention}`)),
    card("Ask with a command", `/ask ${ask}`, () => trying.command("ask", { question: ask })),
    card("Ask in private", `/ask ${alone}`, () => trying.command("ask", { question: alone, private: "true" })),
  ];
  if (store.messages.has(passage)) {
    all.push(card("Explain a passage", "In a message's ⋯ menu, or right-click it", () => trying.menu(passage)));
  }
  return all;
}

function card(title, text, chosen) {
  return el("button", { type: "button", class: "card", onclick: chosen }, el("b", {}, title), el("span", {}, text));
}

function direct(store, trying) {
  const { mention } = store.examples;
  return el(
    "section",
    { class: "intro", "aria-label": "What to try" },
    el("h3", {}, "A direct message to Glossator"),
    el("p", {}, "Here every message is a question; no mention is needed."),
    el("div", { class: "cards" }, card("Ask", mention, () => trying.write(mention))),
  );
}
