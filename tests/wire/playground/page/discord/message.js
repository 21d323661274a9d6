// One message, as it looks in a channel.

import { el, freshId } from "../dom.js";
import { fileElement } from "../files.js";
import { avatar } from "../foot.js";
import { inline, markdown } from "../markdown/discord.js";
import { openMenu } from "../menu.js";
import { reactionButton, reactionRow } from "../reactions.js";
import { components, textsOf } from "./components.js";
import { forwardedElements } from "./forwarded.js";
import { isEphemeral, isLayout, isLoading } from "./store.js";

const PICTURES = ["image/gif", "image/jpeg", "image/png", "image/webp"];
const THREAD_CREATED = 18;
const THREAD_STARTER = 21;
const ROW = 1;
const LINE_MARK = /^(?:>{1,3}|-#|#{1,3}|[-*]) +/;
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
  if (message.type === THREAD_CREATED) return null;
  if (message.type === THREAD_STARTER) return starter(message, store, doing);
  const title = freshId("message");
  const shown = el(
    "article",
    { class: classes(message, store), "data-id": message.id, "data-author": message.author.id, "aria-labelledby": title, tabindex: "-1" },
    context(message, store),
    avatar(store.person(message.author.id)),
    el("div", { class: "content" }, header(message, store, title), body(message, store), ...below(message, store, doing)),
    toolbar(message, doing),
  );
  shown.addEventListener("contextmenu", (event) => {
    if (event.target.closest("a, textarea, input")) return;
    event.preventDefault();
    openMenu(doing.entries(message), shown, event);
  });
  return shown;
}

function classes(message, store) {
  const mentioned = message.mentions.some((user) => user.id === store.me);
  return ["message", isEphemeral(message) && "ephemeral", mentioned && "mentioned"].filter(Boolean).join(" ");
}

/** Return the line above a message: what it replies to, or which command it answers. */
function context(message, store) {
  const names = namesOf(store);
  if (message.interaction_metadata && message.command) {
    const user = store.person(message.interaction_metadata.user.id);
    const command = message.type === 20 ? `/${message.command}` : message.command;
    return el("p", { class: "context" }, el("b", {}, user.name), " used ", el("b", { class: "mention" }, command));
  }
  if (message.type !== 19) return null;
  const target = message.referenced_message;
  if (!target) return el("p", { class: "context" }, "Replies to a message that was deleted");
  const line = written(target).split("\n")[0].replace(LINE_MARK, "");
  const said = line ? inline(line, names) : [el("i", {}, wordless(target))];
  return el("p", { class: "context" }, "Replies to ", el("b", {}, store.person(target.author.id).name), ": ", ...said);
}

/** Return what a message without words is called. */
function wordless(message) {
  if (message.message_snapshots) return "a forwarded message";
  return message.attachments.length ? "a file" : "a message without words";
}

function header(message, store, title) {
  const person = store.person(message.author.id);
  const time = new Date(message.timestamp);
  const badge = person.role === "student" ? null : el("span", { class: `badge ${person.role}` }, person.role === "app" ? "App" : "Staff");
  return el(
    "header",
    { id: title },
    el("b", { class: "name" }, person.name),
    badge,
    el("time", { datetime: message.timestamp }, TIME.format(time)),
    message.edited_timestamp ? el("small", {}, "edited") : null,
  );
}

function body(message, store) {
  if (isLoading(message) && !written(message)) {
    const dots = el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
    return el("div", { class: "text thinking" }, dots, "Glossator is thinking …");
  }
  return message.content ? el("div", { class: "text" }, ...markdown(message.content, namesOf(store))) : null;
}

/** Return all that is written in a message, as content or in its components. */
export function written(message) {
  return [message.content, ...textsOf(message.components)].filter(Boolean).join("\n\n");
}

/** Return what stands below the text. */
function below(message, store, doing) {
  return [
    ...forwardedElements(message, (copy) => [body(copy, store), ...carried({ ...copy, components: withoutRows(copy) }, store, doing)]),
    ...carried(message, store, doing),
    reactionRow((message.reactions ?? []).map(({ emoji, count, me }) => ({ key: emoji.name, sign: emoji.name, count, mine: me })), (sign) => doing.react(message, sign)),
    message.thread ? threadLink(message.thread, store, doing) : null,
    isEphemeral(message) ? onlyYou(message, store) : null,
  ];
}

/** Return what a message has besides its text: embeds, files and components. */
function carried(message, store, doing) {
  return [
    ...message.embeds.map((embed) => embedElement(embed, store)),
    ...(isLayout(message) ? [] : message.attachments.map(attachment)),
    ...components({ message, names: namesOf(store), doing }),
  ];
}

/** Return a message's components without its rows of buttons. */
function withoutRows(message) {
  return message.components.filter((part) => part.type !== ROW);
}

function embedElement(embed, store) {
  const names = namesOf(store);
  const title = embed.title ? el("b", {}, embed.title) : null;
  const fields = (embed.fields ?? []).flatMap((field) => [el("dt", {}, ...markdown(field.name, names)), el("dd", {}, ...markdown(field.value, names))]);
  const listed = fields.length ? el("dl", {}, ...fields) : null;
  return el("div", { class: "embed" }, title, ...markdown(embed.description ?? "", names), listed);
}

function attachment({ id, filename: name, description: alt, size: bytes, content_type: kind }) {
  return fileElement({ id, name, alt, bytes, picture: PICTURES.includes(kind) });
}

function threadLink(thread, store, doing) {
  const current = store.channels.get(thread.id) ?? thread;
  const open = () => doing.openThread(thread.id);
  return el("button", { type: "button", class: "thread-link", "data-thread": thread.id, onclick: open }, el("b", {}, current.name), el("span", {}, "Open the thread"), "›");
}

function onlyYou(message, store) {
  const dismiss = el("button", { type: "button", class: "link", onclick: () => store.dismiss(message) }, "Dismiss message");
  return el("p", { class: "only-you" }, "Only you can see this · ", dismiss);
}

/** Return the beginning of a thread: the message that it was opened on. */
function starter(message, store, doing) {
  const original = store.messages.get(message.message_reference?.message_id);
  if (!original) return null;
  const { thread: _, ...alone } = original;
  const shown = messageElement({ ...alone, components: withoutRows(alone) }, store, doing);
  shown?.classList.add("starter");
  return shown;
}

function toolbar(message, doing) {
  const more = el("button", { type: "button", class: "plain", "aria-haspopup": "menu", "aria-label": "More" }, "⋯");
  more.addEventListener("click", () => openMenu(doing.entries(message), more));
  const reply = isEphemeral(message) ? null : el("button", { type: "button", class: "plain", "aria-label": "Reply", onclick: () => doing.reply(message) }, "↩");
  const react = isEphemeral(message) ? null : reactionButton((sign) => doing.react(message, sign));
  return el("div", { class: "tools" }, react, reply, more);
}
