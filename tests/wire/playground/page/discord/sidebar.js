// The list of channels.

import { byId, el } from "../dom.js";
import { isThread } from "./store.js";

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
