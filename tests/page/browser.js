// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Uses a page as a reader does, and says what it found, a line each, in <pre id="results">. TRACE is the trace's name, STALLS how many it has, STILL what
// --svg makes of it.
"use strict";
const results = [];
const check = (name, right, found) => results.push(right ? `ok ${name}` : `not ok ${name}: ${String(found).slice(0, 200)}`);
const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
const drawn = (name) => document.querySelectorAll("#picture " + name).length;
const rows = () => [...document.querySelectorAll("#stalls tr.row")];
const finite = (selector) => ![...document.querySelectorAll(selector)].some((element) => [...element.attributes].some((attribute) => /NaN|Infinity|undefined/.test(attribute.value)));
const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);

// The still picture and the one of the page are drawn twice, and show the same.
function compare() {
  const svg = new DOMParser().parseFromString(STILL, "image/svg+xml"), picture = document.getElementById("picture");
  const all = (of, name) => [...of.querySelectorAll(name)];
  check("still-picture", !svg.querySelector("parsererror, script, [onload], a, image") && !/NaN|inf|var\(/.test(STILL), STILL);
  if (!STALLS) return;
  for (const name of ["circle", "polygon", "title"]) check(`still-has-each-${name}`, all(svg, name).length === all(picture, name).length, `${all(svg, name).length}, not ${all(picture, name).length}`);
  const titles = new Set(all(svg, "title").map((title) => title.textContent));
  check("still-says-the-same", all(picture, "title").every((title) => titles.has(title.textContent)), [...titles].join("|"));
  check("still-has-the-lanes", data.stalls[shown].picture.lanes.every((lane) => all(svg, "text").some((text) => text.textContent === lane.name)), "a lane is not there");
}

function look() {
  check("no-error", !errors.length, errors.join("; "));
  check("headline", document.getElementById("headline").textContent.length > 10 && document.title.startsWith("netstall: "), document.title);
  check("only-its-own-scripts", document.querySelectorAll("script").length === 3, document.querySelectorAll("script").length);
  check("nothing-from-elsewhere", !document.querySelector("img, link, iframe, object, embed, a[href], [src]"), document.documentElement.outerHTML.length);
  check("no-handlers", ![...document.querySelectorAll("*")].some((element) => [...element.attributes].some((attribute) => attribute.name.startsWith("on"))), "an attribute on...");
  check("what-to-change-comes-first", texts("#advice li").join("|") === data.verdict.advice.join("|") && document.getElementById("change").hidden === !data.verdict.advice.length &&
    document.getElementById("change").compareDocumentPosition(document.getElementById("run")) & Node.DOCUMENT_POSITION_FOLLOWING, texts("#advice li"));
  check("no-requests-twice", requests.every((row, i) => !requests.slice(0, i).some((other) => sameRequests(row, other))) && texts("#requests tr").length === requests.length + 1, texts("#requests tr"));
  check("stalls-listed", rows().length === Math.min(STALLS, 100), rows().length);
  check("causes-are-explained", [...document.querySelectorAll("button.cause")].every((button) => { button.click(); return document.getElementById("meaning").textContent.length > 40; }), "");
  check("the-run-is-there-if-something-was", document.getElementById("whole-run").hidden === (!STALLS && !data.marks.length), STALLS);
  check("marks", data.marks.every((mark) => texts("#run title").includes(mark.text)), texts("#run title"));
  check("requests-by-duration", document.getElementById("durations").hidden === !data.requests.length && finite("#histogram *"), document.getElementById("histogram").outerHTML);
  const lines = [...document.querySelectorAll("#requests tr.row")];
  lines.forEach((line, i) => {
    line.click();
    const bars = texts("#histogram text:not(.faint)").reduce((sum, text) => sum + Number(text.replace(/,/g, "")), 0);
    check("all-requests-are-in-it", document.getElementById("durations-of").textContent === nameOfRequests(requests[i]) && bars > 0 && bars <= requests[i].count, bars);
  });
  compare();
  narrow();
  if (!STALLS) return;
  check("the-run-has-its-stalls", document.querySelectorAll("#run rect").length > 0 && finite("#run *"), document.getElementById("run").outerHTML);
  const stall = data.stalls[shown];
  check("lanes", drawn("text") >= 2 && drawn("rect") >= 2, drawn("rect"));
  check("times-are-finite", finite("#picture *"), document.getElementById("picture").outerHTML);
  check("lines", document.getElementById("lines").textContent.split("\n").length === stall.lines.length, "");
  const svg = new DOMParser().parseFromString(still(), "image/svg+xml");
  check("saved-picture", !svg.querySelector("parsererror") && svg.querySelectorAll("rect").length > drawn("rect") && !still().includes("var("), still());
  const before = view.slice();
  key("+");
  check("zooms-in", view[1] - view[0] < before[1] - before[0], view);
  key("ArrowRight");
  check("moves", view[0] > before[0], view);
  document.getElementById("picture").dispatchEvent(new WheelEvent("wheel", { deltaY: 100, clientX: 600, cancelable: true }));
  key("0");
  check("whole-again", Math.abs(view[0] - before[0]) < 1e-9 && Math.abs(view[1] - before[1]) < 1e-9, view);
  const last = rows()[rows().length - 1];
  last.click();
  check("chosen", shown === Number(last.dataset.index) && document.getElementById("stall-title").textContent.startsWith(`Stall ${data.stalls[shown].id}:`), shown);
  key("j");
  check("next-turns-round", shown === 0, shown);
  const box = document.getElementById("run").getBoundingClientRect(), at = data.stalls[data.stalls.length - 1];
  document.getElementById("run").dispatchEvent(new MouseEvent("click", { clientX: box.left + LEFT + (at.start_ms + at.duration_ms / 2) / data.overview.window_ms * (box.width - LEFT - RIGHT) }));
  check("the-run-is-clicked", Math.abs(data.stalls[shown].start_ms - at.start_ms) <= data.overview.window_ms / 100, shown);
  show(0);
  const search = document.getElementById("search");
  search.value = data.stalls[0].cause;
  search.dispatchEvent(new Event("input"));
  check("search-finds", rows().length === data.stalls.filter((other) => `${other.cause} ${threadName(other.tid, other.pid)} ${data.addresses[other.connection] || ""} ${other.id}`.toLowerCase().includes(data.stalls[0].cause)).length, rows().length);
  search.value = "no such stall";
  search.dispatchEvent(new Event("input"));
  check("search-finds-nothing", rows().length === 0, rows().length);
  const processes = document.getElementById("processes");
  check("processes", processes.rows.length === (data.processes.length ? data.processes.length + 1 : 0) && processes.offsetParent === null === !data.processes.length, processes.textContent);
  if (TRACE === "whole-machine") check("worst-process-first", processes.rows[1].textContent.startsWith("shop/4306") && processes.rows[1].textContent.includes("sleeps 80.1 ms"), processes.rows[1].textContent);
  for (const [name, text] of Object.entries(EXPECTED[TRACE] || {}))
    check(name, [...document.querySelectorAll("#picture text, #picture title")].some((element) => element.textContent.includes(text)), text);
}
// On a telephone: nothing hangs out of the page, and of an axis no label in another or cut.
function narrow() {
  document.body.style.width = "400px";
  show(shown);
  check("fits-a-narrow-screen", document.body.scrollWidth <= 400, document.body.scrollWidth);
  for (const id of ["run", "picture"]) {
    const svg = document.getElementById(id), labels = [...svg.querySelectorAll("text.faint")].map((text) => text.getBBox()).filter((box) => box.y < 16).sort((a, b) => a.x - b.x);
    check(`labels-of-${id}`, labels.every((box, i) => box.x + box.width <= (labels[i + 1] ? labels[i + 1].x : svg.clientWidth)), labels.map((box) => `${box.x} to ${box.x + box.width}`));
  }
  document.body.style.width = "";
  show(shown);
}
// What a picture of each must have: texts of it.
const EXPECTED = {
  "nagle-delack": { "held-bar": "held: nagle", "timer": "delayed-ACK timer" },
  lock: { "who-sleeps": "waits in clock_nanosleep", "wake-arrow": "wakes" },
  rto: { "unwatched-end": "not watched" },
  "uring-split": { operation: "ring 1: SEND fd 7" },
};
for (let i = 0; STALLS && i < data.stalls.length && data.stalls[shown].cause !== data.verdict.cause; i++) show(i);
try { look(); } catch (error) { check("runs-through", false, error.stack); }
const pre = document.createElement("pre");
pre.id = "results";
pre.textContent = "\n" + results.join("\n") + "\n";
document.body.appendChild(pre);
