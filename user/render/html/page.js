// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The page of a report: everything is drawn from the JSON document beside it; text goes in as text, never as HTML.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg", RIGHT = 16, AXIS = 24; // as in picture.h
let LEFT = 190; // as there; on a narrow screen less
const byId = (id) => document.getElementById(id);
const ms = (v) => (v === null || v === undefined ? "" : Math.abs(v) >= 1000 ? (v / 1000).toPrecision(3) + " s"
  : Math.abs(v) >= 1 ? Number(v.toPrecision(3)) + " ms" : Math.round(v * 1000) + " us");
const percent = (v) => (v * 100).toFixed(1) + "%";
const colour = (cause) => `var(--${(data.known[cause] || {}).colour || "unknown"})`;

function add(parent, name, attributes, text) {
  const element = parent.namespaceURI === SVG ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}
function draw(parent, name, attributes, title) {
  const element = add(parent, name, attributes);
  if (title) add(element, "title", {}, title);
  return element;
}
function causeButton(parent, cause) {
  add(parent, "span", { class: "swatch", style: `background:${colour(cause)}` });
  add(parent, "button", { class: "cause", title: "what is that?" }, cause).addEventListener("click", (event) => {
    event.stopPropagation();
    explain(cause);
  });
}
function explain(cause) {
  const known = data.known[cause], box = byId("meaning");
  box.hidden = false;
  box.textContent = "";
  add(box, "b", {}, `${cause}: ${known.title}`);
  add(box, "div", {}, known.meaning);
  if (known.remedy) add(box, "div", {}, "What helps: " + known.remedy);
  box.scrollIntoView({ block: "nearest" });
}

// ---- one stall ----

let shown = 0, view = [0, 1];
const threadName = (tid, pid) => data.threads_by[tid] || (tid ? `${tid}` : pid ? `pid ${pid}` : "?");

function drawArrow(svg, x1, y1, x2, y2, attributes, title) {
  const angle = Math.atan2(y2 - y1, x2 - x1), tip = (turn) => `${x2 - 8 * Math.cos(angle + turn)},${y2 - 8 * Math.sin(angle + turn)}`;
  const group = draw(svg, "g", {}, title);
  draw(group, "line", Object.assign({ x1, y1, x2, y2, "stroke-width": 1.6 }, attributes));
  draw(group, "polygon", { points: `${x2},${y2} ${tip(0.4)} ${tip(-0.4)}`, fill: attributes.stroke });
  draw(group, "line", { x1, y1, x2, y2, stroke: "transparent", "stroke-width": 10 });
}

// Of what is partly seen the part that is.
function drawBar(svg, mark, look, y, x, width) {
  const from = Math.max(LEFT, x(mark.from_ms)), to = Math.min(width - RIGHT, x(mark.to_ms));
  if (to < from || from > width - RIGHT) return;
  const fill = `var(--${mark.colour})`, middle = y + look.down;
  draw(svg, "rect", Object.assign({ x: from - (mark.from_ms === mark.to_ms ? look.least / 2 : 0), y: middle - look.height / 2, width: Math.max(look.least, to - from), height: look.height, rx: look.radius, fill: look.hollow ? "none" : fill },
    look.hollow ? { stroke: fill, "stroke-width": 1.5 } : {}, look.dashed ? { "stroke-dasharray": "3 3" } : {}), mark.title);
  if (!mark.label || to - from < mark.label.length * 6 + 12) return;
  add(svg, "text", { x: from + (look.beside ? 10 : 6), y: middle + (look.beside ? -9 : 4), class: look.beside ? "faint" : look.light ? "light" : "" }, mark.label);
}

function drawWhat(svg, mark, lanes, x, width) {
  const look = data.looks[mark.look], y = lanes[mark.lane].y, fill = `var(--${mark.colour})`;
  const seen = (at) => at >= LEFT - 20 && at <= width - RIGHT + 20;
  if (look.shape === "bar") return drawBar(svg, mark, look, y, x, width);
  if (look.shape === "dot") {
    if (seen(x(mark.from_ms))) draw(svg, "circle", { cx: x(mark.from_ms), cy: y + look.down, r: look.height / 2, fill }, mark.title);
    return;
  }
  const from = mark.from_ms === undefined ? x(mark.to_ms) - 10 : x(mark.from_ms), to = mark.to_ms === undefined ? from + 10 : x(mark.to_ms);
  if (seen(from) && seen(to)) drawArrow(svg, from, y, to, lanes[mark.to || 0].y, { stroke: fill, "stroke-dasharray": look.dashed ? "4 3" : "none" }, mark.title);
}

