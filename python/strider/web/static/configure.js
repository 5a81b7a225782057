// The page to configure: the text of the suite is the one truth, the server judges it, the form shows it.

import { ask } from "./ask.js";
import { byId, data, el } from "./dom.js";
import { Form } from "./form.js";
import { Picture } from "./picture.js";
import { findingList, mistakeList, planTables } from "./plan.js";

const TYPING_MS = 250;
const DRAFT = "strider-suite";

class Page {
  constructor(description) {
    this.form = new Form(byId("form"), description, (edits) => this.change(edits));
    this.picture = new Picture(byId("picture"));
    this.toml = byId("toml");
    this.edits = [];
    this.typed = false; // whether the text itself was changed since the last answer
    this.plan = null;
    this.working = null;
    this.listen();
  }

  listen() {
    this.toml.addEventListener("input", () => { this.typed = true; this.soon(); });
    byId("bytes-s").addEventListener("input", () => this.soon());
    byId("picture-case").addEventListener("change", () => { this.operations(); this.draw(); });
    byId("picture-operation").addEventListener("change", () => this.draw());
    byId("load").addEventListener("click", () => this.load(byId("from").value));
    byId("save").addEventListener("click", () => this.save());
    byId("download").addEventListener("click", () => this.download());
    byId("upload").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", () => this.upload());
    byId("run").addEventListener("click", () => this.run());
    byId("form").addEventListener("submit", (event) => event.preventDefault());
    for (const radio of document.getElementsByName("where")) {
      radio.addEventListener("change", () => { if (byId("slurm")) byId("slurm").hidden = radio.value !== "slurm"; });
    }
  }

  change(edits) {
    // Of several changes of one field, the last one counts.
    const same = (one) => edits.some((edit) => edit.do === "set" && one.do === "set" && one.case === edit.case && one.key === edit.key);
    this.edits = [...this.edits.filter((one) => !same(one)), ...edits];
    if (edits.every((edit) => edit.do === "set")) this.soon();
    else this.now();
  }

  soon() {
    this.busy(true);
    clearTimeout(this.timer);
    byId("run").disabled = true;
    this.timer = setTimeout(() => this.now(), TYPING_MS);
  }

  busy(is) {
    byId("form").setAttribute("aria-busy", String(is));
  }

  // Asks one question after the other; what changes meanwhile goes into the next one.
  async now() {
    this.busy(true);
    clearTimeout(this.timer);
    this.timer = null;
    if (this.working) {
      this.again = true;
      return this.working;
    }
    this.working = (async () => {
      do {
        this.again = false;
        await this.question();
      } while (this.again);
      this.working = null;
      if (!this.timer) this.busy(false);
    })();
    return this.working;
  }

  async question() {
    const edits = this.edits;
    const text = this.toml.value;
    this.edits = [];
    this.typed = false;
    try {
      const answer = await ask("/api/suite", { text, edits, bytes_s: byId("bytes-s").value });
      if (this.typed) return; // what was typed meanwhile is judged next
      if (answer.text !== this.toml.value) this.toml.value = answer.text;
      sessionStorage.setItem(DRAFT, answer.text);
      this.show(answer);
      await this.draw();
    } catch (error) {
      this.fail(error);
    }
  }

  show({ form, mistakes, plan }) {
    this.plan = plan;
    byId("mistakes").replaceChildren(...mistakeList(mistakes, (line) => this.gotoLine(line)));
    byId("findings").replaceChildren(...(plan ? findingList(plan.findings) : []));
    if (form) this.form.show(form, mistakes);
    byId("form").inert = !form;
    if (plan) byId("plan").replaceChildren(...planTables(plan));
    else byId("plan").replaceChildren(el("p", { class: "quiet" }, "The plan appears when the suite has no mistakes."));
    byId("run").disabled = !plan || plan.findings.some(({ severity }) => severity === "error");
    if (plan) this.cases();
  }

  fail(error) {
    byId("mistakes").replaceChildren(el("p", { class: "message error" }, error.message));
    byId("run").disabled = true;
  }

  cases() {
    const select = byId("picture-case");
    const chosen = select.value;
    select.replaceChildren(...this.plan.cases.map((one) => el("option", { value: one.case }, one.title.replace(/^case /, ""))));
    if (this.plan.cases.some((one) => String(one.case) === chosen)) select.value = chosen;
    this.operations();
  }

  operations() {
    const select = byId("picture-operation");
    const chosen = select.value;
    const one = this.plan.cases.find((each) => String(each.case) === byId("picture-case").value);
    select.replaceChildren(...[...new Set(one.operations)].map((name) => el("option", { value: name }, name)));
    if (one.operations.includes(chosen)) select.value = chosen;
  }

  async draw() {
    if (!this.plan) return;
    const wanted = { text: this.toml.value, case: Number(byId("picture-case").value), operation: byId("picture-operation").value };
    try {
      const picture = await ask("/api/picture", wanted);
      if (wanted.text !== this.toml.value) return;
      this.picture.show(picture);
      byId("picture-title").textContent = picture.items ? "Which rank accesses which items" : "Which rank accesses which bytes";
    } catch (error) {
      byId("picture").replaceChildren(el("p", { class: "message note" }, error.message));
    }
  }

  async load(name) {
    this.busy(true);
    try {
      this.replace(name ? (await ask(`/api/suites/${encodeURIComponent(name)}`)).text : data("start").blank);
      await this.now();
    } catch (error) {
      this.fail(error);
      this.busy(false);
    }
  }

  replace(text) {
    this.toml.value = text;
    this.edits = [];
    this.typed = false;
  }

  async save() {
    await this.now();
    try {
      const { name } = await ask("/api/suites", { text: this.toml.value });
      this.note(`Kept as ${name}.`);
    } catch (error) {
      this.note(error.message);
    }
  }

  async download() {
    await this.now();
    const name = byId("f-suite-name")?.value.replace(/[^A-Za-z0-9._-]/g, "") || "suite";
    const address = URL.createObjectURL(new Blob([this.toml.value], { type: "application/toml" }));
    el("a", { href: address, download: `${name}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async upload() {
    this.busy(true);
    const [file] = byId("file").files;
    byId("file").value = "";
    if (file?.size > 1 << 19) this.note("This file is too large to be a suite: at most 512 KiB.");
    else if (file) this.replace(await file.text());
    await this.now();
  }

  async run() {
    byId("run").disabled = true;
    await this.now();
    if (!this.plan) return;
    const where = document.querySelector("input[name=where]:checked").value;
    const slurm = Object.fromEntries([...(byId("slurm")?.querySelectorAll("input") ?? [])].map((input) => [input.name, input.value]));
    try {
      const { job } = await ask("/api/jobs", { text: this.toml.value, where, slurm });
      location.assign(`/jobs/${job}`);
    } catch (error) {
      this.note(error.message);
      byId("run").disabled = false;
    }
  }

  note(message) {
    byId("run-note").textContent = message;
  }

  gotoLine(line) {
    const lines = this.toml.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    this.toml.focus();
    this.toml.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
    this.toml.scrollTop = Math.max(0, (line - 5) * 20);
  }
}

try {
  const page = new Page(await ask("/api/description"));
  const start = data("start");
  if (start.suite) await page.load(start.suite);
  else {
    page.replace(start.text || sessionStorage.getItem(DRAFT) || start.blank);
    await page.now();
  }
} catch (error) {
  byId("form").replaceChildren(el("p", { class: "message error" }, error.message));
}
