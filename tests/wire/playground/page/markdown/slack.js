// Slack's two dialects: mrkdwn, and the standard Markdown of streamed text and markdown blocks.

import { el } from "../dom.js";
import { blocks } from "./blocks.js";
import { emphasis, link, mention, reader } from "./inline.js";

const CHARACTERS = { amp: "&", lt: "<", gt: ">" };
const character = [/^&(amp|lt|gt);/, ([, name]) => CHARACTERS[name]];
const code = [/^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/, ([, , text]) => el("code", {}, unescaped(text))];

// What Slack writes in angle brackets, in both dialects.
const entities = [
  [/^<@(\w+)(?:\|[^>]*)?>/, ([, id], names) => mention(`@${names.person(id)}`)],
  [/^<#(\w+)(?:\|[^>]*)?>/, ([, id], names) => mention(`#${names.channel(id)}`)],
  [/^<!(\w+)[^>]*>/, ([, range]) => mention(`@${range}`)],
  [/^<(https?:\/\/[^|>\s]+)(?:\|([^>]*))?>/i, ([, url, label]) => link(unescaped(url), [unescaped(label ?? url)])],
];

const readMrkdwn = reader([
  code,
  ...entities,
  [/^(\*)(?=\S)([^*\n]*[^*\s])\*(?!\w)/, emphasis({ "*": ["strong"] })],
  [/^(_)(?=\S)([^_\n]*[^_\s])_(?!\w)/, emphasis({ _: ["em"] })],
  [/^(~)(?=\S)([^~\n]*[^~\s])~(?!\w)/, emphasis({ "~": ["s"] })],
  character,
]);

const wrapped = emphasis({ "***": ["strong", "em"], "**": ["strong"], __: ["strong"], "~~": ["s"], "*": ["em"], _: ["em"] });
const readStandard = reader([
  [/^\\([\\`*_~|<>[\]{}()#+.!:@&-])/, ([, mark]) => mark],
  code,
  [/^\[((?:\\.|[^[\]\\]|\[[^[\]]*\])+)\]\(<?(https?:\/\/[^\s<>]+?)>?\)/i, ([, text, url], _, read) => link(unescaped(url), read(text))],
  ...entities,
  [/^(\*\*\*|\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/, wrapped],
  [/^(\*)(?=[^\s*])([\s\S]*?[^\s*])\1(?!\*)/, wrapped],
  [/^(_)(?=[^\s_])([\s\S]*?[^\s_])\1(?![_\w])/, wrapped],
  character,
]);

/** Return a text in mrkdwn as nodes; `names` tells what mentions are shown as. */
export function mrkdwn(text, names) {
  return blocks(text.replaceAll(/^&gt;/gm, ">"), (line) => readMrkdwn(line, names), unescaped);
}

/** Return a text in standard Markdown as nodes. */
export function standard(text, names) {
  return blocks(text, (line) => readStandard(line, names), unescaped);
}

/** Return the characters that stand for themselves in Slack as they are read. */
export function unescaped(text) {
  return text.replaceAll(/&(amp|lt|gt);/g, (_, name) => CHARACTERS[name]);
}

/** Return a text as it goes over the wire. */
export function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
