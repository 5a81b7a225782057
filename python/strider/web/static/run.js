// A run: followed while it goes on, and shown as it was when it is over.

import { ask } from "./ask.js";
import { chart } from "./chart.js";
import { byId, data, el } from "./dom.js";
import { follow } from "./follow.js";
import { bytes, grouped, latency, seconds, significant } from "./units.js";

const MOST_POINTS = 1500;
const MOST_ROWS = 400;

const CACHED = 0.1; // of the bytes of a read came from storage, or less: docs/trust.md

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
}

class Live {
  constructor({ run, over, cases }) {
    this.run = run;
    this.over = over;
    this.cases = cases;
    this.follow();
    new ResizeObserver(() => this.soon()).observe(byId("chart"));
    byId("cancel")?.addEventListener("click", (event) => this.cancel(event.target));
  }

  follow() {
    follow(this.run, (news) => {
      if (news.begin) [this.samples, this.line, this.errors] = [[], [], []];
      else if (news.lost) this.lost(news.lost);
      else if (news.damaged) byId("now").textContent = news.damaged;
      // What a run leaves when it ends (its report) is on the page as the server makes it.
      else if (news.over) { if (!this.over) location.reload(); }
      else this.take(news);
    });
  }

  lost(how) {
    byId("now").textContent = how === "closed"
      ? "The server cannot follow more runs: close the page of another run, then reload this page."
      : "The connection was lost; trying again …";
  }

  take(news) {
    this.samples.push(...news.new);
    this.line.push(...news.progress);
    this.errors.push(...news.errors);
    this.progress(news);
    this.soon();
  }

