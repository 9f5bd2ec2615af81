// Charts as Slack draws them of data_visualization blocks: bars, lines, areas, a pie; values are told when pointed at.

import { el } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 340;
const HEIGHT = 180;
const FRAME = { left: 44, right: 8, top: 8, bottom: 42 };
const TICKS = 4;
const LABELS = 6; // below an axis, beside each other; of more some are left out
const LETTER = 6.5; // the width of one

const svg = (tag, attributes, ...children) => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat(9));
  return node;
};
const text = (x, y, words, more) => svg("text", { x, y, class: "tick", ...more }, words);
const centred = { "text-anchor": "middle" };
const short = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
const cut = (label, room) =>
  label.length * LETTER > room ? `${label.slice(0, Math.max(2, room / LETTER - 1))}…` : label;
const told = (point) => svg("title", {}, `${point.label}: ${point.value}`);

export function chart(block) {
  const { type } = block.chart;
  const drawn = type === "pie" ? pie(block.chart.segments) : plot(block.chart);
  return el("figure", { class: "b-chart" }, el("figcaption", {}, block.title), drawn);
}

// The distance between two lines of the grid: a round number, at most TICKS of which make the span.
function tickOf(span) {
  const power = 10 ** Math.floor(Math.log10(span / TICKS));
  return [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((tick) => tick * TICKS >= span * 0.999);
}

function plot({ type, series, axis_config: axes }) {
  const values = series.flatMap((one) => one.data.map((point) => point.value));
  const least = type === "line" ? Math.min(...values) : Math.min(0, ...values);
  const most = Math.max(...values);
  const tick = tickOf(most - least || Math.abs(most) || 1);
  const low = Math.floor(least / tick) * tick;
  const high = Math.max(Math.ceil(most / tick) * tick, low + tick);
  const span = high - low;
  const inner = { width: WIDTH - FRAME.left - FRAME.right, height: HEIGHT - FRAME.top - FRAME.bottom };
  const step = inner.width / axes.categories.length;
  const x = (place) => FRAME.left + step * (place + 0.5);
  const y = (value) => FRAME.top + inner.height * (1 - (value - low) / span);
  const every = Math.ceil(axes.categories.length / LABELS);
  const ticks = Array.from({ length: Math.round(span / tick) + 1 }, (_, place) => low + tick * place);
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": described(series, axes) },
    ticks.map((value) => [
      svg("line", { x1: FRAME.left, x2: WIDTH - FRAME.right, y1: y(value), y2: y(value), class: "grid" }),
      text(FRAME.left - 6, y(value) + 4, short(value), { "text-anchor": "end" }),
    ]),
    axes.categories.map((label, place) =>
      place % every ? [] : text(x(place), HEIGHT - FRAME.bottom + 16, cut(label, step * every), centred),
    ),
    text(FRAME.left + inner.width / 2, HEIGHT - 8, axes.x_label ?? "", centred),
    series.map((one, number) => SHAPES[type](one.data, { x, y, low, step, number, many: series.length })),
  );
}

const path = (data, x, y) => data.map((point, place) => `${x(place)},${y(point.value)}`).join(" ");

const SHAPES = {
  bar: (data, { x, y, low, step, number, many }) =>
    data.map((point, place) => {
      const width = (step * 0.7) / many;
      const top = y(Math.max(point.value, 0));
      const height = Math.max(y(Math.max(low, Math.min(point.value, 0))) - top, 0.5);
      const left = x(place) - (width * many) / 2 + width * number;
      return svg("rect", { x: left, y: top, width, height, class: `series-${number}` }, told(point));
    }),
  line: (data, { x, y, number }) => [
    svg("polyline", { points: path(data, x, y), class: `course series-${number}` }),
    data.map((point, place) =>
      svg("circle", { cx: x(place), cy: y(point.value), r: 2.5, class: `series-${number}` }, told(point)),
    ),
  ],
  area: (data, { x, y, low, number }) => {
    const floor = `${x(data.length - 1)},${y(low)} ${x(0)},${y(low)}`;
    return svg("polygon", { points: `${path(data, x, y)} ${floor}`, class: `field series-${number}` });
  },
};

function pie(segments) {
  const whole = segments.reduce((sum, one) => sum + one.value, 0) || 1;
  let from = 0;
  const slices = segments.map((one, number) => {
    const share = (100 * one.value) / whole;
    const ring = { r: 25, cx: 50, cy: 50, pathLength: 100, class: `slice series-${number}` };
    const dashes = { "stroke-dasharray": `${share} 100`, "stroke-dashoffset": -from };
    from += share;
    return svg("circle", { ...ring, ...dashes }, told(one));
  });
  const words = segments.map((one) => `${one.label} ${one.value}`).join(", ");
  return svg("svg", { viewBox: "0 0 100 100", role: "img", "aria-label": words, class: "pie" }, slices);
}

function described(series, axes) {
  const all = series.map((one) => `${one.name}: ${one.data.map((point) => `${point.label} ${point.value}`).join(", ")}`);
  return `${all.join(". ")} (by ${axes.x_label ?? "category"})`;
}
