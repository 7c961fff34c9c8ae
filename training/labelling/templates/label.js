"use strict";
const token = document.querySelector("meta[name=token]").content;
const get = (id) => document.getElementById(id);
let view = null; // what the server showed last
let chosen = []; // numbers of the chosen places, the last one has the focus
let anchor = 0; // where a selection of several began
let waiting = Promise.resolve(); // requests go one after the other
let dragging = false;
let last = [null, null]; // the small and the larger place that were chosen last

async function ask(path, facts) {
  const options = { headers: { "X-AAM-Token": token }, cache: "no-store" };
  if (facts) Object.assign(options, { method: "POST", body: JSON.stringify(facts) });
  try {
    return await fetch(path, options);
  } catch {
    say("The command has ended. Start it again to go on: every answer that was given is kept.", true);
    return null;
  }
}

function act(what, facts = {}) {
  waiting = waiting.then(async () => {
    if (!view) return;
    const answer = await ask(`/act/${what}`, { question: view.question, ...facts });
    if (!answer) return;
    if (answer.status === 400 || answer.status === 403 || answer.status === 413) return say(await answer.text(), true);
    const told = await answer.json();
    await show(told.view);
    if (told.wrong && view.kind === "ask") toCheck();
    say(told.wrong || told.said || spoken(), Boolean(told.wrong));
  });
  return waiting;
}

async function poll() {
  waiting = waiting.then(async () => {
    const answer = await ask("/view");
    if (answer && answer.ok) await show(await answer.json());
  });
  await waiting;
}

function say(text, bad = false) {
  get("said").textContent = text;
  get("said").classList.toggle("bad", bad);
}

