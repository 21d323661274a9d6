// A list of suggestions at a text field, for the keyboard, the mouse and screen readers.

import { el, freshId } from "./dom.js";

// Nothing is marked while nothing is typed: then Tab and Enter pass by.
const NONE = -1;

/** Suggests while somebody types. A suggestion has a `label` and may have a `hint`. */
export class Suggestions {
  #field;
  #find;
  #choose;
  #list = el("ul", { role: "listbox", class: "suggestions", id: freshId("suggestions"), hidden: true });
  #found = [];
  #at = NONE;
  #asked = 0;

  /** `find` returns what to suggest for the field as it is, `choose` takes one suggestion. */
  constructor(field, label, find, choose) {
    this.#field = field;
    this.#find = find;
    this.#choose = choose;
    this.#list.setAttribute("aria-label", label);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.#list.id, autocomplete: "off" })) {
      field.setAttribute(name, value);
    }
    field.addEventListener("input", () => this.refresh());
    field.addEventListener("keydown", (event) => this.#steer(event));
    field.addEventListener("blur", () => this.hide());
  }

  /** The list, to be put beside the field. */
  get element() {
    return this.#list;
  }

  async refresh() {
    this.#asked += 1;
    const asked = this.#asked;
    const found = await this.#find();
    if (asked !== this.#asked) return;
    this.#found = found;
    this.#at = this.#field.value ? 0 : NONE;
    this.#list.replaceChildren(...found.map((each, at) => this.#option(each, at)));
    this.#show(found.length > 0 && document.activeElement === this.#field);
    this.#mark();
  }

  hide() {
    this.#asked += 1;
    this.#show(false);
  }

  #option(suggestion, at) {
    const hint = suggestion.hint ? el("small", {}, suggestion.hint) : null;
    const option = el("li", { role: "option", id: `${this.#list.id}-${at}` }, el("b", {}, suggestion.label), hint);
    option.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.#take(at);
    });
    return option;
  }

  #take(at) {
    this.hide();
    this.#choose(this.#found[at]);
  }

  #show(shown) {
    this.#list.hidden = !shown;
    this.#field.setAttribute("aria-expanded", String(shown));
    if (!shown) this.#field.removeAttribute("aria-activedescendant");
  }

  #mark() {
    [...this.#list.children].forEach((option, at) => option.setAttribute("aria-selected", String(at === this.#at)));
    const marked = this.#list.children[this.#at];
    if (this.#list.hidden || !marked) return;
    this.#field.setAttribute("aria-activedescendant", marked.id);
    marked.scrollIntoView({ block: "nearest" });
  }

  #steer(event) {
    if (this.#list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.#at = this.#at === NONE && step < 0 ? this.#found.length - 1 : (this.#at + step + this.#found.length) % this.#found.length;
      this.#mark();
    } else if (this.#at !== NONE && (event.key === "Enter" || event.key === "Tab")) {
      this.#take(this.#at);
    } else if (event.key === "Escape") {
      this.hide();
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}
