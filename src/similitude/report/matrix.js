/* The matrix on a canvas: zoom, drag, hover, and a cell that arrow keys move. */
const EDGE = 14; // width of the strips that show the classes, with a gap, in CSS pixels

async function unpacked() {
  const text = document.getElementById("levels").textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const { bits, triangle } = data.matrix, n = data.order.length;
  let values = new Uint8Array(buffer);
  if (bits === 16) {
    const view = new DataView(buffer);
    values = Uint16Array.from({ length: buffer.byteLength / 2 }, (_, i) => view.getUint16(2 * i, true));
  }
  if (!triangle) return values;
  const full = new values.constructor(n * n);
  for (let i = 0, at = 0; i < n; i++) for (let j = 0; j <= i; j++) full[i * n + j] = full[j * n + i] = values[at++];
  return full;
}

class MatrixView {
  constructor(canvas, levels) {
    this.canvas = canvas;
    this.levels = levels;
    this.n = data.order.length;
    this.view = { row: 0, column: 0, size: this.n };
    this.cell = null;
    this.place = new Map(data.order.map((sample, i) => [sample, i]));
    this.listen();
    this.theme();
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.theme(); this.draw(); });
  }

  value(row, column) {
    const { low, high, bits } = data.matrix, share = this.levels[row * this.n + column] / (2 ** bits - 1);
    return low * (1 - share) + high * share;
  }

  /* One colour for each level: the ramp spans the range of data.matrix.colors. */
  theme() {
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
    const stops = of("--ramp").split(",").map((hex) => [1, 3, 5].map((i) => parseInt(hex.trim().slice(i, i + 2), 16)));
    const { low, high, bits, colors } = data.matrix, count = 2 ** bits;
    this.colors = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const share = i / (count - 1), value = low * (1 - share) + high * share;
      const t = Math.min(Math.max((value - colors[0]) / (colors[1] - colors[0]), 0), 1);
      const at = Math.min(Math.floor(t * (stops.length - 1)), stops.length - 2), rest = t * (stops.length - 1) - at;
      const [r, g, b] = [0, 1, 2].map((c) => Math.round(stops[at][c] * (1 - rest) + stops[at + 1][c] * rest));
      this.colors[i] = (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    }
    this.classColors = [...Array(10).keys()].map((i) => of(`--c${i}`));
    this.drawn = null;
    this.ink = of("--ink"), this.paper = of("--bg"), this.mark = of("--warm");
  }

  draw() {
    const { canvas, view: { row, column, size } } = this;
    const side = canvas.clientWidth, ratio = devicePixelRatio || 1;
    if (!side) return;
    canvas.width = canvas.height = Math.round(side * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const room = side - EDGE, cells = Math.min(size, Math.round(room * ratio));
    const what = [row, column, size, cells].join();
    if (this.drawn !== what) { // when only the cell has moved, the picture is the same
      this.sheet = this.picture(cells);
      this.drawn = what;
    }
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.sheet, EDGE, EDGE, room, room);
    this.drawClasses(pen, room);
    if (this.cell) this.drawCell(pen, room);
  }

  /* The visible part of the matrix, this many pixels wide: a pixel is the mean of its cells. */
  picture(cells) {
    const { n, view: { row, column, size } } = this;
    const image = new ImageData(cells, cells), pixels = new Uint32Array(image.data.buffer);
    const starts = Array.from({ length: cells + 1 }, (_, i) => Math.floor(i * size / cells));
    for (let i = 0; i < cells; i++) {
      for (let j = 0; j < cells; j++) {
        let sum = 0;
        for (let r = row + starts[i]; r < row + starts[i + 1]; r++)
          for (let c = column + starts[j]; c < column + starts[j + 1]; c++) sum += this.levels[r * n + c];
        pixels[i * cells + j] = this.colors[Math.round(sum / ((starts[i + 1] - starts[i]) * (starts[j + 1] - starts[j])))];
      }
    }
    const sheet = document.createElement("canvas");
    sheet.width = sheet.height = cells;
    sheet.getContext("2d").putImageData(image, 0, 0);
    return sheet;
  }

  drawClasses(pen, room) {
    const { row, column, size } = this.view, unit = room / size;
    const label = (i) => data.labels[data.order[i]];
    for (const [first, across] of [[row, false], [column, true]]) {
      for (let i = first; i < first + size;) {
        let end = i;
        while (end < first + size && label(end) === label(i)) end++;
        const from = EDGE + (i - first) * unit, length = (end - i) * unit - (end < first + size ? 1 : 0);
        pen.fillStyle = this.classColors[label(i) % 10];
        pen.globalAlpha = [1, 0.5, 0.75, 0.35, 0.6][Math.floor(label(i) / 10) % 5];
        if (across) pen.fillRect(from, 0, length, EDGE - 4); else pen.fillRect(0, from, EDGE - 4, length);
        pen.globalAlpha = 1;
        if (end < first + size) {
          pen.fillStyle = this.paper;
          const at = EDGE + (end - first) * unit - 0.5;
          if (across) pen.fillRect(at, EDGE, 1, room); else pen.fillRect(EDGE, at, room, 1);
        }
        i = end;
      }
    }
  }

  drawCell(pen, room) {
    const { row, column, size } = this.view, unit = room / size, box = Math.max(unit, 5);
    const [x, y] = [this.cell.column - column, this.cell.row - row].map((i) => EDGE + (i + 0.5) * unit);
    pen.fillStyle = this.ink;
    pen.globalAlpha = 0.35;
    pen.fillRect(EDGE, y - 0.5, room, 1);
    pen.fillRect(x - 0.5, EDGE, 1, room);
    pen.globalAlpha = 1;
    pen.lineWidth = 4; pen.strokeStyle = this.paper; pen.strokeRect(x - box / 2, y - box / 2, box, box);
    pen.lineWidth = 2; pen.strokeStyle = this.mark; pen.strokeRect(x - box / 2, y - box / 2, box, box);
  }

  show(row, column, aloud = false) {
    this.cell = { row, column };
    const [first, second] = [row, column].map((i) => data.order[i]), value = number(this.value(row, column));
    const line = (sample) => [data.names[sample], node("br"), chip(data.labels[sample])];
    document.getElementById("readout").replaceChildren(
      node("div", {}, node("dt", {}, "Similarity"), node("dd", { class: "value" }, value)),
      node("div", {}, node("dt", {}, "Row"), node("dd", {}, ...line(first))),
      node("div", {}, node("dt", {}, "Column"), node("dd", {}, ...line(second))),
    );
    if (aloud) {
      const words = (sample) => `${data.names[sample]}, ${data.classes[data.labels[sample]]}`;
      document.getElementById("spoken").textContent = `${words(first)}; ${words(second)}: ${value}`;
    }
    this.draw();
  }

  zoom(factor, cell = this.cell) {
    const { row, column, size } = this.view, next = Math.round(Math.min(Math.max(size * factor, Math.min(this.n, 8)), this.n));
    const at = cell || { row: row + size / 2, column: column + size / 2 };
    this.look(at.row - (at.row - row) * next / size, at.column - (at.column - column) * next / size, next);
  }

  look(row, column, size = this.view.size) {
    const within = (v) => Math.round(Math.min(Math.max(v, 0), this.n - size));
    this.view = { row: within(row), column: within(column), size };
    this.canvas.classList.toggle("zoomed", size < this.n);
    document.getElementById("extent").textContent = size < this.n ? `${size} × ${size} of ${this.n} samples` : `all ${this.n} samples`;
    this.draw();
  }

  /* Zoom to the row of a sample and the column of another. */
  find(sample, other) {
    const row = this.place.get(sample), column = this.place.get(other) ?? row;
    const size = Math.min(this.n, Math.max(24, Math.round(this.n / 12)));
    this.look(row - size / 2, column - size / 2, size);
    this.show(row, column, true);
    this.canvas.scrollIntoView({ block: "center" });
    this.canvas.focus({ preventScroll: true });
  }

  under(event) {
    const box = this.canvas.getBoundingClientRect(), { row, column, size } = this.view, unit = (box.width - EDGE) / size;
    const index = (at, first) => Math.min(Math.max(first + Math.floor((at - EDGE) / unit), first), first + size - 1);
    return { row: index(event.clientY - box.top, row), column: index(event.clientX - box.left, column), unit };
  }

  listen() {
    const { canvas } = this;
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      grip = { x: event.clientX, y: event.clientY, ...this.view };
      const { row, column } = this.under(event);
      this.show(row, column);
    });
    canvas.addEventListener("pointermove", (event) => {
      const { row, column, unit } = this.under(event);
      if (grip && event.buttons && grip.size < this.n) {
        this.look(grip.row - (event.clientY - grip.y) / unit, grip.column - (event.clientX - grip.x) / unit);
      } else this.show(row, column);
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(name, () => { grip = null; });
    canvas.addEventListener("dblclick", (event) => this.zoom(0.5, this.under(event)));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.under(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.pressed(event));
    for (const [id, factor] of [["zoom-in", 0.5], ["zoom-out", 2], ["zoom-all", Infinity]])
      document.getElementById(id).addEventListener("click", () => this.zoom(factor));
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? Math.max(Math.round(this.view.size / 10), 2) : 1;
    const moves = { ArrowUp: [-far, 0], ArrowDown: [far, 0], ArrowLeft: [0, -far], ArrowRight: [0, far], Home: [0, -Infinity], End: [0, Infinity] };
    const zooms = { "+": 0.5, "=": 0.5, "-": 2, "0": Infinity };
    if (event.key in zooms) this.zoom(zooms[event.key]);
    else if (event.key in moves) {
      const start = this.cell || { row: this.view.row, column: this.view.column }, [down, right] = this.cell ? moves[event.key] : [0, 0];
      const within = (v) => Math.min(Math.max(v, 0), this.n - 1), row = within(start.row + down), column = within(start.column + right);
      const { size } = this.view, follow = (first, v) => Math.min(Math.max(first, v - size + 1), v);
      this.look(follow(this.view.row, row), follow(this.view.column, column));
      this.show(row, column, true);
    } else return;
    event.preventDefault();
  }
}
