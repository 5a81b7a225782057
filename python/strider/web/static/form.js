// The form: a view of the suite, built from the engine's description. It asks for changes and never makes them.

import { byId, el } from "./dom.js";
import { ChoiceField, DataSetField, SelectField, TextField, fieldFor } from "./fields.js";

const FIRST_COMMON = 3; // of the parameters that every case has: what the description begins with matters most
const SUITE_FIRST = ["name", "target", "description"];

function name(text, doc = "Shown in tables and reports.") {
  return { name: text, kind: "text", default: "", doc, choices: [], required: false };
}

// A case in a line: what it does, and through what.
function words({ name: called, interfaces, shapes, values }) {
  const sizes = ["transfer", "items", "clients", "operations"].filter((key) => values[key]).map((key) => `${key} ${values[key]}`);
  return [called, interfaces.join(", "), shapes.join(", "), ...sizes].filter(Boolean).join(" · ");
}

export class Form {
  constructor(root, description, edit) {
    this.root = root;
    this.description = description;
    this.edit = edit;
    this.fields = new Map();
    this.built = "";
    this.count = 0;
    this.opened = new Set();
    this.seen = new Set();
  }

  // Shows a suite and its mistakes; only where other fields are needed is anything built anew.
  show(form, mistakes) {
    const structure = JSON.stringify(form.cases.map((one) => [one.shape, one.interfaces, one.shapes]));
    if (structure !== this.built) this.build(form);
    this.built = structure;
    this.fill(form);
    this.mark(form, mistakes);
  }

  build(form) {
    const focused = document.activeElement?.id;
    for (const details of this.root.querySelectorAll("details")) {
      if (details.open) this.opened.add(details.id);
      else this.opened.delete(details.id);
    }
    // What belongs to the cases of another suite says nothing of these.
    const isAdded = form.cases.length === this.count + 1;
    if (Math.abs(form.cases.length - this.count) > 1) this.opened = new Set([...this.opened].filter((id) => !id.startsWith("case-body")));
    this.latest = isAdded ? form.cases.length - 1 : null;
    this.count = form.cases.length;
    this.fields.clear();
    this.root.replaceChildren(
      this.suite(form),
      ...form.cases.map((one) => this.case(one, form.cases.length)),
      el("p", { class: "group" },
        el("button", { type: "button", id: "add-pattern", onclick: () => this.edit([{ do: "add", shape: "pattern" }]) }, "Add a case of data"),
        this.description.trees.length
          ? el("button", { type: "button", id: "add-tree", onclick: () => this.edit([{ do: "add", shape: "tree" }]) }, "Add a case of metadata")
          : null));
    if (focused) byId(focused)?.focus();
  }

  suite(form) {
    const common = new Map();
    for (const { shape } of form.cases) for (const one of this.common(shape)) common.set(one.name, one);
    const named = new Map(this.description.suite.map((one) => [one.name, one]));
    const shapes = [...new Set(form.cases.map(({ shape }) => shape))];
    const only = shapes.length === 1 ? shapes[0] : undefined;
    const first = SUITE_FIRST.map((key) => this.field(null, named.get(key)));
    const others = [...this.description.suite.filter((one) => !SUITE_FIRST.includes(one.name)), ...common.values()];
    const unique = [...new Map(others.map((one) => [one.name, one])).values()];
    return el("section", { class: "card", "aria-labelledby": "suite-title" },
      el("h2", { id: "suite-title" }, "Suite"),
      ...first,
      this.more("more-suite", "Defaults of all cases, and how they are run", unique.map((one) => this.field(null, one, only))));
  }

  case(one, count) {
    const { index, shape } = one;
    const heading = `case-${index}-title`;
    const shapes = shape === "tree" ? this.description.trees : this.description.patterns;
    const interfaces = this.description.interfaces.map(({ name, doc, available, unavailable_reason: reason, capabilities }) => {
      const able = shape === "pattern" || (capabilities.metadata || []).length > 0;
      const why = !able ? "supports no operation on a tree" : available ? "" : reason;
      return { name, title: why ? `${doc} Not available here: ${why}` : doc, disabled: Boolean(why) && !one.interfaces.includes(name) };
    });
    const choose = new SelectField(`f-${index}-${shape}`, name("", ""), (text) => this.set(index, shape, text), shape, shapes.map((each) => each.name));
    this.fields.set(`${index} ${shape}`, choose);
    choose.describe(this.shapeHelp(shapes, one.shapes));
    const through = new ChoiceField(`f-${index}-interface`, name("", "I/O interface; select several to compare them."), (text) => this.set(index, "interface", text), "interface", interfaces);
    this.fields.set(`${index} interface`, through);
    const chosen = this.description.interfaces.filter((each) => one.interfaces.includes(each.name));
    if (chosen.length) through.describe(chosen.map((each) => `${each.name}: ${each.doc}`).join(" "));
    const common = this.common(shape);
    return el("section", { class: "card", "aria-labelledby": heading },
      el("div", { class: "bar" },
        el("h2", { id: heading }, `Case ${index + 1} of the suite: ${shape === "tree" ? "metadata" : "data"}`),
        el("div", { class: "group" },
          el("button", { type: "button", onclick: () => this.edit([{ do: "copy", case: index }]), "aria-label": `Copy case ${index + 1}` }, "Copy"),
          count > 1 ? el("button", { type: "button", class: "danger", onclick: () => this.edit([{ do: "remove", case: index }]), "aria-label": `Remove case ${index + 1}` }, "Remove") : null)),
      el("div", { id: `case-${index}-mistakes` }),
      this.body(index, count,
        through.row,
        this.missing(shape),
        choose.row,
        ...this.parameters(shapes, one.shapes).map((each) => this.field(index, each)),
        ...common.slice(0, FIRST_COMMON).map((each) => this.field(index, each, shape)),
        ...one.interfaces.map((each) => this.interfaceOptions(index, each)),
        this.more(`more-${index}`, "More: order, files, checks, time limits …", [this.nameField(index), ...common.slice(FIRST_COMMON).map((each) => this.field(index, each, shape))]),
        el("div", { id: `case-${index}-others` })));
  }

