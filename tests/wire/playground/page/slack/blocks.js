// Block Kit as elements: in messages, modals and the app's Home.

import { el, freshId } from "../dom.js";
import { codeBlock } from "../markdown/blocks.js";
import { link, mention } from "../markdown/inline.js";
import { mrkdwn, standard } from "../markdown/slack.js";
import { select, table } from "./controls.js";

const TAGS = [["code", "code"], ["strike", "s"], ["italic", "em"], ["bold", "strong"]];

/** Return blocks as elements; `press` is called with an element's action and its choice. */
export function blockElements(blocks, names, press) {
  return blocks.map((block) => (KINDS[block.type] ?? unknown)(block, names, press)).filter(Boolean);
}

const KINDS = {
  markdown: (block, names) => shown("text", standard(block.text, names)),
  rich_text: (block, names) => shown("text", block.elements.map((part) => richPart(part, names))),
  section: (block, names, press) => shown("section", [block.text, ...(block.fields ?? [])].filter(Boolean).map((text) => textObject(text, names)), pressable(block.accessory, press)),
  header: (block) => el("h3", { class: "block header" }, block.text.text),
  context: (block, names) => shown("notes", block.elements.map((each) => textObject(each, names))),
  divider: () => el("hr"),
  table: (block, names) => table(block, (cell) => cell.elements.map((part) => richPart(part, names))),
  task_card: (block) => task(block),
  actions: (block, _, press) => row(block, press),
  context_actions: (block, _, press) => row(block, press),
  input: (block) => input(block),
};

/** Return the state of something that a bot says it is doing. */
export function task({ title, status, sources = [] }) {
  const links = sources.flatMap(({ url, text }) => [" · ", link(url, [text ?? url])]);
  return el("p", { class: "block task" }, el("span", { class: `light ${status}`, "aria-hidden": "true" }), el("span", {}, title, ...links));
}

function shown(kind, ...content) {
  return el("div", { class: `block ${kind}` }, ...content);
}

/** Return a text object: letter by letter, or in mrkdwn. */
function textObject(text, names) {
  if (text.type === "plain_text") return el("p", {}, text.text);
  return text.type === "mrkdwn" ? el("div", { class: "text" }, ...mrkdwn(text.text, names)) : el("span", {}, text.alt_text ?? "");
}

function richPart(part, names) {
  const content = () => part.elements.map((each) => richElement(each, names));
  if (part.type === "rich_text_quote") return el("blockquote", {}, el("p", {}, ...content()));
  if (part.type === "rich_text_preformatted") return codeBlock("", part.elements.map((each) => each.text ?? each.url).join(""));
  if (part.type === "rich_text_list") {
    return el(part.style === "ordered" ? "ol" : "ul", {}, ...part.elements.map((item) => el("li", {}, richPart(item, names))));
  }
  return el("p", {}, ...content());
}

function richElement(element, names) {
  if (element.type === "user") return mention(`@${names.person(element.user_id)}`);
  if (element.type === "channel") return mention(`#${names.channel(element.channel_id)}`);
  if (element.type === "broadcast") return mention(`@${element.range}`);
  if (element.type === "link") return link(element.url, [element.text ?? element.url]);
  const styles = TAGS.filter(([style]) => element.style?.[style]);
  return styles.reduce((inner, [, tag]) => el(tag, {}, inner), element.text ?? "");
}

function row(block, press) {
  return el("div", { class: "buttons" }, ...block.elements.flatMap((element) => pressable(element, press)));
}

/** Return the buttons of an element; feedback buttons are two. */
function pressable(element, press) {
  if (!element) return [];
  if (element.type === "feedback_buttons") {
    return [element.positive_button, element.negative_button].map((side) => button(element, side.text.text, press, side.value));
  }
  if (element.type === "icon_button") return [button(element, element.text?.text ?? element.icon, press)];
  if (element.type === "static_select") return [select(element, press)];
  if (element.type === "overflow") return [select({ ...element, placeholder: { text: "…" } }, press)];
  return element.type === "button" ? [button(element, element.text.text, press)] : [unknown(element)];
}

function button(element, label, press, choice = null) {
  const style = { primary: "primary", danger: "danger" }[element.style] ?? "secondary";
  if (element.url) return el("a", { class: `button ${style}`, href: element.url, target: "_blank", rel: "noopener noreferrer" }, label);
  const component = choice === null ? element.action_id : `${element.action_id}=${choice}`;
  const pressed = el("button", { type: "button", class: `button ${style}`, "data-component": component }, label);
  pressed.addEventListener("click", async () => {
    if (element.confirm && !(await confirmed(element.confirm))) return;
    pressed.setAttribute("aria-busy", "true");
    await press(element.action_id, choice);
    pressed.removeAttribute("aria-busy");
  });
  return pressed;
}

/** Ask once more, as an app may want before a button does something. */
function confirmed({ title, text, confirm, deny }) {
  const heading = freshId("confirm");
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: heading }, title.text),
    el("p", {}, text.text),
    el("div", { class: "buttons end" }, el("button", { class: "button secondary", value: "no" }, deny.text), el("button", { class: "button danger", value: "yes" }, confirm.text)),
  );
  const dialog = el("dialog", { "aria-labelledby": heading }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((decided) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      decided(dialog.returnValue === "yes");
    });
  });
}

/** Return an input of a modal, under its label. */
function input({ label, element, optional }) {
  const optionalMark = optional ? el("i", {}, " optional") : null;
  if (element.type === "radio_buttons") {
    return el("fieldset", { class: "block" }, el("legend", {}, label.text), ...element.options.map((option) => radio(element, option)));
  }
  if (element.type !== "plain_text_input") return unknown(element);
  const shared = { name: element.action_id, required: !optional, minlength: element.min_length, maxlength: element.max_length, placeholder: element.placeholder?.text };
  const field = element.multiline ? el("textarea", { ...shared, rows: "4" }) : el("input", shared);
  field.value = element.initial_value ?? "";
  return el("label", { class: "block" }, el("span", {}, label.text, optionalMark), field);
}

function radio(element, option) {
  const checked = element.initial_option?.value === option.value;
  return el("label", {}, el("input", { type: "radio", name: element.action_id, value: option.value, checked }), option.text.text);
}

function unknown({ type }) {
  return el("p", { class: "hint" }, `The playground does not show ${type}.`);
}
