// One field of the form for one parameter of the engine's description. All kinds end in a text, as it is typed.

import { ask } from "./ask.js";
import { el } from "./dom.js";
import { bytes } from "./units.js";

const EXAMPLES = {
  bytes: "4KiB, 1MiB",
  count: "1, 2, 4",
  seconds: "30s",
  sharing: "shared, per-rank",
  numbers: "[2048, 2048]",
  levels: '[[16, "1MiB"], [8, "64KiB"]]',
  map: '{ name = "value" }',
  weights: "{ stat = 60, create = 20, unlink = 20 }",
  repetitions: '5 or { min = 3, max = 20, until = "5%" }',
};

// A default as one would type it; empty where the engine derives it.
export function typedDefault(parameter) {
  const value = parameter.default;
  if (value === null || value === "" || (typeof value === "object" && !Array.isArray(value))) return "";
  if (parameter.kind === "bytes") return bytes(value).replace(" ", "");
  if (parameter.kind === "operations") return value.join(", ");
  if (Array.isArray(value)) return JSON.stringify(value);
  return parameter.kind === "seconds" ? `${value}s` : String(value);
}

function limits(parameter) {
  const { minimum, maximum, kind } = parameter;
  const shown = (value) => (kind === "bytes" ? bytes(value) : String(value));
  const parts = [];
  if (minimum) parts.push(`at least ${shown(minimum)}`);
  if (maximum !== null && maximum !== undefined) parts.push(`at most ${shown(maximum)}`);
  return parts.length ? ` ${parts.join(", ")[0].toUpperCase()}${parts.join(", ").slice(1)}.` : "";
}

function help(parameter) {
  const doc = parameter.doc.replace(/[.;]?$/, ".");
  const value = typedDefault(parameter);
  const otherwise = parameter.required ? " Required." : value ? ` Default: ${value}.` : "";
  return `${doc}${limits(parameter)}${otherwise}`;
}

// `row` goes into the form; `value` is the text of the field; `wrong` shows what is the matter with it.
class Field {
  constructor(id, parameter, label = parameter.name) {
    this.id = id;
    this.helpId = `${id}-help`;
    this.wrongId = `${id}-wrong`;
    this.error = el("span", { class: "wrong", id: this.wrongId, hidden: true });
    this.helpText = el("span", { class: "help", id: this.helpId }, help(parameter));
    this.label = label;
    this.describedBy = `${this.helpId} ${this.wrongId}`;
  }

  describe(text) {
    this.helpText.textContent = text;
  }

  wrong(message) {
    this.error.textContent = message;
    this.error.hidden = !message;
    const target = this.input || this.group;
    if (message) target.setAttribute("aria-invalid", "true");
    else target.removeAttribute("aria-invalid");
  }
}

export class TextField extends Field {
  constructor(id, parameter, onchange, label) {
    super(id, parameter, label);
    const placeholder = typedDefault(parameter) || (EXAMPLES[parameter.kind] ? `e.g. ${EXAMPLES[parameter.kind]}` : "");
    this.input = el("input", {
      id, type: "text", placeholder, "aria-describedby": this.describedBy, "aria-required": String(parameter.required),
      spellcheck: "false", autocapitalize: "off", oninput: () => onchange(this.input.value),
    });
    this.row = el("div", { class: "field" }, el("label", { for: id }, this.label), this.input, this.helpText, this.error);
  }

  set value(text) {
    if (this.input.value !== text && document.activeElement !== this.input) this.input.value = text;
  }
}

// The name of a data set; those of the target are offered.
export class DataSetField extends TextField {
  constructor(id, parameter, onchange, label, target) {
    super(id, parameter, onchange, label);
    this.offers = el("datalist", { id: `${id}-offers` });
    this.input.setAttribute("list", this.offers.id);
    this.input.addEventListener("focus", () => this.offer(target()));
    this.row.append(this.offers);
  }

