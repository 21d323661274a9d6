// Discord's dialect of Markdown.

import { el } from "../dom.js";
import { blocks } from "./blocks.js";
import { emphasis, link, mention, reader } from "./inline.js";

const wrapped = emphasis({ "***": ["strong", "em"], "**": ["strong"], __: ["u"], "~~": ["s"], "*": ["em"], _: ["em"] });

// In order of preference; each takes the match and returns a node.
const RULES = [
  [/^\\([\\`*_~|<>[\]()#+.!:@-])/, ([, mark]) => mark],
  [/^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/, ([, , code]) => el("code", {}, code)],
  [/^\[((?:\\.|[^[\]\\]|\[[^[\]]*\])+)\]\(<?(https?:\/\/[^\s<>]+?)>?\)/i, ([, text, url], _, read) => link(url, read(text))],
  [/^<(https?:\/\/[^\s<>]+)>/i, ([, url]) => link(url, [url])],
  [/^<@!?(\d+)>/, ([, id], names) => mention(`@${names.person(id)}`)],
  [/^<#(\d+)>/, ([, id], names) => mention(`#${names.channel(id)}`)],
  [/^<\/([^:<>]+):\d+>/, ([, command]) => mention(`/${command}`)],
  [/^<t:(-?\d+)(?::\w)?>/, ([, seconds]) => el("time", {}, new Date(seconds * 1000).toLocaleString())],
  [/^\|\|([\s\S]+?)\|\|/, ([, hidden], _, read) => spoiler(read(hidden))],
  [/^(\*\*\*|\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/, wrapped],
  [/^(\*)(?=[^\s*])([\s\S]*?[^\s*])\1(?!\*)/, wrapped],
  [/^(_)(?=[^\s_])([\s\S]*?[^\s_])\1(?![_\w])/, wrapped],
];

/** Return the nodes of one line. */
export const inline = reader(RULES);

/** Return a text as nodes; `names` tells what mentions are shown as. */
export function markdown(text, names) {
  return blocks(text, (line) => inline(line, names));
}

function spoiler(content) {
  const hidden = el("button", { type: "button", class: "spoiler", "aria-label": "Show the spoiler" }, ...content);
  hidden.addEventListener("click", () => {
    hidden.replaceWith(el("span", { class: "spoiler shown" }, ...content));
  });
  return hidden;
}
