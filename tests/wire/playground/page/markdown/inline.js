// Discord's dialect of Markdown: what stands inside a line.

import { el } from "../dom.js";

const WRAPPED = { "***": ["strong", "em"], "**": ["strong"], __: ["u"], "~~": ["s"], "*": ["em"], _: ["em"] };
const WEB = /^https?:\/\/[^\s<>]+/i;

// In order of preference; each takes the match and returns a node.
const RULES = [
  [/^\\([\\`*_~|<>[\]()#+.!:@-])/, ([, mark]) => mark],
  [/^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/, ([, , code]) => el("code", {}, code)],
  [/^\[((?:\\.|[^[\]\\]|\[[^[\]]*\])+)\]\(<?(https?:\/\/[^\s<>]+?)>?\)/i, ([, text, url], names) => link(url, inline(text, names))],
  [/^<(https?:\/\/[^\s<>]+)>/i, ([, url]) => link(url, [url])],
  [/^<@!?(\d+)>/, ([, id], names) => mention(`@${names.person(id)}`)],
  [/^<#(\d+)>/, ([, id], names) => mention(`#${names.channel(id)}`)],
  [/^<\/([^:<>]+):\d+>/, ([, command]) => mention(`/${command}`)],
  [/^<t:(-?\d+)(?::\w)?>/, ([, seconds]) => el("time", {}, new Date(seconds * 1000).toLocaleString())],
  [/^\|\|([\s\S]+?)\|\|/, ([, hidden], names) => spoiler(inline(hidden, names))],
  [/^(\*\*\*|\*\*|__|~~)(?=\S)([\s\S]*?\S)\1/, emphasis],
  [/^(\*)(?=[^\s*])([\s\S]*?[^\s*])\1(?!\*)/, emphasis],
  [/^(_)(?=[^\s_])([\s\S]*?[^\s_])\1(?![_\w])/, emphasis],
];

/** Return a text as nodes; `names` tells what mentions are shown as. */
export function inline(text, names) {
  const nodes = [];
  let plain = "";
  let before = "";
  for (let rest = text; rest; ) {
    const [node, length] = next(rest, before, names);
    if (length) {
      nodes.push(plain, node);
      plain = "";
    } else {
      plain += rest[0];
    }
    before = rest[Math.max(length, 1) - 1];
    rest = rest.slice(Math.max(length, 1));
  }
  return [...nodes, plain].filter((node) => node !== "");
}

/** Return the node at the beginning of a text and its length; 0 for plain text. */
function next(text, before, names) {
  if (/\w/.test(before) && (text[0] === "_" || text[0] === "h")) return [null, 0];
  const web = WEB.exec(text);
  if (web) {
    const url = web[0].replace(/[.,;:!?)'"\]]+$/, "");
    return [link(url, [url]), url.length];
  }
  for (const [pattern, node] of RULES) {
    const match = pattern.exec(text);
    if (match) return [node(match, names), match[0].length];
  }
  return [null, 0];
}

function emphasis([, marks, text], names) {
  return WRAPPED[marks].reduceRight((inner, tag) => [el(tag, {}, ...inner)], inline(text, names))[0];
}

function link(url, content) {
  if (!WEB.test(url)) return el("span", {}, ...content);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, ...content);
}

function mention(text) {
  return el("span", { class: "mention" }, text);
}

function spoiler(content) {
  const hidden = el("button", { type: "button", class: "spoiler", "aria-label": "Show the spoiler" }, ...content);
  hidden.addEventListener("click", () => {
    hidden.replaceWith(el("span", { class: "spoiler shown" }, ...content));
  });
  return hidden;
}
