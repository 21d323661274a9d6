// The list of channels, and what belongs to the app: its Home and its messages.

import { byId, el } from "../dom.js";

/** Draw the list; `open` has what each entry does, `current` names what is open. */
export function drawChannels(store, current, open) {
  const entry = (name, chosen, isCurrent, kind = "text") =>
    el("li", {}, el("button", { type: "button", class: `place-link ${kind}`, "aria-current": isCurrent ? "page" : null, onclick: chosen }, name));
  const all = [...store.channels.values()];
  const channel = (each) => entry(store.title(each), () => open.channel(each), each.id === current.channel);
  const direct = all.filter((each) => each.direct).map((each) => entry("Messages", () => open.channel(each), each.id === current.channel));
  byId("channels").replaceChildren(
    el("h3", {}, "Channels"),
    el("ul", {}, ...all.filter((each) => !each.direct).map(channel)),
    el("h3", {}, store.person(store.botId).name),
    el("ul", {}, entry("Home", open.home, current.channel === "home"), ...direct),
  );
}