  // Of several cases each is one line until it is opened.
  body(index, count, ...content) {
    const id = `case-body-${index}`;
    const open = count === 1 || this.opened.has(id) || this.latest === index;
    return el("details", { id, class: "case", open }, el("summary", { id: `case-${index}-words` }), ...content.flat());
  }

  // Why an interface is missing, and the command that brings it.
  missing(shape) {
    const lacking = this.description.interfaces.filter(({ available, capabilities }) =>
      !available && (shape === "pattern" || (capabilities.metadata || []).length > 0));
    if (!lacking.length) return null;
    const count = lacking.length === 1 ? "1 interface is" : `${lacking.length} interfaces are`;
    return el("details", { class: "missing" }, el("summary", {}, `${count} missing here: ${lacking.map(({ name }) => name).join(", ")}`),
      el("ul", {}, lacking.map(({ name, unavailable_reason: reason }) =>
        el("li", {}, `${name}: ${reason}. Run `, el("code", {}, `strider setup ${name}`), " on this machine, then restart strider serve."))));
  }

  shapeHelp(shapes, chosen) {
    return shapes.filter((one) => chosen.includes(one.name)).map((one) => `${one.doc} ${one.formula}`).join(" ");
  }

  common(shape) {
    return shape === "tree" ? this.description.tree_case : this.description.case;
  }

  // Parameters of the patterns or trees of a case, each once.
  parameters(shapes, chosen) {
    const found = shapes.filter((one) => chosen.includes(one.name)).flatMap((one) => one.parameters);
    return [...new Map(found.map((one) => [one.name, one])).values()];
  }

  interfaceOptions(index, chosen) {
    const one = this.description.interfaces.find(({ name }) => name === chosen);
    if (!one?.parameters.length) return null;
    const rows = one.parameters.map((each) => this.field(index, { ...each, name: `${one.name}.${each.name}` }));
    return this.more(`more-${index}-${chosen}`, `Options of ${chosen}`, rows);
  }

  nameField(index) {
    const field = new TextField(`f-${index}-name`, name("name"), (text) => this.set(index, "name", text), "name");
    this.fields.set(`${index} name`, field);
    return field.row;
  }

  field(index, parameter, shape) {
    const id = `f-${index === null ? "suite" : index}-${parameter.name}`;
    const operations = this.description.operations.filter(({ direction }) => !shape || (direction === "metadata") === (shape === "tree"));
    const change = (text) => this.set(index, parameter.name, text);
    const field = parameter.name === "dataset"
      ? new DataSetField(id, parameter, change, parameter.name, () => this.fields.get("suite target").input.value)
      : fieldFor(id, parameter, change, parameter.name, operations);
    this.fields.set(`${index === null ? "suite" : index} ${parameter.name}`, field);
    return field.row;
  }

  more(id, title, rows) {
    return el("details", { id, open: this.opened.has(id) }, el("summary", {}, title), ...rows);
  }

  set(index, key, typed) {
    this.edit([{ do: "set", case: index, key, typed }]);
  }

  fill(form) {
    const values = new Map();
    for (const [key, text] of Object.entries(form.suite)) values.set(`suite ${key}`, text);
    for (const one of form.cases) {
      for (const [key, text] of Object.entries(one.values)) values.set(`${one.index} ${key}`, text);
      values.set(`${one.index} interface`, one.interfaces.join(", "));
      values.set(`${one.index} ${one.shape}`, one.shapes.join(", "));
      values.set(`${one.index} name`, one.name);
    }
    for (const [key, field] of this.fields) {
      const text = values.get(key) ?? "";
      field.value = text;
      field.wrong("");
      const details = field.row.closest("details[id^=more]");
      // What is set is seen, unless somebody closed it.
      if (text && details && !this.seen.has(details.id)) details.open = true;
    }
    for (const details of this.root.querySelectorAll("details")) this.seen.add(details.id);
  }

  // Each mistake goes to its field; what has none stands at the head of its case.
  mark(form, mistakes) {
    for (const one of form.cases) {
      const others = Object.keys(one.values).filter((key) => !this.fields.has(`${one.index} ${key}`));
      const notes = [
        one.zipped.length ? `Paired by zip, in the text: ${one.zipped.join(", ")}.` : "",
        others.length ? `Set only in the text: ${others.join(", ")}.` : "",
      ].filter(Boolean);
      byId(`case-${one.index}-others`).replaceChildren(...notes.map((text) => el("p", { class: "quiet" }, text)));
      byId(`case-${one.index}-mistakes`).replaceChildren();
      byId(`case-${one.index}-words`).textContent = words(one);
    }
    for (const { case: index, key, message } of mistakes) {
      const field = this.fields.get(`${index === null ? "suite" : index} ${key}`);
      if (field) {
        field.wrong(message);
        for (let one = field.row.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
      } else if (index !== null) {
        byId(`case-${index}-mistakes`)?.append(el("p", { class: "message error" }, message));
      }
    }
  }
}