function element(kind, properties, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

function mark(head) {
  return element("span", { className: `mark c${head % 8}`, ariaHidden: "true" }, view.heads[head].key);
}

function names(place) {
  return place.yes.map((head) => view.heads[head].name).join(", ") || "nothing";
}

function spoken() {
  if (!view || view.kind !== "ask" || !chosen.length) return "";
  const place = view.places[chosen.at(-1)];
  return `${place.name}: ${names(place)}`;
}

async function show(next) {
  const fresh = !view || view.kind !== next.kind || view.question !== next.question;
  view = next;
  get("progress").textContent = view.kind === "describe" ? view.told
    : view.missing ? `${view.labelled} labelled · ${view.missing} to confirm for the test`
    : `${view.labelled} ${view.kind === "atom" ? "answered" : "labelled"}, ${view.most} at most${view.problem && !view.described ? ` · ${view.problem}` : ""}`;
  const pictured = view.kind === "ask" || view.kind === "atom" || view.kind === "describe";
  get("work").hidden = !pictured;
  get("atom").hidden = view.kind !== "atom";
  get("panel").hidden = view.kind !== "ask";
  get("describe").hidden = view.kind !== "describe";
  for (const id of ["from", "to"]) get(id).hidden = view.kind !== "describe";
  if (fresh) get("lines").replaceChildren();
  if (view.kind !== "ask") get("places").replaceChildren();
  get("wait").hidden = view.kind !== "busy" && view.kind !== "done";
  get("told").textContent = view.told;
  if (view.kind === "busy") setTimeout(poll, 500);
  if (fresh && pictured) {
    get("picture").style.visibility = "hidden"; // nobody is to answer about the picture before
    await load();
    get("picture").style.visibility = "";
  }
  if (view.kind === "describe" && fresh) describe();
  if (view.kind === "atom") question();
  if (view.kind !== "ask") return;
  if (fresh) build();
  draw();
  if (fresh) focus([first()]);
}

async function load() {
  const answer = await ask(`/picture/${view.question}`);
  if (!answer || !answer.ok) return setTimeout(poll, 500);
  const image = get("image");
  URL.revokeObjectURL(image.src);
  image.src = URL.createObjectURL(await answer.blob());
  image.alt = `The picture, ${view.width} by ${view.height} pixels`;
  image.width = view.width;
  image.height = view.height;
  // small pictures are enlarged, all of them are as large as the window allows
  get("picture").style.width = `min(100%, calc((100vh - 7rem) * ${view.width / view.height}))`;
  await image.decode();
}

function build() {
  chosen = [];
  last = [false, true].map((large) => {
    const number = view.places.findIndex((place) => place.large === large);
    return number < 0 ? null : number;
  });
  get("places").replaceChildren();
  get("larges").replaceChildren();
  view.places.forEach((place, number) => {
    const button = element("button", { type: "button", tabIndex: -1 });
    button.addEventListener("focus", () => { if (chosen.at(-1) !== number) choose([number]); });
    button.addEventListener("pointerdown", (event) => {
      dragging = !place.large;
      button.releasePointerCapture(event.pointerId);
      choose(event.shiftKey ? rectangle(anchor, number) : [number], event.shiftKey);
    });
    button.addEventListener("pointerenter", (event) => {
      if (dragging && event.buttons === 1 && event.pointerType === "mouse") choose(rectangle(anchor, number), true);
    });
    if (!place.large && place.boxes.length) {
      const [top, bottom, left, right] = place.boxes[0];
      Object.assign(button.style, {
        top: `${top * 100}%`, height: `${(bottom - top) * 100}%`, left: `${left * 100}%`, width: `${(right - left) * 100}%`,
      });
    }
    button.dataset.place = number;
    get(place.large ? "larges" : "places").append(button);
  });
  get("larges").hidden = !get("larges").childElementCount;
  get("pointing").hidden = !view.pointing;
  get("picture").classList.toggle("pointing", Boolean(view.pointing));
  get("heads").replaceChildren(...view.heads.map((head, number) => {
    const button = element("button", { type: "button", title: head.description }, mark(number), head.name,
      element("span", { className: "yes", ariaHidden: "true" }));
    button.dataset.head = number;
    button.addEventListener("click", (event) => toggle(number, event.detail > 0));
    return button;
  }));
  get("meanings").replaceChildren(...view.heads.flatMap((head) => [
    element("dt", {}, head.name), element("dd", {}, head.description),
  ]));
  const nothing = element("button", { type: "button" }, element("span", { className: "mark c6", ariaHidden: "true" }, "0"), "nothing",
    element("span", { className: "yes", ariaHidden: "true" }));
  nothing.addEventListener("click", (event) => clear(event.detail > 0));
  get("heads").append(nothing);
}

const button = (number) => document.querySelector(`[data-place="${number}"]`);

function draw() {
  view.places.forEach((place, number) => {
    const here = button(number);
    here.className = `${place.unsure ? "unsure " : ""}${place.wrong ? "wrong " : ""}${view.pointing && !place.there ? "absent" : ""}`;
    here.ariaLabel = `${place.name}: ${view.pointing && !place.there ? "does not show" : names(place)}${place.unsure ? "; a guess" : ""}${place.wrong ? "; cannot be right" : ""}`;
    const marks = element("span", { className: "marks" }, ...place.yes.map(mark));
    here.replaceChildren(...(place.large ? [place.name, ...place.yes.map(mark)] : [marks]));
  });
  get("problems").replaceChildren(...view.problems.map((one) => element("li", {}, one.why)));
  get("recount").hidden = !view.described || !view.problems.some((one) => one.number);
  get("test").hidden = !view.tested;
  get("missing").textContent = view.missing ? ` If all is right, one click confirms it. ${view.missing} more for the test.` : "";
  const check = view.places.filter((place) => place.unsure || place.wrong).length;
  get("look").disabled = !check;
  get("look").replaceChildren(`To check: ${check} `, element("kbd", {}, "n"));
  drawChosen();
}

function drawChosen() {
  view.places.forEach((_, number) => {
    button(number).ariaPressed = String(chosen.includes(number));
    button(number).tabIndex = -1;
  });
  // Tab leads to the place that was chosen last, and to one of the larger places
  const now = chosen.at(-1);
  if (now !== undefined) last[Number(view.places[now].large)] = now;
  for (const number of last) if (number !== null) button(number).tabIndex = 0;
  const places = chosen.map((number) => view.places[number]);
  const one = places.at(-1);
  get("chosen").textContent = places.length > 1 ? `${places.length} places` : one ? one.name : "";
  for (const chip of get("heads").children) {
    const head = chip.dataset.head === undefined ? null : Number(chip.dataset.head);
    const said = places.map((place) => head === null ? !place.yes.length : place.yes.includes(head));
    chip.hidden = head !== null && !places.some((place) => place.asked.includes(head));
    chip.ariaPressed = said.every(Boolean) ? "true" : said.some(Boolean) ? "mixed" : "false";
    chip.querySelector(".yes").textContent = said.every(Boolean) ? "✓" : said.some(Boolean) ? "–" : "";
  }
  if (view.pointing) drawOutlines();
  else drawBoxes(one && one.large ? one.boxes : []);
}

function drawOutlines() {
  const path = (number, kind) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of Object.entries({ d: view.places[number].outline, class: `thing ${kind}`, "data-thing": number })) made.setAttribute(name, value);
    return made;
  };
  const shown = view.places.map((_, number) => number).filter((number) => view.places[number].outline);
  const now = shown.filter((number) => chosen.includes(number));
  get("lines").replaceChildren(...shown.map((number) => path(number, view.places[number].wrong ? "wrong" : "")),
    ...now.map((number) => path(number, "outer")), ...now.map((number) => path(number, "inner")));
}

// A click shows where the chosen thing is; with Shift, that it reaches so far; with Alt or Ctrl, that nothing is there. On another
// thing, it chooses that one.
function point(event) {
  if (!view || !view.pointing || event.button !== 0) return;
  const number = chosen.at(-1), place = view.places[number];
  const under = event.target.closest("[data-thing]");
  event.preventDefault();
  const less = event.altKey || event.ctrlKey;
  if (under && place.there && !event.shiftKey && !less) return focus([Number(under.dataset.thing)]);
  if (place.whole) return say("Choose a thing first.", true);
  const shown = get("image").getBoundingClientRect();
  const share = (value, from, length) => Math.max(0, Math.min(1, (value - from) / length));
  const more = event.shiftKey && place.there;
  act("point", { places: [number], x: share(event.clientX, shown.left, shown.width), y: share(event.clientY, shown.top, shown.height), more, less })
    .then(() => {
      const next = view.places.findIndex((one, other) => other > number && !one.there);
      focus([more || less || place.there || next < 0 ? number : next]);
    });
}