function drawLane(svg, lane, width) {
  add(svg, "text", { x: 8, y: lane.y + 4, class: lane.line && !lane.absent ? "" : "faint" }, lane.name);
  if (lane.line) draw(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: lane.y, y2: lane.y, stroke: "var(--line)", "stroke-width": 2, "stroke-dasharray": lane.absent ? "2 5" : "none" });
  if (lane.dot) draw(svg, "circle", { cx: LEFT - 8, cy: lane.y, r: 3, fill: `var(--${lane.dot})` });
}

// A picture as wide as there is room for.
function widthOf(svg) {
  const width = svg.clientWidth || 1000;
  LEFT = width < 640 ? 132 : 190;
  return width;
}
// From one label of an axis to the next: about eight of them, or as many as there is room for.
const LABEL = 58;
function tick(span, width) {
  const raw = span / Math.max(1, Math.min(8, Math.floor((width - LEFT - RIGHT) / LABEL))), base = Math.pow(10, Math.floor(Math.log10(raw || 1)));
  return [1, 2, 5, 10].map((f) => f * base).find((s) => s >= raw);
}

// One that would be cut is not drawn.
function addTime(svg, x, y, width, text) {
  if (x + text.length * 8 <= width) add(svg, "text", { x, y, class: "faint" }, text);
}

function drawAxis(svg, x, stall, height) {
  const width = widthOf(svg), step = tick(view[1] - view[0], width);
  for (let t = Math.ceil((view[0] - stall.start_ms) / step) * step + stall.start_ms; t <= view[1]; t += step) {
    draw(svg, "line", { x1: x(t), x2: x(t), y1: AXIS - 4, y2: height, stroke: "var(--line)", "stroke-width": 0.6 });
    addTime(svg, x(t) + 3, AXIS - 8, width, `${Number((t - stall.start_ms).toPrecision(6))} ms`);
  }
}

// What the user said meanwhile. A text that would stand in another one is told by hovering.
function drawMarks(svg, x, [from, to], top, height) {
  let free = 0;
  for (const mark of data.marks || []) {
    if (mark.at_ms < from || mark.at_ms > to) continue;
    const at = x(mark.at_ms);
    draw(svg, "line", { x1: at, x2: at, y1: top, y2: height, stroke: "var(--ink)", "stroke-width": 1.2, "stroke-dasharray": "5 3" }, mark.text);
    draw(svg, "circle", { cx: at, cy: height - 4, r: 3.5, fill: "var(--ink)" }, `${mark.text}, at ${ms(mark.at_ms)}`);
    if (at < free) continue;
    add(svg, "text", { x: at + 6, y: height - 2 }, mark.text);
    free = at + 14 + mark.text.length * 6.5;
  }
}

function picture() {
  const stall = data.stalls[shown], svg = byId("picture");
  svg.textContent = "";
  if (!stall) return;
  const width = widthOf(svg), { height, lanes, marks } = stall.picture;
  const x = (t) => LEFT + Math.max(-1e5, Math.min(1e5, (t - view[0]) / (view[1] - view[0]) * (width - LEFT - RIGHT)));
  const inside = (at) => Math.max(LEFT, Math.min(width - RIGHT, at)), from = inside(x(stall.start_ms)), to = inside(x(stall.start_ms + stall.duration_ms));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  draw(svg, "rect", { x: from, y: AXIS, width: Math.max(1, to - from), height: height - AXIS, fill: "var(--shade)", "fill-opacity": 0.6 });
  drawAxis(svg, x, stall, height);
  drawMarks(svg, x, view, AXIS, height);
  for (const lane of lanes) drawLane(svg, lane, width);
  for (const mark of marks) drawWhat(svg, mark, lanes, x, width);
}

