// The access pattern of a case: a lane for each rank over the bytes of its file, to be looked at closely.

import { el, svg } from "./dom.js";
import { bytes } from "./units.js";

const NARROWEST = 280, LEFT = 70, RIGHT = 12, LANE = 30, TOP = 6, AXIS = 34;
const NUMBERED_PX = 16; // a piece that is wider shows the number of its request
const ZOOMS = 12;

// Pieces that touch or overlap become one, where their numbers cannot be read anyway.
function joined(pieces) {
  const sorted = [...pieces].sort((a, b) => a.from - b.from);
  const found = [];
  for (const piece of sorted) {
    const last = found[found.length - 1];
    if (last && piece.from <= last.to + 0.25) last.to = Math.max(last.to, piece.to);
    else found.push({ ...piece });
  }
  return found;
}

// How much of each column of pixels a rank touches: what is finer than a pixel is a shade.
function shades(pieces, width) {
  const cover = new Float64Array(width);
  for (const { from, to } of pieces) {
    for (let column = Math.max(0, Math.floor(from)); column < Math.min(width, to); column += 1) {
      cover[column] += Math.min(to, column + 1) - Math.max(from, column);
    }
  }
  const found = [];
  cover.forEach((share, column) => {
    if (share <= 0) return;
    const shade = Math.max(0.15, Math.min(1, Math.round(share * 8) / 8));
    const last = found[found.length - 1];
    if (last && last.to === column && last.shade === shade) last.to = column + 1;
    else found.push({ from: column, to: column + 1, shade });
  });
  return found;
}

function lane(rank, index, view, colours) {
  const { width: space } = view;
  const y = TOP + LANE * index;
  const scale = (space - LEFT - RIGHT) / view.length;
  const pieces = rank.extents
    .filter(([, offset, length]) => offset + length > view.begin && offset < view.begin + view.length)
    .map(([request, offset, length]) => ({ request, from: (offset - view.begin) * scale, to: (offset + length - view.begin) * scale }));
  const width = space - LEFT - RIGHT;
  const colour = colours[index % colours.length];
  const clipped = (piece) => ({ ...piece, from: Math.max(0, piece.from), to: Math.min(width, piece.to) });
  const readable = pieces.length > 0 && Math.min(...pieces.map(({ from, to }) => to - from)) >= NUMBERED_PX;
  const narrow = pieces.length > 0 && Math.min(...pieces.map(({ from, to }) => to - from)) < 1.5;
  const drawn = readable ? pieces.map(clipped) : narrow ? shades(pieces.map(clipped), Math.ceil(width)) : joined(pieces.map(clipped));
  return svg("g", {},
    svg("text", { x: LEFT - 8, y: y + 18, "text-anchor": "end", "font-size": 13 }, `rank ${index}`),
    svg("path", { d: `M${LEFT} ${y + LANE - 3}H${space - RIGHT}`, stroke: "#c9ced3" }),
    ...drawn.map(({ from, to, shade = 1 }) =>
      svg("rect", { x: (LEFT + from).toFixed(2), y, width: Math.max(0.5, to - from - (readable ? 1.5 : 0)).toFixed(2), height: LANE - 5, rx: readable ? 2 : 0, fill: colour, "fill-opacity": shade })),
    ...(readable ? drawn.filter(({ from, to }) => to - from >= NUMBERED_PX).map(({ request, from, to }) =>
      svg("text", { x: (LEFT + (from + to) / 2).toFixed(1), y: y + 17, "text-anchor": "middle", "font-size": 12 }, String(request))) : []));
}

