// Discord's dialect of Markdown: what takes whole lines.

import { el } from "../dom.js";
import { inline } from "./inline.js";

const FENCE = /^```(?:([\w+#.-]*)\n)?([\s\S]*?)```/;
const HEADING = /^(#{1,3}) +(.+)$/;
const SMALL = /^-# +(.+)$/;
const ITEM = /^( *)(?:([-*])|(\d{1,9})\.) +(.*)$/;
const QUOTE = /^> ?(.*)$/;

/** Return a text as nodes; `names` tells what mentions are shown as. */
export function markdown(text, names) {
  const nodes = [];
  let rest = text;
  while (rest) {
    const start = rest.search(/```[\s\S]*?```/);
    if (start < 0) return [...nodes, ...lines(rest, names)];
    nodes.push(...lines(rest.slice(0, start).replace(/\n$/, ""), names));
    const fence = FENCE.exec(rest.slice(start));
    nodes.push(codeBlock(fence[1] ?? "", fence[2]));
    rest = rest.slice(start + fence[0].length).replace(/^\n/, "");
  }
  return nodes;
}

function codeBlock(language, code) {
  const label = language ? `Code in ${language}` : "Code";
  const shown = el("code", {}, code.replace(/^\n|\n$/g, ""));
  return el("pre", { tabindex: "0", role: "region", "aria-label": label }, shown);
}

function lines(text, names) {
  if (!text) return [];
  const nodes = [];
  const all = text.split("\n");
  for (let at = 0; at < all.length; ) {
    const [node, used] = block(all, at, names);
    nodes.push(node);
    at += used;
  }
  return nodes.filter(Boolean);
}

/** Return the node that begins at a line, and how many lines it takes. */
function block(all, at, names) {
  const line = all[at];
  if (line.startsWith(">>> ")) return [quote([line.slice(4), ...all.slice(at + 1)], names), all.length - at];
  if (QUOTE.test(line)) {
    const quoted = run(all, at, (each) => QUOTE.test(each));
    return [quote(quoted.map((each) => QUOTE.exec(each)[1]), names), quoted.length];
  }
  if (ITEM.test(line)) {
    const items = run(all, at, (each) => ITEM.test(each));
    return [lists(items.map((each) => ITEM.exec(each)), names), items.length];
  }
  const heading = HEADING.exec(line);
  if (heading) return [el(`h${heading[1].length + 2}`, {}, ...inline(heading[2], names)), 1];
  const small = SMALL.exec(line);
  if (small) return [el("small", {}, ...inline(small[1], names)), 1];
  if (!line.trim()) return [null, 1];
  const plain = run(all, at, isPlain);
  return [el("p", {}, ...inline(plain.join("\n"), names)), plain.length];
}

function isPlain(line) {
  return Boolean(line.trim()) && ![QUOTE, ITEM, HEADING, SMALL].some((kind) => kind.test(line)) && !line.startsWith(">>> ");
}

function run(all, from, belongs) {
  let end = from + 1;
  while (end < all.length && belongs(all[end])) end += 1;
  return all.slice(from, end);
}

function quote(content, names) {
  return el("blockquote", {}, ...lines(content.join("\n"), names));
}

/** Return list items as lists, nested by their indentation; another kind of mark begins another list. */
function lists(items, names) {
  const all = document.createDocumentFragment();
  for (let at = 0; at < items.length; ) {
    const [, indent, bullet, number, text] = items[at];
    const kind = bullet ? "UL" : "OL";
    if (all.lastChild?.tagName !== kind) all.append(el(kind, number ? { start: number } : {}));
    const below = run(items, at, (item) => item[1].length > indent.length).slice(1);
    all.lastChild.append(el("li", {}, ...inline(text, names), lists(below, names)));
    at += 1 + below.length;
  }
  return all;
}