function drawBoxes(boxes) {
  const rectangle = (kind) => ([top, bottom, left, right]) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top, class: kind })) made.setAttribute(name, value);
    return made;
  };
  // a light and a dark edge are seen on any picture; one cell is left as it is, so that small marks on it show
  const outer = boxes.length > 1 ? "outer several" : "outer";
  get("lines").replaceChildren(...boxes.map(rectangle(outer)), ...boxes.map(rectangle("inner")));
}

function question() {
  get("asked").textContent = view.text;
  get("meaning").textContent = view.description;
  get("atomtest").hidden = !view.tested;
  drawBoxes(view.boxes);
}

function choose(places, extending = false) {
  chosen = places;
  if (!extending) anchor = places.at(-1);
  drawChosen();
}

function focus(places, extending = false) {
  choose(places, extending);
  button(places.at(-1)).focus({ preventScroll: false });
  if (document.hasFocus()) say(spoken());
}

function centre(place) {
  const [top, bottom, left, right] = place.boxes[0] || [0, 0, 0, 0];
  return [(left + right) / 2 * view.width, (top + bottom) / 2 * view.height];
}

function rectangle(from, to) {
  if (view.places[from].large && view.places[to].large && view.pointing) {
    const found = view.places.map((_, number) => number).filter((number) => number !== to && number >= Math.min(from, to) && number <= Math.max(from, to));
    return [...found, to];
  }
  if (view.places[from].large) return [to];
  const [a, b] = [centre(view.places[from]), centre(view.places[to])];
  const within = (value, one, other) => value >= Math.min(one, other) - 1 && value <= Math.max(one, other) + 1;
  const found = view.places.map((_, number) => number).filter((number) => {
    const [x, y] = centre(view.places[number]);
    return number !== to && !view.places[number].large && within(x, a[0], b[0]) && within(y, a[1], b[1]);
  });
  return [...found, to];
}

function neighbour(number, across, down) {
  const place = view.places[number];
  if (place.large) return number + across + down in view.places && view.places[number + across + down].large ? number + across + down : number;
  const [x, y] = centre(place);
  let [best, least] = [number, Infinity];
  view.places.forEach((other, candidate) => {
    if (other.large || candidate === number) return;
    const [dx, dy] = [centre(other)[0] - x, centre(other)[1] - y];
    const along = dx * across + dy * down;
    const aside = Math.abs(dx * down) + Math.abs(dy * across);
    if (along > 1 && aside < along && along + 3 * aside < least) [best, least] = [candidate, along + 3 * aside];
  });
  return best;
}

function first() {
  const found = view.places.findIndex((place) => place.wrong || place.unsure);
  return Math.max(found, 0);
}

function toCheck() {
  const count = view.places.length;
  for (let step = 1; step <= count; step += 1) {
    const number = ((chosen.at(-1) ?? -1) + step) % count;
    if (view.places[number].wrong || view.places[number].unsure) return focus([number]);
  }
}

function back(byMouse) {
  if (byMouse) button(chosen.at(-1)).focus();
}

function toggle(head, byMouse = false) {
  if (!chosen.some((number) => view.places[number].asked.includes(head))) return;
  act("toggle", { head, places: chosen }).then(() => back(byMouse));
}

function clear(byMouse = false) {
  act("clear", { places: chosen }).then(() => back(byMouse));
}

const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

document.addEventListener("keydown", (event) => {
  if (!view || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, summary")) return;
  if (event.key === "u") return act("undo");
  if (event.key === "s" && (view.kind === "ask" || view.kind === "atom")) return act("skip");
  if (view.kind === "atom" && event.key === "y") return act("yes");
  if (view.kind === "atom" && event.key === "n") return act("no");
  if (view.kind !== "ask") return;
  const control = event.target.closest("button:not([data-place])");
  const head = view.heads.findIndex((one) => one.key === event.key);
  if (event.key in steps) {
    const to = neighbour(chosen.at(-1), ...steps[event.key]);
    focus(event.shiftKey ? rectangle(anchor, to) : [to], event.shiftKey);
  } else if (event.key === "Enter" && !control) act("next");
  else if (event.key === "n") toCheck();
  else if (event.key === "0" || event.key === "Delete" || event.key === "Backspace") clear();
  else if (event.key === "Escape") focus([chosen.at(-1)]);
  else if (head >= 0) toggle(head);
  else return;
  event.preventDefault();
});
document.addEventListener("pointerup", () => { dragging = false; });
get("picture").addEventListener("pointerdown", point);
get("next").addEventListener("click", () => act("next"));
for (const id of ["undo", "undoatom"]) get(id).addEventListener("click", () => act("undo"));
for (const id of ["skip", "skipatom"]) get(id).addEventListener("click", () => act("skip"));
for (const id of ["yes", "no"]) get(id).addEventListener("click", () => act(id));
get("look").addEventListener("click", toCheck);