  soon() {
    if (this.waiting || !this.samples) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  title(number) {
    return this.cases[number]?.title ?? "";
  }

  counts(number) {
    return Boolean(this.cases[number]?.metadata);
  }

  rate(one) {
    return this.counts(one.case) ? one.requests_s : one.rate_mib_s;
  }

  // What storage did not serve: a rate of memory.
  cached(one) {
    return one.operation.includes("read") && one.served_by_storage !== null && one.served_by_storage < CACHED;
  }

  // While the run goes on, it can still be ended and changed.
  warn(measured) {
    const cached = measured.filter((one) => this.cached(one));
    if (!cached.length) return [];
    const most = Math.max(...cached.map((one) => one.served_by_storage));
    const reads = measured.filter(({ operation }) => operation.includes("read"));
    const advice = this.over ? "To measure storage" : "To measure storage, cancel this run";
    return [el("p", { class: "message note" },
      `${cached.length} of ${reads.length} reads came from the cache: at most ${significant(100 * most)} % of their bytes came from storage. `,
      `These are rates of memory. ${advice}, set cache = "cold" or direct I/O: `,
      el("a", { href: `/configure?run=${encodeURIComponent(this.run)}` }, "change the suite"), ".")];
  }

  progress({ fraction, samples, phases, current, left_s: left, elapsed_s: elapsed, ended }) {
    const bar = byId("progress");
    bar.value = fraction;
    bar.textContent = `${Math.round(fraction * 100)} %`;
    if (ended) {
      byId("now").textContent = "Done; the report is being drawn …";
      return;
    }
    const parts = [`${samples} of ${phases} phases`];
    if (current) {
      parts.push(`case ${current.case}, ${this.title(current.case)}: ${current.operation}`);
      const rate = this.counts(current.case) ? current.requests_s : current.rate_mib_s;
      if (rate) parts.push(this.counts(current.case) ? `${grouped(rate)} op/s` : `${grouped(rate)} MiB/s`);
      if (!this.counts(current.case) && current.bytes_total) parts.push(`${bytes(current.bytes_done)} of ${bytes(current.bytes_total)}`);
    }
    parts.push(`${seconds(elapsed)} so far`);
    if (left !== null) parts.push(`about ${seconds(Math.max(1, left))} left`);
    byId("now").textContent = current || samples ? parts.join(" · ") : "Starting the ranks …";
  }

  draw() {
    const measured = this.samples.filter((one) => one.measured && this.rate(one) !== null);
    byId("errors").replaceChildren(...this.warn(measured), ...this.errors.slice(0, 20).map((text) => el("p", { class: "message error" }, text)));
    const charts = [["MiB/s", false], ["operations/s", true]].map(([unit, metadata]) => {
      const points = measured.filter((one) => this.counts(one.case) === metadata).slice(-MOST_POINTS).map((one) => ({
        time_s: one.time_s, rate: this.rate(one), series: this.cached(one) ? `${one.operation}, from the cache` : one.operation, hollow: one.warmup || !one.valid,
        title: `case ${one.case}, ${this.title(one.case)}: ${one.operation}, ${grouped(this.rate(one))} ${unit}${one.valid ? "" : ", void"}${one.warmup ? ", warm-up" : ""}`,
      }));
      const lines = this.lines(metadata);
      return points.length || lines.length ? chart(points, unit, lines, byId("chart").clientWidth) : null;
    });
    const slow = measured.filter((one) => one.p99_s > 0).slice(-MOST_POINTS).map((one) => ({
      time_s: one.time_s, rate: one.p99_s * 1e6, series: one.operation, hollow: one.warmup || !one.valid,
      title: `case ${one.case}, ${this.title(one.case)}: ${one.operation}, p99 ${latency(one.p99_s)}`,
    }));
    if (slow.length) {
      byId("latency").hidden = false;
      byId("latency-chart").replaceChildren(chart(slow, "µs", [], byId("chart").clientWidth, "p99 latency"));
    }
    const hollow = measured.some((one) => one.warmup || !one.valid) ? [el("p", { class: "quiet" }, "Hollow marks: warm-up, or excluded because a check failed.")] : [];
    const within = this.over ? [] : [el("p", { class: "quiet" }, "Marks: completed phases. Lines: rate since the start of the phase, while it is active.")];
    if (charts.some(Boolean)) byId("chart").replaceChildren(...charts.filter(Boolean), ...within, ...hollow);
    if (measured.length) byId("results").replaceChildren(this.table(measured));
  }

  // The rate so far within each of the latest phases, a line for each.
  lines(metadata) {
    const found = new Map();
    for (const one of this.line.filter((each) => this.counts(each.case) === metadata).slice(-MOST_POINTS)) {
      const key = `${one.case} ${one.repetition} ${one.operation}`;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push({ time_s: one.time_s, rate: this.rate(one) });
    }
    return [...found.values()].filter((line) => line.length > 1);
  }

  table(measured) {
    const rows = new Map();
    for (const one of measured) {
      if (one.warmup || !one.valid) continue;
      const key = `${one.case} ${one.operation}`;
      if (!rows.has(key)) rows.set(key, { case: one.case, operation: one.operation, rates: [], halves: [], tails: [] });
      rows.get(key).rates.push(this.rate(one));
      if (one.p50_s) rows.get(key).halves.push(one.p50_s);
      if (one.p99_s) rows.get(key).tails.push(one.p99_s);
    }
    const all = [...rows.values()].sort((a, b) => a.case - b.case);
    const body = all.slice(0, MOST_ROWS).map((row) => {
      const rates = [...row.rates].sort((a, b) => a - b);
      const cells = [median(rates), rates[0], rates[rates.length - 1]].map((rate) => el("td", { class: "number" }, rate >= 100 ? grouped(rate) : significant(rate)));
      return el("tr", {},
        el("td", { class: "number" }, String(row.case)), el("td", {}, this.title(row.case)), el("td", {}, row.operation), ...cells,
        el("td", {}, this.counts(row.case) ? "op/s" : "MiB/s"),
        ...[row.halves, row.tails].map((values) => el("td", { class: "number" }, values.length ? latency(median(values)) : "–")), el("td", { class: "number" }, String(rates.length)));
    });
    const heads = [["case", true], ["what", false], ["operation", false], ["median", true], ["min", true], ["max", true], ["unit", false], ["p50", true], ["p99", true], ["repetitions", true]];
    const more = all.length > MOST_ROWS ? el("caption", { class: "quiet" }, `The first ${MOST_ROWS} of ${all.length}; the report has all.`) : null;
    return el("table", {}, more,
      el("thead", {}, el("tr", {}, heads.map(([title, right]) => el("th", { scope: "col", class: right ? "number" : null }, title)))),
      el("tbody", {}, body));
  }

  async cancel(button) {
    button.disabled = true;
    button.textContent = "Cancelling …";
    try {
      await ask(`/api/jobs/${encodeURIComponent(button.dataset.job)}/cancel`, {});
    } catch (error) {
      button.textContent = error.message;
    }
  }
}

const { run } = data("data");

byId("labels").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const { tags } = await ask(`/api/runs/${encodeURIComponent(run)}/labels`, { tags: byId("tags").value, note: byId("note").value });
    byId("tags").value = tags.join(" ");
    byId("labels-note").textContent = "Saved.";
  } catch (error) {
    byId("labels-note").textContent = error.message;
  }
});

// Without this script the button does nothing.
if (byId("resume")) byId("resume").disabled = false;
byId("resume")?.addEventListener("click", async ({ target }) => {
  target.disabled = true;
  try {
    const { job } = await ask(`/api/runs/${encodeURIComponent(run)}/resume`, {});
    location.assign(`/jobs/${job}`);
  } catch (error) {
    byId("resume-note").textContent = error.message;
    target.disabled = false;
  }
});

byId("delete")?.addEventListener("click", async ({ target }) => {
  target.disabled = true;
  try {
    await ask(`/api/runs/${encodeURIComponent(run)}/delete`, {});
    location.assign("/runs");
  } catch (error) {
    byId("delete-note").textContent = error.message;
    target.disabled = false;
  }
});

new Live(data("data"));
