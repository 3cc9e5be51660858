/* The map: samples as points, with names where there is room; the one that is pointed at shows its neighbours. */
class MapView {
  constructor(host, readout) {
    Object.assign(this, { host, readout, found: data.map, own: -1, svg: null });
    this.redraw = plot("map-plot", (width) => Math.min(width, 560), (svg, width, height) => this.draw(svg, width, height));
    host.addEventListener("pointermove", (event) => this.point(event));
    host.addEventListener("pointerdown", (event) => this.point(event));
    host.addEventListener("keydown", (event) => this.key(event));
  }

  name(i) { return data.names[data.drawn[i]]; }
  label(i) { return data.labels[data.drawn[i]]; }

  draw(svg, width, height) {
    const { x, y } = this.found, room = 14;
    const span = Math.max(Math.max(...x) - Math.min(...x), (Math.max(...y) - Math.min(...y)) * (width - 2 * room) / (height - 2 * room)) || 1;
    const scale = (width - 2 * room) / span;
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    this.at = x.map((v, i) => [width / 2 + (v - middle(x)) * scale, height / 2 - (y[i] - middle(y)) * scale]);
    this.svg = svg;
    this.lines = shape("g", { class: "ties" });
    svg.append(this.lines);
    const radius = x.length > 600 ? 2.5 : x.length > 150 ? 3.5 : 4.5;
    this.marks = this.at.map(([cx, cy], i) => this.mark(i, cx, cy, radius));
    svg.append(...this.marks);
    this.names(svg, width, height, radius);
    this.show(this.own, false);
  }

  /* Ten colours, and five shapes of them, as in the legend. */
  mark(i, cx, cy, r) {
    const look = `spot ${colorClass(this.label(i))}`, form = Math.floor(this.label(i) / 10) % 5;
    if (form < 2) return shape("circle", { class: look, cx, cy, r });
    const made = shape("rect", { class: look, x: cx - r, y: cy - r, width: 2 * r, height: 2 * r });
    if (form === 4) made.setAttribute("transform", `rotate(45 ${cx} ${cy})`);
    return made;
  }

  /* A name is written where it covers no other name and no point; those of lonely points come first. */
  names(svg, width, height, radius) {
    const cell = 24, taken = new Map(), letter = 6.4;
    const keys = (box) => {
      const found = [];
      for (let a = Math.floor(box[0] / cell); a <= Math.floor(box[2] / cell); a++)
        for (let b = Math.floor(box[1] / cell); b <= Math.floor(box[3] / cell); b++) found.push(`${a} ${b}`);
      return found;
    };
    const put = (box) => { for (const key of keys(box)) taken.set(key, [...(taken.get(key) || []), box]); };
    const free = (box) => keys(box).every((key) => (taken.get(key) || []).every((o) => o[2] <= box[0] || o[0] >= box[2] || o[3] <= box[1] || o[1] >= box[3]));
    for (const [cx, cy] of this.at) put([cx - radius, cy - radius, cx + radius, cy + radius]);
    const crowd = this.at.map(([cx, cy]) => keys([cx - 40, cy - 40, cx + 40, cy + 40]).reduce((sum, key) => sum + (taken.get(key) || []).length, 0));
    for (const i of [...this.at.keys()].sort((a, b) => crowd[a] - crowd[b] || a - b)) {
      const text = shortened(this.name(i), 20), [cx, cy] = this.at[i], wide = text.length * letter;
      for (const [left, up] of [[cx + radius + 3, cy - 7], [cx - radius - 3 - wide, cy - 7], [cx - wide / 2, cy - radius - 15], [cx - wide / 2, cy + radius + 1]]) {
        const box = [left, up, left + wide, up + 14];
        if (box[0] < 0 || box[2] > width || box[1] < 0 || box[3] > height || !free(box)) continue;
        put(box);
        svg.append(shape("text", { class: "label", x: left, y: up + 11 }, text));
        break;
      }
    }
  }

  point(event) {
    if (!this.svg) return;
    const box = this.svg.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    let best = -1, nearest = 22 ** 2;
    this.at.forEach(([cx, cy], i) => {
      const square = (cx - px) ** 2 + (cy - py) ** 2;
      if (square < nearest) [best, nearest] = [i, square];
    });
    if (best >= 0 && best !== this.own) this.show(best);
  }

  /* The nearest sample in the direction of the arrow. */
  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    if (this.own < 0) return this.show(0);
    const [ox, oy] = this.at[this.own];
    let best = -1, least = Infinity;
    this.at.forEach(([cx, cy], i) => {
      const along = (cx - ox) * step[0] + (cy - oy) * step[1], across = Math.abs((cx - ox) * step[1]) + Math.abs((cy - oy) * step[0]);
      if (i !== this.own && along > 0 && across <= 2 * along && along + across < least) [best, least] = [i, along + across];
    });
    if (best >= 0) this.show(best);
  }

  show(i, says = true) {
    for (const mark of this.marks) mark.classList.remove("here", "near");
    this.lines.replaceChildren();
    if (i < 0) return;
    this.own = i;
    const near = this.found.neighbors[i], [x1, y1] = this.at[i];
    for (const j of near) {
      const [x2, y2] = this.at[j];
      this.lines.append(shape("line", { x1, y1, x2, y2 }));
      this.marks[j].classList.add("near");
    }
    this.marks[i].classList.add("here");
    if (!says) return;
    const values = aligned(this.found.values[i]);
    const rows = [["Sample", node("strong", {}, this.name(i))], ["Class", chip(this.label(i))]];
    const list = node("ol", { class: "near" }, ...near.map((j, k) => node("li", {}, node("span", {}, this.name(j)), node("span", { class: "count" }, values[k]), chip(this.label(j)))));
    rows.push(["Nearest", list]);
    this.readout.replaceChildren(...rows.map(([head, value]) => node("div", {}, node("dt", {}, head), node("dd", {}, value))));
  }
}