// The whole run: how much of each of its parts stalls took, of all threads together, and what was marked. A click shows a stall of then.
function run() {
  const svg = byId("run"), { bin_ms, window_ms, by_cause } = data.overview, causes = Object.entries(by_cause);
  svg.textContent = "";
  byId("whole-run").hidden = !causes.length && !data.marks.length;
  if (byId("whole-run").hidden) return;
  const width = widthOf(svg), top = 20, high = 60, height = top + high + (data.marks.length ? 30 : 12), bins = causes.length ? causes[0][1].length : 0;
  const x = (t) => LEFT + t / window_ms * (width - LEFT - RIGHT), sums = [...Array(bins).keys()].map((i) => causes.reduce((sum, [, parts]) => sum + parts[i], 0));
  const most = Math.max(bin_ms, ...sums);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  add(svg, "text", { x: 8, y: top + 14 }, "stalled");
  add(svg, "text", { x: 8, y: top + 30, class: "faint" }, most > bin_ms ? `up to ${Number((most / bin_ms).toPrecision(2))} threads at a time` : "full height: always");
  draw(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: top + high, y2: top + high, stroke: "var(--line)", "stroke-width": 2 });
  sums.forEach((sum, i) => {
    if (!sum) return;
    const title = `${ms(i * bin_ms)} to ${ms((i + 1) * bin_ms)}\n` + causes.filter(([, parts]) => parts[i]).map(([cause, parts]) => `${cause}: ${ms(parts[i])}`).join("\n");
    let y = top + high;
    for (const [cause, parts] of causes) {
      const part = parts[i] / most * high;
      y -= part;
      if (part) draw(svg, "rect", { x: x(i * bin_ms), y, width: Math.max(1, x(bin_ms) - LEFT - 0.4), height: Math.max(0.8, part), fill: colour(cause) }, title);
    }
  });
  for (let t = 0; t <= window_ms; t += tick(window_ms, width)) addTime(svg, x(t) + 2, 12, width, t ? ms(Number(t.toPrecision(6))) : "0");
  drawMarks(svg, x, [0, window_ms], 16, height);
  const stall = data.stalls[shown];
  if (stall) draw(svg, "polygon", { points: `${x(stall.start_ms)},${top + high} ${x(stall.start_ms) - 5},${top + high + 9} ${x(stall.start_ms) + 5},${top + high + 9}`, fill: "var(--ink)" }, `stall ${stall.id}, below`);
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect(), t = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT) * window_ms;
    const away = (other) => Math.abs(other.start_ms + other.duration_ms / 2 - t);
    show(data.stalls.reduce((best, other, i) => (away(other) < away(data.stalls[best]) ? i : best), 0));
  };
}

function whole() {
  const stall = data.stalls[shown];
  if (stall) view = [stall.picture.from_ms, stall.picture.to_ms];
}

function show(index) {
  if (!data.stalls.length) return run();
  shown = (index + data.stalls.length) % data.stalls.length;
  const stall = data.stalls[shown];
  whole();
  byId("stall-title").textContent = `Stall ${stall.id}: ${stall.cause}, ${ms(stall.duration_ms)} at ${(stall.start_ms / 1000).toFixed(3)} s, of ${threadName(stall.tid, stall.pid)}`;
  byId("lines").textContent = stall.lines.map((line) => `${line.ms.toFixed(3).padStart(10)} ms  ${line.actor.padEnd(22)} ${line.what.padEnd(20)} ${line.amount.padStart(9)}  ${line.note}`).join("\n");
  byId("slices").textContent = stall.slices.map((slice) => `${slice.cause} ${ms(slice.ms)}`).join(" + ");
  for (const row of document.querySelectorAll("#stalls tr.row")) row.classList.toggle("chosen", Number(row.dataset.index) === shown);
  picture();
  run();
}

// The picture as a file of its own: with the colours that it has now, and a title.
function still() {
  const copy = byId("picture").cloneNode(true), style = getComputedStyle(document.documentElement);
  const colours = (text) => text.replace(/var\((--[a-z]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  copy.removeAttribute("id");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", byId("picture").clientWidth || 1000);
  const rules = colours("text { font: 11.5px system-ui, sans-serif; fill: var(--ink); } .faint { fill: var(--faint); } .light { fill: #fff; }");
  add(copy, "style", {}, rules);
  const title = add(copy, "title", {}, `${byId("stall-title").textContent}: ${data.verdict.headline}`);
  const paper = add(copy, "rect", { width: "100%", height: "100%", fill: "var(--paper)" });
  copy.prepend(title, paper);
  return colours(new XMLSerializer().serializeToString(copy));
}
function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([still()], { type: "image/svg+xml" }));
  link.download = `stall-${data.stalls[shown].id}.svg`;
  link.click();
  URL.revokeObjectURL(link.href);
}

// ---- zoom and pan ----

function zoom(factor, around) {
  const t = around === undefined ? (view[0] + view[1]) / 2 : around, least = 0.002;
  if ((view[1] - view[0]) * factor < least) return;
  view = [t - (t - view[0]) * factor, t + (view[1] - t) * factor];
  picture();
}
function move(share) {
  const by = (view[1] - view[0]) * share;
  view = [view[0] + by, view[1] + by];
  picture();
}
function timeAt(event) {
  const box = byId("picture").getBoundingClientRect();
  return view[0] + (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT) * (view[1] - view[0]);
}
const fingers = new Map(), svg = byId("picture");
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
}, { passive: false });
svg.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event.clientX); svg.setPointerCapture(event.pointerId); });
svg.addEventListener("pointermove", (event) => {
  if (!fingers.has(event.pointerId)) return;
  const before = fingers.get(event.pointerId), width = svg.clientWidth - LEFT - RIGHT;
  if (fingers.size === 1) move((before - event.clientX) / width);
  else {
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const factor = Math.abs(before - other) / Math.max(1, Math.abs(event.clientX - other));
    if (factor > 0.2 && factor < 5) zoom(factor, timeAt(event));
  }
  fingers.set(event.pointerId, event.clientX);
});
for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, (event) => fingers.delete(event.pointerId));
const deeds = { prev: () => show(shown - 1), next: () => show(shown + 1), in: () => zoom(0.7), out: () => zoom(1.4), all: () => { whole(); picture(); }, save };
byId("tools").addEventListener("click", (event) => { const deed = deeds[event.target.dataset.do]; if (deed) deed(); });
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = { "+": deeds.in, "=": deeds.in, "-": deeds.out, 0: deeds.all, j: deeds.next, k: deeds.prev, ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1) };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
window.addEventListener("resize", () => { picture(); run(); histogram(); });

