// What takes whole lines of Markdown.

import { el } from "../dom.js";

const FENCE = /^```(?:([\w+#.-]*)\n)?([\s\S]*?)```/;
const HEADING = /^(#{1,3}) +(.+)$/;
const SMALL = /^-# +(.+)$/;
const ITEM = /^( *)(?:([-*])|(\d{1,9})\.) +(.*)$/;
const QUOTE = /^> ?(.*)$/;

/** Return a text as nodes; `inline` returns those of one line, `readCode` a block of code as it is shown. */
export function blocks(text, inline, readCode = (code) => code) {
  const nodes = [];
  let rest = text;
  while (rest) {
    const start = rest.search(/```[\s\S]*?```/);
    if (start < 0) return [...nodes, ...lines(rest, inline)];
    nodes.push(...lines(rest.slice(0, start).replace(/\n$/, ""), inline));
    const fence = FENCE.exec(rest.slice(start));
    nodes.push(codeBlock(fence[1] ?? "", readCode(fence[2])));
    rest = rest.slice(start + fence[0].length).replace(/^\n/, "");
  }
  return nodes;
}

/** Return a block of code, which can be scrolled by keyboard. */
export function codeBlock(language, code) {
  const label = language ? `Code in ${language}` : "Code";
  const shown = el("code", {}, code.replace(/^\n|\n$/g, ""));
  return el("pre", { tabindex: "0", role: "region", "aria-label": label }, shown);
}

function lines(text, inline) {
  if (!text) return [];
  const nodes = [];
  const all = text.split("\n");
  for (let at = 0; at < all.length; ) {
    const [node, used] = block(all, at, inline);
    nodes.push(node);
    at += used;
  }
  return nodes.filter(Boolean);
}

/** Return the node that begins at a line, and how many lines it takes. */
function block(all, at, inline) {
  const line = all[at];
  if (line.startsWith(">>> ")) return [quote([line.slice(4), ...all.slice(at + 1)], inline), all.length - at];
  if (QUOTE.test(line)) {
    const quoted = run(all, at, (each) => QUOTE.test(each));
    return [quote(quoted.map((each) => QUOTE.exec(each)[1]), inline), quoted.length];
  }
  if (ITEM.test(line)) {
    const items = run(all, at, (each) => ITEM.test(each));
    return [lists(items.map((each) => ITEM.exec(each)), inline), items.length];
  }
  const heading = HEADING.exec(line);
  if (heading) return [el(`h${heading[1].length + 2}`, {}, ...inline(heading[2])), 1];
  const small = SMALL.exec(line);
  if (small) return [el("small", {}, ...inline(small[1])), 1];
  if (!line.trim()) return [null, 1];
  const plain = run(all, at, isPlain);
  return [el("p", {}, ...inline(plain.join("\n"))), plain.length];
}

function isPlain(line) {
  return Boolean(line.trim()) && ![QUOTE, ITEM, HEADING, SMALL].some((kind) => kind.test(line)) && !line.startsWith(">>> ");
}

function run(all, from, belongs) {
  let end = from + 1;
  while (end < all.length && belongs(all[end])) end += 1;
  return all.slice(from, end);
}

function quote(content, inline) {
  return el("blockquote", {}, ...lines(content.join("\n"), inline));
}

/** Return list items as lists, nested by their indentation; another kind of mark begins another list. */
function lists(items, inline) {
  const all = document.createDocumentFragment();
  for (let at = 0; at < items.length; ) {
    const [, indent, bullet, number, text] = items[at];
    const kind = bullet ? "UL" : "OL";
    if (all.lastChild?.tagName !== kind) all.append(el(kind, number ? { start: number } : {}));
    const below = run(items, at, (item) => item[1].length > indent.length).slice(1);
    all.lastChild.append(el("li", {}, ...inline(text), lists(below, inline)));
    at += 1 + below.length;
  }
  return all;
}
