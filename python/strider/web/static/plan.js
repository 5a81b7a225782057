// The plan in words and tables, and reasons to refuse it.

import { el } from "./dom.js";

export function planTables(plan) {
  const parts = [el("ul", { class: "plain", id: "totals" }, plan.totals.map((line) => el("li", {}, line)))];
  for (const { common, headers, rows } of plan.tables) {
    if (common) parts.push(el("p", { class: "quiet" }, common));
    const head = headers.map(([title, side]) => el("th", { scope: "col", class: side === "right" ? "number" : null }, title));
    const body = rows.map((row) => el("tr", {}, row.map((cell, index) => el("td", { class: headers[index][1] === "right" ? "number" : null }, cell))));
    parts.push(el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Cases" },
      el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body))));
  }
  if (plan.left_out) parts.push(el("p", { class: "quiet" }, `${plan.left_out} more cases are not shown.`));
  return parts;
}

export function mistakeList(mistakes, gotoLine) {
  if (!mistakes.length) return [el("p", { class: "message good" }, "The suite has no mistakes.")];
  const count = mistakes.length === 1 ? "One mistake" : `${mistakes.length} mistakes`;
  return [
    el("p", { class: "message error" }, `${count}: correct the suite before you run it.`),
    el("ul", { class: "mistakes" }, mistakes.map(({ line, message }) =>
      el("li", {}, el("a", { href: "#toml", onclick: (event) => { event.preventDefault(); gotoLine(line); } }, `line ${line}`), ` ${message}`))),
  ];
}

export function findingList(findings) {
  return findings.map(({ severity, message }) => el("p", { class: `message ${severity}` }, severity === "error" ? `Cannot be run: ${message}` : message));
}
