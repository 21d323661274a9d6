// Files for the next message: chosen by a button, pasted, or dropped onto the field.

import { el, say } from "./dom.js";

const MOST = 10;
const LARGEST = 8 * 1024 * 1024;

/** Return a number of bytes as people write it. */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** What is attached, with the button that attaches more. */
export class Attachments {
  #files = [];
  #input = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files" });
  #list = el("ul", { class: "attached", "aria-label": "Attached", hidden: true });
  #button = el("button", { type: "button", class: "plain attach", "aria-label": "Attach files", title: "Attach files" }, "+");

  /** `field` is where files can be pasted; a pasted text longer than `longest` becomes a file. */
  constructor(field, longest = Infinity) {
    this.#button.addEventListener("click", () => this.#input.click());
    this.#input.addEventListener("change", () => {
      this.#add([...this.#input.files]);
      this.#input.value = "";
      field.focus();
    });
    field.addEventListener("paste", (event) => this.#pasted(event, longest));
    field.addEventListener("dragover", (event) => event.preventDefault());
    field.addEventListener("drop", (event) => this.#take(event, [...event.dataTransfer.files]));
  }

  /** The button, to stand before the field. */
  get button() {
    return el("span", {}, this.#button, this.#input);
  }

  /** The list of what is attached, to stand above the field. */
  get element() {
    return this.#list;
  }

  /** Return the files and attach nothing any more. */
  take() {
    const files = this.#files;
    this.put([]);
    return files;
  }

  /** Attach these files and no others. */
  put(files) {
    this.#files = files;
    this.#draw();
  }

  #pasted(event, longest) {
    const text = event.clipboardData.getData("text/plain");
    const long = text.length > longest ? [new File([text], "message.txt", { type: "text/plain" })] : [];
    this.#take(event, [...event.clipboardData.files, ...long]);
  }

  #take(event, files) {
    if (!files.length) return;
    event.preventDefault();
    this.#add(files);
  }

  #add(files) {
    const all = [...this.#files, ...files];
    if (all.length > MOST) return say(`A message has ${MOST} files at most.`);
    if (all.reduce((sum, file) => sum + file.size, 0) > LARGEST) return say(`The playground takes ${size(LARGEST)} at most.`);
    return this.put(renamed(all));
  }

  #draw() {
    for (const picture of this.#list.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    this.#list.replaceChildren(...this.#files.map((file) => this.#chip(file)));
    this.#list.hidden = !this.#files.length;
  }

  #chip(file) {
    const picture = file.type.startsWith("image/") && el("img", { src: URL.createObjectURL(file), alt: "" });
    const remove = () => this.put(this.#files.filter((each) => each !== file));
    return el(
      "li",
      {},
      picture || el("span", { class: "sheet", "aria-hidden": "true" }),
      el("span", {}, el("b", {}, file.name), el("small", {}, size(file.size))),
      el("button", { type: "button", class: "plain", "aria-label": `Remove ${file.name}`, onclick: remove }, "✕"),
    );
  }
}

/** Return files as they are sent: their names, and their bytes in base64. */
export function encoded(files) {
  return Promise.all(
    files.map(async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
      return { name: file.name, content: btoa(text) };
    }),
  );
}

/** Return files with a name for each: pasted pictures are all called the same. */
function renamed(files) {
  const taken = new Set();
  return files.map((file) => {
    const [, stem, ending] = /^(.*?)(\.[^.]*)?$/s.exec(file.name);
    let name = file.name;
    for (let number = 2; taken.has(name); number += 1) name = `${stem}-${number}${ending ?? ""}`;
    taken.add(name);
    return name === file.name ? file : new File([file], name, { type: file.type });
  });
}
