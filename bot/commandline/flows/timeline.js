// Draws the traffic of each job's groups on a canvas, and zooms: drag over a stretch, buttons, or the keyboard.
"use strict";

const ROW = 18, GAP = 5, TOP = 22, LEFT = 168, NARROW_LEFT = 96;
const LEAST = 200; // microseconds that the width shows at least
const COLOUR = { dp: "--series", pp: "--propagated", ep: "--benign", emb: "--ink", tp: "--muted" };

function seconds(us) {
  return us >= 1e6 ? `${(us / 1e6).toFixed(2)} s` : us >= 1e3 ? `${(us / 1e3).toFixed(1)} ms` : `${Math.round(us)} µs`;
}

function volume(bytes) {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(0)} kB`;
}

class Timeline {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.canvas = figure.querySelector("canvas");
    this.says = figure.querySelector("output");
    this.from = 0;
    this.to = this.data.last;
    for (const button of figure.querySelectorAll("button[data-act]"))
      button.addEventListener("click", () => this.act(button.dataset.act));
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointercancel", () => { this.pressed = null; this.draw(); });
    this.canvas.addEventListener("dblclick", () => this.act("whole"));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  act(what) {
    const span = this.to - this.from, middle = (this.from + this.to) / 2;
    if (what === "in") this.show(middle - span / 4, middle + span / 4);
    if (what === "out") this.show(middle - span, middle + span);
    if (what === "left") this.show(this.from - span / 4, this.to - span / 4);
    if (what === "right") this.show(this.from + span / 4, this.to + span / 4);
    if (what === "whole") this.show(0, this.data.last);
  }

  key(event) {
    const act = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "whole", Escape: "whole" }[event.key];
    if (!act) return;
    event.preventDefault();
    this.act(act);
  }

  show(from, to) {
    const span = Math.min(Math.max(to - from, LEAST), this.data.last);
    this.from = Math.min(Math.max(from, 0), this.data.last - span);
    this.to = this.from + span;
    this.draw();
  }

  get left() { return this.canvas.clientWidth < 560 ? NARROW_LEFT : LEFT; }
  x(us) { return this.left + ((us - this.from) / (this.to - this.from)) * (this.canvas.clientWidth - this.left); }
  time(x) { return this.from + ((x - this.left) / (this.canvas.clientWidth - this.left)) * (this.to - this.from); }

  press(event) {
    if (event.offsetX < this.left) return;
    this.pressed = event.offsetX;
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (this.pressed != null) return this.draw(event.offsetX);
    const lane = this.data.lanes[Math.floor((event.offsetY - TOP) / (ROW + GAP))];
    const at = this.time(event.offsetX);
    let says = "";
    if (lane && event.offsetX >= this.left) {
      const slack = (this.to - this.from) / this.canvas.clientWidth;
      for (let i = 0; i < lane.marks.length && !says; i += 3)
        if (at >= lane.marks[i] - slack && at <= lane.marks[i] + lane.marks[i + 1] + slack)
          says = `${lane.name}: ${volume(lane.marks[i + 2])} in ${seconds(lane.marks[i + 1])}`;
      const step = this.data.steps.findIndex((end) => at <= end);
      says = [step >= 0 ? `step ${step}` : "", `${seconds(Math.max(0, at))} from the start`, says].filter(Boolean).join(" · ");
    }
    this.says.value = says;
  }

  release(event) {
    const one = this.pressed;
    this.pressed = null;
    if (one != null && Math.abs(event.offsetX - one) > 4)
      this.show(Math.min(this.time(one), this.time(event.offsetX)), Math.max(this.time(one), this.time(event.offsetX)));
    else this.draw();
  }

  draw(dragged) {
    const width = this.canvas.clientWidth, height = TOP + this.data.lanes.length * (ROW + GAP);
    const sharp = devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * sharp;
    this.canvas.height = height * sharp;
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    pen.scale(sharp, sharp);
    pen.font = "12px system-ui, sans-serif";
    this.area(pen, width, height, () => {
      for (const finding of this.data.findings) {
        pen.globalAlpha = 0.16;
        pen.fillStyle = colour(finding.quiet ? "--propagated" : "--root");
        pen.fillRect(this.x(finding.start), TOP - 4, Math.max(2, this.x(finding.end) - this.x(finding.start)), height);
      }
      pen.globalAlpha = 1;
      this.steps(pen, colour, width, height);
      this.data.lanes.forEach((lane, row) => {
        pen.fillStyle = colour(COLOUR[lane.kind] || "--ink");
        for (let i = 0; i < lane.marks.length; i += 3) {
          const begin = this.x(lane.marks[i]), end = this.x(lane.marks[i] + lane.marks[i + 1]);
          if (end >= this.left && begin <= width) pen.fillRect(begin, TOP + row * (ROW + GAP), Math.max(1, end - begin), ROW);
        }
      });
      if (dragged != null && this.pressed != null) {
        pen.globalAlpha = 0.2;
        pen.fillStyle = colour("--ink");
        pen.fillRect(Math.min(dragged, this.pressed), 0, Math.abs(dragged - this.pressed), height);
      }
    });
    pen.fillStyle = colour("--muted");
    pen.textBaseline = "middle";
    this.data.lanes.forEach((lane, row) => pen.fillText(lane.name, 0, TOP + row * (ROW + GAP) + ROW / 2, this.left - 8));
    this.canvas.dataset.shown = `${seconds(this.from)} to ${seconds(this.to)}`;
  }

  area(pen, width, height, draw) {
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, width - this.left, height);
    pen.clip();
    draw();
    pen.restore();
    pen.globalAlpha = 1;
  }

  // A line where a step ends, and its number where there is room.
  steps(pen, colour, width, height) {
    let free = -1e9;
    pen.textBaseline = "alphabetic";
    this.data.steps.forEach((end, number) => {
      const x = this.x(end), begin = this.x(number ? this.data.steps[number - 1] : 0);
      if (x < this.left || begin > width) return;
      pen.fillStyle = colour("--rule");
      pen.fillRect(x, TOP - 6, 1, height);
      const middle = (Math.max(begin, this.left) + Math.min(x, width)) / 2, room = pen.measureText(number).width / 2 + 6;
      if (middle - room < free) return;
      free = middle + room;
      pen.fillStyle = colour("--muted");
      pen.fillText(number, middle - room + 6, 11);
    });
  }
}

const timelines = {};
for (const figure of document.querySelectorAll("figure.lanes")) timelines[figure.id] = new Timeline(figure);
for (const link of document.querySelectorAll("a[data-from]"))
  link.addEventListener("click", () => {
    const timeline = timelines[link.hash.slice(1)], { from, to } = link.dataset;
    const room = (to - from) / 8 + (2 * timeline.data.last) / Math.max(1, timeline.data.steps.length);
    timeline.show(from - timeline.data.begun - room, to - timeline.data.begun + room);
  });