function axis(view, y) {
  const { width: space } = view;
  const width = space - LEFT - RIGHT;
  const shares = space < 450 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  const marks = shares.map((share) => {
    const x = LEFT + width * share;
    return [
      svg("path", { d: `M${x} ${y}v5`, stroke: "#555" }),
      svg("text", { x, y: y + 19, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle", "font-size": 12 }, bytes(view.begin + view.length * share)),
    ];
  });
  return svg("g", {}, svg("path", { d: `M${LEFT} ${y}H${space - RIGHT}`, stroke: "#555" }), ...marks.flat());
}

function description(picture) {
  const pieces = picture.ranks.map((rank, index) => {
    const first = rank.extents.slice(0, 3).map(([, offset, length]) => `${bytes(length)} at ${bytes(offset)}`);
    return `rank ${index}: ${first.join(", ")}${rank.extents.length > 3 ? " …" : ""}`;
  });
  return `Access pattern of ${picture.operation}. ${pieces.join("; ")}.`;
}

// A small picture of the pattern without numbers; its title beside it says what it is of.
export function thumbnail({ ranks, items, colours }) {
  const width = 240, height = 84, step = (height - 8) / (ranks || items).length;
  const row = (index) => 6 + step * index;
  const rows = items
    ? items.map(({ paths }, index) => svg("g", {}, paths.map((_, place) =>
      svg("path", { d: `M${8 + place * 20} ${row(index)}h9l4 4v${step - 10}h-13z`, fill: colours[index % colours.length] }))))
    : ranks.map(({ extents, size }, index) => {
      const scale = (width - 12) / Math.max(1, size);
      return svg("g", {},
        svg("rect", { x: 6, y: row(index), width: width - 12, height: step - 4, fill: "#eef1f4" }),
        extents.map(([, offset, length]) =>
          svg("rect", { x: (6 + offset * scale).toFixed(2), y: row(index), width: Math.max(1, length * scale - 0.8).toFixed(2), height: step - 4, fill: colours[index % colours.length] })));
    });
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...rows);
}

export class Picture {
  constructor(root) {
    this.root = root;
    this.zoom = 0;
    this.place = 0;
    new ResizeObserver(() => { if (this.picture?.ranks) this.draw(); }).observe(root);
  }

  show(picture) {
    this.picture = picture;
    if (picture.items) return this.items();
    this.size = Math.max(1, ...picture.ranks.map((rank) => rank.size));
    const lengths = picture.ranks.flatMap((rank) => rank.extents.map((one) => one[2]));
    this.least = Math.max(1, Math.min(this.size, 12 * Math.min(...lengths, this.size)));
    this.figure = el("div");
    this.look = el("input", { type: "range", id: "zoom", min: "0", max: String(ZOOMS), value: String(this.zoom), oninput: () => this.move() });
    this.where = el("input", { type: "range", id: "place", min: "0", max: "1000", value: String(this.place), oninput: () => this.move() });
    const controls = this.least < this.size
      ? el("div", { class: "grid" }, el("label", { for: "zoom" }, "closer"), this.look, el("label", { for: "place" }, "place"), this.where)
      : null;
    this.root.replaceChildren(this.figure, ...(controls ? [controls] : []), ...this.notes());
    this.draw();
  }

  move() {
    this.zoom = Number(this.look.value);
    this.place = Number(this.where.value);
    this.draw();
  }

  draw() {
    const length = this.size * (this.least / this.size) ** (this.zoom / ZOOMS);
    const view = { begin: ((this.size - length) * this.place) / 1000, length, width: Math.max(NARROWEST, this.root.clientWidth) };
    this.where.disabled = this.zoom === 0;
    const { ranks } = this.picture;
    const height = TOP + LANE * ranks.length + AXIS;
    const text = description(this.picture);
    this.figure.replaceChildren(
      svg("svg", { viewBox: `0 0 ${view.width} ${height}`, role: "img", "aria-label": text },
        ...ranks.map((rank, index) => lane(rank, index, view, this.picture.colours)),
        axis(view, TOP + LANE * ranks.length + 3)));
  }

  notes() {
    const { ranks, clients } = this.picture;
    const files = [...new Set(ranks.map((rank) => rank.file))];
    const parts = [];
    if (clients > ranks.length) parts.push(`${clients - ranks.length} more ranks are not shown`);
    if (files.length > 1) parts.push(`each lane is the rank's own file (${files.length} files)`);
    if (ranks.some((rank) => !rank.whole)) parts.push("only the first requests of each rank are shown");
    parts.push("numbers count requests; requests narrower than a pixel appear as a shade");
    const text = parts.join("; ");
    return [el("p", { class: "quiet" }, `Along the file from byte 0 to ${bytes(this.size)}. ${text[0].toUpperCase()}${text.slice(1)}.`)];
  }

  items() {
    const { items, clients } = this.picture;
    const rows = items.map(({ paths, whole }, rank) =>
      el("tr", {}, el("th", { scope: "row" }, `rank ${rank}`), el("td", { class: "code" }, paths.join(" · ") + (whole ? "" : " …"))));
    const rest = clients - items.length;
    this.root.replaceChildren(
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Items of each rank" },
        el("table", {}, el("caption", { class: "quiet" }, "First items that each rank accesses"), el("tbody", {}, rows))),
      ...(rest > 0 ? [el("p", { class: "quiet" }, `${rest} more ranks are not shown.`)] : []));
  }
}