  async offer(directory) {
    try {
      const { data_sets: sets } = await ask(`/api/data?${new URLSearchParams({ directory })}`);
      this.offers.replaceChildren(...sets.filter(({ state }) => state !== "unreadable").map(({ name, size, files, generation }) =>
        el("option", { value: name }, `${size}, ${files} files, generation ${generation}`)));
    } catch {
      this.offers.replaceChildren(); // what is wrong with the target is said at its field
    }
  }
}

// Several of a few words: a check box for each; none is the default.
export class ChoiceField extends Field {
  constructor(id, parameter, onchange, label, choices) {
    super(id, parameter, label);
    this.boxes = choices.map(({ name, title = "", disabled = false }, index) =>
      el("input", {
        type: "checkbox", id: index ? `${id}-${index}` : id, value: name, title, disabled,
        onchange: () => onchange(this.boxes.filter((box) => box.checked).map((box) => box.value).join(", ")),
      }));
    const pills = this.boxes.map((box, index) => el("label", { title: choices[index].title || null }, box, ` ${box.value}`));
    this.group = el("div", { class: "pills", role: "group", "aria-label": this.label, "aria-describedby": this.describedBy }, pills);
    this.row = el("div", { class: "field" }, el("span", { class: "label", "aria-hidden": "true" }, this.label), this.group, this.helpText, this.error);
  }

  set value(text) {
    const chosen = text.split(",").map((part) => part.trim());
    for (const box of this.boxes) box.checked = chosen.includes(box.value);
  }
}

export class SelectField extends Field {
  constructor(id, parameter, onchange, label, choices) {
    super(id, parameter, label);
    this.input = el("select", { id, "aria-describedby": this.describedBy, onchange: () => onchange(this.input.value) },
      choices.map((name) => el("option", { value: name }, name)));
    this.row = el("div", { class: "field" }, el("label", { for: id }, this.label), this.input, this.helpText, this.error);
  }

  set value(text) {
    if (![...this.input.options].some((option) => option.value === text)) {
      this.input.append(el("option", { value: text }, text || "choose one"));
    }
    this.input.value = text;
  }
}

// A sequence: a text, with a button for each word that adds it or takes it out.
export class OperationsField extends TextField {
  constructor(id, parameter, onchange, label, names) {
    super(id, parameter, onchange, label);
    this.buttons = names.map(({ name, doc }) =>
      el("button", { type: "button", title: doc, "aria-pressed": "false", onclick: () => { this.toggle(name); onchange(this.input.value); } }, name));
    const pills = el("div", { class: "pills", role: "group", "aria-label": `add or remove: ${this.label}` }, this.buttons);
    this.row = el("div", { class: "field" }, el("label", { for: id }, this.label), el("div", {}, this.input, pills), this.helpText, this.error);
    this.input.addEventListener("input", () => this.mark());
  }

  words() {
    return this.input.value.split(",").map((part) => part.trim()).filter(Boolean);
  }

  toggle(name) {
    const words = this.input.value ? this.words() : this.input.placeholder.split(", ");
    const kept = words.includes(name) ? words.filter((word) => word !== name) : [...words, name];
    this.input.value = kept.join(", ");
    this.mark();
  }

  mark() {
    const words = this.input.value ? this.words() : this.input.placeholder.split(", ");
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(words.includes(button.textContent)));
  }

  set value(text) {
    super.value = text;
    this.mark();
  }
}

export function fieldFor(id, parameter, onchange, label, operations) {
  switch (parameter.kind) {
    case "choice":
      return new ChoiceField(id, parameter, onchange, label, parameter.choices.filter(Boolean).map((name) => ({ name })));
    case "flag":
      return new ChoiceField(id, parameter, onchange, label, [{ name: "true" }, { name: "false" }]);
    case "operations":
      return new OperationsField(id, parameter, onchange, label, operations);
    default:
      return new TextField(id, parameter, onchange, label);
  }
}
