// What stands inside a line of text, read by the rules of a dialect.

import { el } from "../dom.js";

const WEB = /^https?:\/\/[^\s<>]+/i;

/**
 * Return what reads a text into nodes. A rule is a pattern for the beginning of a text, and what
 * makes a node of its match: with the names of mentions, and with what reads the text within.
 */
export function reader(rules) {
  const read = (text, names) => {
    const nodes = [];
    let plain = "";
    let before = "";
    for (let rest = text; rest; ) {
      const [node, length] = next(rest, before, rules, names, (within) => read(within, names));
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
  };
  return read;
}

/** Return the node at the beginning of a text and its length; 0 for plain text. */
function next(text, before, rules, names, read) {
  if (/\w/.test(before) && (text[0] === "_" || text[0] === "h")) return [null, 0];
  const web = WEB.exec(text);
  if (web) {
    const url = web[0].replace(/[.,;:!?)'"\]]+$/, "");
    return [link(url, [url]), url.length];
  }
  for (const [pattern, node] of rules) {
    const match = pattern.exec(text);
    if (match) return [node(match, names, read), match[0].length];
  }
  return [null, 0];
}

/** Return what makes a node of a text between marks; `tags` are those of each mark. */
export function emphasis(tags) {
  return ([, marks, text], _, read) => tags[marks].reduceRight((inner, tag) => [el(tag, {}, ...inner)], read(text))[0];
}

export function link(url, content) {
  if (!WEB.test(url)) return el("span", {}, ...content);
  return el("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, ...content);
}

export function mention(text) {
  return el("span", { class: "mention" }, text);
}
