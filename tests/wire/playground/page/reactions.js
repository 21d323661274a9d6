// The reactions on a message, and how one adds one's own.

import { el } from "./dom.js";
import { openMenu } from "./menu.js";

// What can be chosen: the sign itself, its name on Slack, and what it is called.
const CHOICE = [
  ["👍", "+1", "Thumbs up"],
  ["🙋", "raising_hand", "Raising hand"],
  ["❤️", "heart", "Heart"],
  ["🎉", "tada", "Party"],
  ["👀", "eyes", "Eyes"],
  ["✅", "white_check_mark", "Done"],
];

/** Return the sign that a name on Slack stands for. */
export function signOf(name) {
  return CHOICE.find(([, known]) => known === name)?.[0] ?? `:${name}:`;
}

/** Return the name on Slack that a sign has. */
export function nameOf(sign) {
  return CHOICE.find(([known]) => known === sign)[1];
}

/** Return reactions as a row of buttons, which add and take back one's own; `react` takes a sign's `key`. */
export function reactionRow(reactions, react) {
  if (!reactions.length) return null;
  const pill = ({ key, sign, count, mine }) =>
    el(
      "button",
      { type: "button", class: "reaction", "aria-pressed": String(mine), "data-reaction": key, "aria-label": `${sign} ${count}`, onclick: () => react(key) },
      sign,
      el("span", {}, count),
    );
  return el("div", { class: "reactions" }, ...reactions.map(pill));
}

/** Return the button that offers reactions; `react` takes the sign that is chosen. */
export function reactionButton(react) {
  const button = el("button", { type: "button", class: "plain", "aria-haspopup": "menu", "aria-label": "Add a reaction", title: "Add a reaction" }, "☺");
  button.addEventListener("click", () => openMenu(CHOICE.map(([sign, , name]) => [`${sign} ${name}`, () => react(sign)]), button));
  return button;
}
