// What an app does in a thread, as Slack shows it: a line with a stop button.

import { act } from "../api.js";
import { el } from "../dom.js";

/** Return the line of a session that is at work; null for any other. */
export function sessionLine(session, store) {
  if (session?.status !== "processing") return null;
  const { channel, thread } = session;
  const stop = () => act("stop", { user: store.me, channel, thread });
  return el(
    "p",
    { class: "doing" },
    el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
    `${store.person(store.botId).name} is working on it`,
    el("button", { type: "button", class: "button small stop", onclick: stop }, "Stop"),
  );
}
