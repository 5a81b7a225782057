// A chart of rates over time: a mark for each phase, distinguished by colour and by shape.

import { el, svg } from "./dom.js";
import { grouped, seconds } from "./units.js";

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9"];
const SHAPES = [
  (x, y) => svg("circle", { cx: x, cy: y, r: 4 }),
  (x, y) => svg("rect", { x: x - 3.6, y: y - 3.6, width: 7.2, height: 7.2 }),
  (x, y) => svg("path", { d: `M${x} ${y - 4.6}l4.4 7.8h-8.8z` }),
  (x, y) => svg("path", { d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z` }),
  (x, y) => svg("path", { d: `M${x - 4} ${y - 1.3}h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z` }),
];
const NARROWEST = 280, HEIGHT = 250, LEFT = 76, RIGHT = 14, TOP = 10, BOTTOM = 42;

function mark(index, x, y, hollow) {
  const shape = SHAPES[index % SHAPES.length](x, y);
  const colour = COLOURS[index % COLOURS.length];
  shape.setAttribute("fill", hollow ? "#fff" : colour);
  shape.setAttribute("stroke", colour);
  shape.setAttribute("stroke-width", hollow ? 1.6 : 0.5);
  return shape;
}

function ticks(highest) {
  const step = 10 ** Math.floor(Math.log10(highest / 2));
  const wide = [1, 2, 5, 10].map((factor) => factor * step).find((one) => highest / one <= 5.5) ?? highest;
  return Array.from({ length: Math.floor(highest / wide) + 1 }, (_, index) => index * wide);
}

// 1, 2 and 5 of each power of ten; of many powers, the powers alone.
function logTicks(lowest, highest) {
  const powers = [Math.floor(Math.log10(lowest)), Math.ceil(Math.log10(highest))];
  const steps = powers[1] - powers[0] > 3 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = powers[0]; power <= powers[1]; power += 1) found.push(...steps.map((step) => step * 10 ** power));
  return found.filter((value) => value >= lowest && value <= highest);
}

const WIDE = 10; // from this ratio on an axis is logarithmic, as in reports

// `points`: {time_s, rate, series, title, hollow}; `unit` of the rates, or of `what` is drawn instead.
// `lines`: each of {time_s, rate}, the rate within a phase. `space`: pixels from side to side.
export function chart(points, unit, lines, space, what = "rate") {
  const width = Math.max(NARROWEST, space);
  const line = lines.flat();
  const series = [...new Set(points.map((point) => point.series))];
  const latest = Math.max(1e-9, ...points.map(({ time_s: at }) => at), ...line.map(({ time_s: at }) => at));
  const values = [...points, ...line].map(({ rate }) => rate);
  const highest = Math.max(1e-9, ...values) * 1.05;
  // A line begins at 0; it does not decide where the axis does.
  const lowest = Math.min(highest, ...points.map(({ rate }) => rate).filter((rate) => rate > 0));
  const isLog = highest / lowest >= WIDE;
  const bottom = lowest * 0.8;
  const x = (at) => LEFT + ((width - LEFT - RIGHT) * at) / latest;
  const share = (rate) => (isLog ? Math.log(Math.max(rate, bottom) / bottom) / Math.log(highest / bottom) : rate / highest);
  const y = (rate) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(rate);
  const grid = (isLog ? logTicks(bottom, highest) : ticks(highest)).flatMap((value) => [
    svg("path", { d: `M${LEFT} ${y(value)}H${width - RIGHT}`, stroke: "#e3e3e3" }),
    svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end", "font-size": 12 }, grouped(value)),
  ]);
  const every = width < 500 ? 2 : 1; // on a phone, half of the marks have room for a word
  const times = ticks(latest).filter((_, index) => index % every === 0).map((value) =>
    svg("text", { x: x(value), y: HEIGHT - BOTTOM + 17, "text-anchor": "middle", "font-size": 12 }, seconds(value)));
  const title = `${what} [${unit}]${isLog ? ", logarithmic" : ""}`;
  const text = `${what[0].toUpperCase()}${what.slice(1)} in ${unit} of ${points.length} phases over time; the table has the numbers.`;
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": text },
    ...grid, ...times,
    svg("path", { d: `M${LEFT} ${HEIGHT - BOTTOM}H${width - RIGHT}`, stroke: "#555" }),
    svg("text", { x: 0, y: 0, transform: `translate(14 ${middle}) rotate(-90)`, "text-anchor": "middle", "font-size": 12 }, title),
    svg("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle", "font-size": 12 }, "time since the start of the run"),
    ...lines.map((one) => svg("polyline", { points: one.map((at) => `${x(at.time_s).toFixed(1)},${y(at.rate).toFixed(1)}`).join(" "), fill: "none", stroke: "#6b7680", "stroke-width": 1.5 })),
    ...points.map((point) => {
      const drawn = mark(series.indexOf(point.series), x(point.time_s), y(point.rate), point.hollow);
      drawn.append(svg("title", {}, point.title));
      return drawn;
    }));
  const legend = el("ul", { class: "legend" }, series.map((name, index) =>
    el("li", {}, svg("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(index, 7, 7, false)), name)));
  return el("figure", { class: "chart" }, legend, drawing);
}
