// One message, as it looks in a channel or a thread.

import { el, freshId } from "../dom.js";
import { fileElement } from "../files.js";
import { avatar } from "../foot.js";
import { openMenu } from "../menu.js";
import { nameOf, reactionButton, reactionRow, signOf } from "../reactions.js";
import { blockElements, task } from "./blocks.js";
import { sessionLine } from "./session.js";
import { sharedElement } from "./shared.js";
import { threadPlace } from "./store.js";

const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** What mentions are shown as. */
export function namesOf(store) {
  return {
    person: (id) => store.person(id).name,
    channel: (id) => store.channels.get(id)?.name ?? "unknown",
  };
}

/** Return a message as an element; `doing` holds what its buttons and menu do. */
export function messageElement(message, store, doing) {
  const title = freshId("message");
  const shown = el(
    "article",
    { class: `message${message.ephemeral ? " ephemeral" : ""}`, "data-id": message.id, "aria-labelledby": title, tabindex: "-1" },
    avatar(store.person(message.author.id)),
    el("div", { class: "content" }, header(message, store, title), ...body(message, store, doing), ...below(message, store, doing)),
    toolbar(message, doing),
  );
  shown.addEventListener("contextmenu", (event) => {
    if (event.target.closest("a, textarea, input")) return;
    event.preventDefault();
    openMenu(doing.entries(message), shown, event);
  });
  return shown;
}

function header(message, store, title) {
  const person = store.person(message.author.id);
  const badge = person.role === "student" ? null : el("span", { class: `badge ${person.role}` }, person.role === "app" ? "App" : "Staff");
  return el(
    "header",
    { id: title },
    el("b", { class: "name" }, person.name),
    badge,
    el("time", { datetime: message.timestamp }, TIME.format(new Date(message.timestamp))),
    message.edited ? el("small", {}, "edited") : null,
  );
}

function body(message, store, doing) {
  const press = (action, choice) => doing.press(message, action, choice);
  const growing = message.growing ? el("span", { class: "dots", role: "img", "aria-label": "still writing" }, el("i"), el("i"), el("i")) : null;
  const names = namesOf(store);
  return [
    ...message.tasks.map(task),
    ...blockElements(message.blocks, names, press),
    ...message.shared.map((each) => sharedElement(each, store, names)),
    ...message.files.map(({ size, ...file }) => fileElement({ ...file, bytes: size })),
    growing,
  ].filter(Boolean);
}

function below(message, store, doing) {
  if (message.ephemeral) {
    const dismiss = el("button", { type: "button", class: "link", onclick: () => store.dismiss(message) }, "Dismiss message");
    return [el("p", { class: "only-you" }, "Only visible to you · ", dismiss)];
  }
  const shown = message.reactions.map(({ name, count, mine }) => ({ key: name, sign: signOf(name), count, mine }));
  return [reactionRow(shown, (name) => doing.react(message, name)), ...thread(message, store, doing)].filter(Boolean);
}

/** Return what leads to the thread of a message, and what the app does in it. */
function thread(message, store, doing) {
  const count = message.is_reply ? 0 : store.replies(message).filter((each) => !each.ephemeral).length;
  if (message.is_reply || !doing.openThread) return [];
  const working = sessionLine(store.sessions.get(threadPlace(message.channel_id, message.id)), store);
  if (!count) return [working];
  const words = count === 1 ? "1 reply" : `${count} replies`;
  return [working, el("button", { type: "button", class: "thread-link", onclick: () => doing.openThread(message) }, el("b", {}, words), el("span", {}, "View thread"), "›")];
}

function toolbar(message, doing) {
  const more = el("button", { type: "button", class: "plain", "aria-haspopup": "menu", "aria-label": "More" }, "⋯");
  more.addEventListener("click", () => openMenu(doing.entries(message), more));
  const react = message.ephemeral ? null : reactionButton((sign) => doing.react(message, nameOf(sign)));
  return el("div", { class: "tools" }, react, more);
}
