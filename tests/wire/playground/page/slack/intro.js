// What stands at the top of a place: where one is, and what there is to try.

import { el } from "../dom.js";

/** Return the introduction of a channel; `trying` does what a card suggests. */
export function introduction(channel, store, trying) {
  const { mention, ask, private: alone, passage, about } = store.examples;
  if (channel.direct) {
    return messagesTab(store, trying);
  }
  const cards = [
    card("Mention the bot", `@Glossator ${mention}`, () => trying.write(`@Glossator ${mention}`)),
    card("Ask with a command", `/ask ${ask}`, () => trying.write(`/ask ${ask}`)),
    card("Ask in private", `/ask private ${alone}`, () => trying.write(`/ask private ${alone}`)),
  ];
  if (store.messages.has(passage)) cards.push(card("Explain a passage", "In a message's ⋯ menu, or right-click it", () => trying.menu(passage)));
  return section(`Welcome to #${channel.name}`, `${about} Try:`, cards);
}

/** Return the top of the app's Messages tab: what the app suggests to ask, sent as it is chosen. */
function messagesTab(store, { say }) {
  const { prompts } = store;
  const { name } = store.person(store.botId);
  const text = `Every message to ${name} is a question; it is answered in a thread below it.`;
  const cards = (prompts?.prompts ?? []).map(({ title, message }) => card(title, message, () => say(message)));
  return section(prompts?.title ?? `Messages to ${name}`, text, cards);
}

function section(title, text, cards) {
  return el("section", { class: "intro", "aria-label": "What to try" }, el("h3", {}, title), el("p", {}, text), el("div", { class: "cards" }, ...cards));
}

function card(title, text, chosen) {
  return el("button", { type: "button", class: "card", onclick: chosen }, el("b", {}, title), el("span", {}, text));
}
