// The scene of pictures of any origin: a grid over the first of them, and how many things there are.
let box = [0, 1, 0, 1]; // where the grid is, as shares of the picture: top, bottom, left, right
const edges = ["top", "bottom", "left", "right"];

function field(name, id, properties) {
  const input = element("input", { type: "number", id, required: true, ...properties });
  input.addEventListener("input", () => { say(""); drawGrid(); });
  return element("label", {}, name, input);
}

function describe() {
  box = [0, 1, 0, 1];
  const type = element("select", { id: "type" }, ...view.types.map((name) => element("option", { value: name }, name)));
  get("grid").replaceChildren(
    field("Rows", "rows", { min: 1, max: 64, value: 8 }), field("Columns", "columns", { min: 1, max: 64, value: 8 }),
    ...edges.map((edge, number) => field(`${edge[0].toUpperCase()}${edge.slice(1)}, %`, edge, { min: 0, max: 100, step: "any", value: box[number] * 100 })),
    element("label", {}, "The cells are of type", type),
  );
  get("things").replaceChildren(...view.looks.map((look) =>
    field(look.vanishes ? `${look.name}, at most` : look.name, `look-${look.name}`, { min: 0, max: 1000, value: 1 })));
  get("counts").hidden = !view.looks.length;
  drawGrid();
}

function drawGrid() {
  if (!view || view.kind !== "describe") return;
  box = edges.map((edge) => Number(get(edge).value) / 100);
  const [top, bottom, left, right] = box;
  const count = (id) => Math.max(1, Math.min(64, Math.round(Number(get(id).value)) || 1));
  let path = "";
  for (let row = 0; row <= count("rows"); row += 1) path += `M${left} ${top + (bottom - top) * row / count("rows")}H${right}`;
  for (let column = 0; column <= count("columns"); column += 1) path += `M${left + (right - left) * column / count("columns")} ${top}V${bottom}`;
  get("lines").replaceChildren(...[0, 1].map(() => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "path");
    made.setAttribute("d", path);
    return made;
  }));
  Object.assign(get("from").style, { top: `${top * 100}%`, left: `${left * 100}%` });
  Object.assign(get("to").style, { top: `${bottom * 100}%`, left: `${right * 100}%` });
}

for (const [id, down, across] of [["from", "top", "left"], ["to", "bottom", "right"]]) {
  const move = (edge, share) => { get(edge).value = Math.round(Math.max(0, Math.min(1, share)) * 10000) / 100; };
  get(id).addEventListener("pointerdown", (event) => get(id).setPointerCapture(event.pointerId));
  get(id).addEventListener("pointermove", (event) => {
    if (!get(id).hasPointerCapture(event.pointerId)) return;
    const shown = get("image").getBoundingClientRect();
    move(down, (event.clientY - shown.top) / shown.height);
    move(across, (event.clientX - shown.left) / shown.width);
    drawGrid();
  });
  get(id).addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    const [dx, dy] = steps[event.key];
    const pixels = event.shiftKey ? 10 : 1;
    move(down, Number(get(down).value) / 100 + dy * pixels / view.height);
    move(across, Number(get(across).value) / 100 + dx * pixels / view.width);
    drawGrid();
    event.preventDefault();
  });
}

get("describe").addEventListener("submit", (event) => {
  event.preventDefault();
  act("describe", {
    rows: Number(get("rows").value), columns: Number(get("columns").value), box, place: get("type").value,
    things: Object.fromEntries(view.looks.map((look) => [look.name, Number(get(`look-${look.name}`).value)])),
  });
});
poll();