// ---- the rest of the page ----

function table(id, heads, rows) {
  const element = byId(id), head = add(element, "tr");
  heads.forEach(([name, right]) => add(head, "th", right ? { class: "n" } : {}, name));
  rows.forEach((cells) => {
    const row = add(element, "tr");
    cells.forEach((cell, i) => {
      const td = add(row, "td", heads[i][1] ? { class: "n" } : {});
      if (typeof cell === "function") cell(td);
      else td.textContent = cell;
    });
  });
}
function nameOfRequests(row) {
  const end = row.endpoint, deed = row.role === "makes" ? "makes" : "serves";
  if (!end) return row.connection ? `${deed}, on ${data.addresses[row.connection] || "connection " + row.connection}` : `${deed}, all together`;
  return row.role === "makes" ? `${end.comm} asks ${end.remote}` : `${end.comm} serves :${end.port}`;
}
function bar(parent, parts, whole) {
  const total = whole || parts.reduce((sum, part) => sum + part.ms, 0), box = add(parent, "div", { class: "bar", style: "min-width:160px" });
  for (const part of parts) add(box, "span", { style: `width:${total ? 100 * part.ms / total : 0}%;background:${colour(part.cause)}`, title: whole ? percent(part.ms) : `${part.cause} ${ms(part.ms)}` });
}
// The colours are fewer than the causes: the greatest parts are named.
function namedBar(parent, parts) {
  const total = parts.reduce((sum, part) => sum + part.ms, 0), named = [...parts].sort((a, b) => b.ms - a.ms).filter((part) => part.ms >= total / 20).slice(0, 3);
  bar(parent, parts);
  add(parent, "div", { class: "faint" }, named.map((part) => `${part.cause} ${ms(part.ms)}`).join(", "));
}
// Requests by how long they took, and what these were made of. The scale of counts is logarithmic: the few slow ones are what matters.
let asked = 0;
// The same requests by endpoint, by connection and all together are one row.
const sameRequests = (a, b) => a.role === b.role && a.count === b.count && a.median.total_ms === b.median.total_ms && a.p99.total_ms === b.p99.total_ms;
const requests = data.requests.filter((row, i) => !data.requests.slice(0, i).some((other) => sameRequests(row, other)));
function histogram() {
  const svg = byId("histogram"), row = requests[asked], bins = row ? row.histogram : [];
  svg.textContent = "";
  byId("durations").hidden = !bins.length;
  if (!bins.length) return;
  const width = Math.min(svg.clientWidth || 1000, 90 * bins.length + 20), high = 110, top = 16, height = top + high + 18, wide = (width - 10) / bins.length;
  const size = (count) => (count ? Math.log10(1 + count) / Math.log10(1 + Math.max(...bins.map((bin) => bin.count))) * high : 0);
  byId("durations-of").textContent = nameOfRequests(row);
  svg.setAttribute("viewBox", `0 0 ${svg.clientWidth || 1000} ${height}`);
  svg.setAttribute("height", height);
  bins.forEach((bin, i) => {
    const total = bin.slices.reduce((sum, slice) => sum + slice.ms, 0), left = 5 + i * wide;
    const title = `${bin.count.toLocaleString("en")} requests of ${ms(bin.from_ms)} to ${ms(bin.to_ms)}\n` + bin.slices.map((slice) => `${slice.cause} ${ms(slice.ms)}`).join("\n");
    let y = top + high;
    for (const slice of bin.slices) {
      const part = size(bin.count) * slice.ms / total;
      y -= part;
      draw(svg, "rect", { x: left, y, width: Math.max(1, wide - 3), height: part, fill: colour(slice.cause) }, title);
    }
    if (bin.count) add(svg, "text", { x: left + wide / 2 - 2, y: y - 4, "text-anchor": "middle" }, bin.count.toLocaleString("en"));
    add(svg, "text", { x: left, y: height - 4, class: "faint" }, ms(bin.from_ms));
  });
}
function requestsTable() {
  const element = byId("requests");
  table("requests", [[""], ["count", 1], ["median", 1], ["p99", 1], ["the median is"]], requests.map((row) => [
    nameOfRequests(row), row.count, ms(row.median.total_ms), ms(row.p99.total_ms), (td) => namedBar(td, row.median.slices)]));
  [...element.rows].slice(1).forEach((line, i) => {
    if (!requests[i].histogram.length) return;
    line.className = "row";
    line.addEventListener("click", () => { asked = i; histogram(); });
  });
  histogram();
}
function stallsTable() {
  const element = byId("stalls"), words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  element.textContent = "";
  const head = add(element, "tr");
  for (const name of ["", "at", "cause", "lasts", "of", "on"]) add(head, "th", name === "at" || name === "lasts" ? { class: "n" } : {}, name);
  data.stalls.forEach((stall, index) => {
    const on = data.addresses[stall.connection] || "", of = threadName(stall.tid, stall.pid);
    const text = `${stall.cause} ${of} ${on} ${stall.id}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) return;
    const row = add(element, "tr", { class: index === shown ? "row chosen" : "row", "data-index": index });
    add(row, "td", { class: "n" }, stall.id);
    add(row, "td", { class: "n" }, (stall.start_ms / 1000).toFixed(3) + " s");
    causeButton(add(row, "td"), stall.cause);
    add(row, "td", { class: "n" }, ms(stall.duration_ms));
    add(row, "td", {}, of);
    add(row, "td", {}, on);
    row.addEventListener("click", () => { show(index); byId("stall-title").scrollIntoView({ block: "start" }); });
  });
}

document.title = "netstall: " + data.verdict.headline;
byId("above").textContent = data.above || "";
byId("about").textContent = data.about;
byId("headline").textContent = data.verdict.headline;
byId("why").textContent = data.verdict.text || "";
byId("change").hidden = !data.verdict.advice.length;
for (const advice of data.verdict.advice) add(byId("advice"), "li", {}, advice);
byId("places").textContent = (data.places || "").replace(/^ {4}/gm, "");
byId("places").hidden = !data.places;
byId("text").textContent = data.text;
byId("stalls-title").textContent = data.stalls.length === data.stall_count ? `${data.stall_count} stalls` : `${data.stalls.length} of ${data.stall_count} stalls`;
if (data.verdict.cause && data.known[data.verdict.cause]) {
  const lead = byId("lead");
  causeButton(lead, data.verdict.cause);
  add(lead, "span", {}, ` ${data.known[data.verdict.cause].title}. ${data.known[data.verdict.cause].meaning}`);
}
if (!data.stalls.length) for (const id of ["tools", "stall-title"]) byId(id).hidden = true;
table("causes", [["cause"], ["stalls", 1], ["total", 1], ["of the time", 1], [""]], data.causes.map((cause) => [
  (td) => { causeButton(td, cause.cause); if (cause.pace) add(td, "span", {}, " (pace)"); }, cause.count, ms(cause.total_ms), percent(cause.share),
  (td) => bar(td, [{ cause: cause.cause, ms: cause.share }], 1)]));
if (data.processes.length) {
  byId("machine").hidden = false;
  table("processes", [["process"], ["served", 1], ["made", 1], ["median", 1], ["p99", 1], ["stalled", 1], ["by"], ["why"]], data.processes.map((one) => [
    `${one.comm}/${one.pid}`, one.serves || "", one.makes || "", one.median_ms === null ? "" : ms(one.median_ms), one.p99_ms === null ? "" : ms(one.p99_ms),
    one.stalls ? ms(one.stalled_ms) : "", (td) => { if (one.cause) causeButton(td, one.cause); }, one.why || ""]));
}
requestsTable();
table("threads", [["thread"], ["on CPU", 1], ["blocked", 1], ["run queue", 1]], data.threads.map((thread) => [
  `${thread.comm}/${thread.tid}`, ms(thread.on_cpu_ms), ms(thread.blocked_ms), ms(thread.runqueue_ms)]));
byId("search").addEventListener("input", stallsTable);
stallsTable();
show(Math.max(0, data.stalls.findIndex((stall) => stall.id === data.first)));
