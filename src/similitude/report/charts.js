/* Functions that the pictures share, and the pictures. Text from the data is only ever set as text nodes. */
const data = JSON.parse(document.getElementById("data").textContent);

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function shape(tag, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function number(value, digits = 4) {
  if (value === null || value === undefined) return "not defined";
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e6 || size < 1e-4)
    ? value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "\u2212");
}

/* The numbers of a column, all with as many decimals as the largest needs to show this many digits. */
function aligned(values, digits = 4) {
  const largest = Math.max(...values.map(Math.abs));
  if (!(largest >= 1e-4 && largest < 1e6)) return values.map((value) => number(value, digits));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(largest)));
  return values.map((value) => value.toFixed(decimals).replace("-", "\u2212"));
}

/* Five shapes of ten colours. */
const colorClass = (label) => `c${label % 10} s${Math.floor(label / 10) % 5}`;
const shortened = (text, letters) => text.length <= letters ? text : text.slice(0, Math.max(letters - 1, 1)) + "…";

function chip(label) {
  return node("span", { class: `chip ${colorClass(label)}` }, node("span", { class: "dot" }), data.classes[label]);
}

/* Draw at the width available, and again when it changes, so that text keeps its size on small screens. */
function plot(id, heightAt, draw) {
  const host = document.getElementById(id);
  if (!host) return () => {};
  let last = 0;
  const redraw = () => {
    const height = heightAt(last);
    const svg = shape("svg", { height, role: "img", "aria-label": host.dataset.label });
    draw(svg, last, height);
    host.replaceChildren(svg);
  };
  new ResizeObserver(() => {
    if (host.clientWidth === last || host.clientWidth === 0) return;
    last = host.clientWidth;
    redraw();
  }).observe(host);
  return () => last && redraw();
}

function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step);
  return found;
}

/* Draw axes, the title of the vertical one above it, and return the scales. */
function axes(svg, width, height, x, y) {
  const labels = y.ticks.map((tick) => number(tick, 3));
  const box = { left: 10 + 7.2 * Math.max(...labels.map((l) => l.length)), right: width - 10, top: 26, bottom: height - 40 };
  const atX = (v) => box.left + (v - x.low) / (x.high - x.low) * (box.right - box.left);
  const atY = y.at ? (v) => y.at(v, box) : (v) => box.bottom - (v - y.low) / (y.high - y.low) * (box.bottom - box.top);
  svg.append(shape("text", { x: 0, y: 10 }, y.label));
  y.ticks.forEach((tick, i) => {
    svg.append(shape("line", { class: "grid", x1: box.left, x2: box.right, y1: atY(tick), y2: atY(tick) }));
    svg.append(shape("text", { class: "end", x: box.left - 6, y: atY(tick) + 4 }, labels[i]));
  });
  for (const tick of x.ticks) {
    svg.append(shape("line", { class: "axis", x1: atX(tick), x2: atX(tick), y1: box.bottom, y2: box.bottom + 4 }));
    svg.append(shape("text", { class: "middle", x: atX(tick), y: box.bottom + 17 }, number(tick, 3)));
  }
  svg.append(shape("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  svg.append(shape("text", { class: "end", x: box.right, y: height - 6 }, x.label));
  return { atX, atY, box };
}

/* Ticks for a square-root scale: values 1, 2, 5, 10, ... from the largest down whose marks are a gap apart. */
function rootTicks(largest, place, gap) {
  if (!(largest > 0)) return [];
  const found = [];
  let last = Infinity;
  for (let power = Math.floor(Math.log10(largest)); power > -320 && found.length < 6; power--) {
    for (const factor of [5, 2, 1]) {
      const value = factor * 10 ** power;
      if (value > largest || !(value > 0)) continue;
      const at = place(value);
      if (at < gap) return found;
      if (last - at >= gap) { found.push(value); last = at; }
    }
  }
  return found;
}

function drawSpectrum(svg, width, height) {
  const { before, after } = data.spectrum;
  const changed = after[document.querySelector("input[name=modification]:checked").value];
  const all = [...before, ...changed];
  const high = Math.max(0, ...all), low = Math.min(0, ...all), n = before.length;
  const root = (v) => Math.sign(v) * Math.sqrt(Math.abs(v) / (Math.max(high, -low) || 1));
  const span = (root(high) - root(low)) || 1, room = height - 66;
  const pixels = (v) => Math.abs(root(v)) / span * room;
  const marks = [...rootTicks(high, pixels, 24), 0, ...rootTicks(-low, pixels, 24).map((v) => -v)];
  const { atX, atY } = axes(svg, width, height,
    { low: 0, high: n, ticks: ticks(0, n, Math.min(5, n)).filter(Number.isInteger), label: data.spectrum.zeros ? "rank, zeros left out" : "rank" },
    { ticks: marks, label: "eigenvalue, square-root scale", at: (v, box) => box.bottom - (root(v) - root(low)) / span * (box.bottom - box.top) });
  const area = (values) => values.reduce((path, v, i) => `${path}V${atY(v).toFixed(1)}H${atX(i + 1).toFixed(1)}`, `M${atX(0)} ${atY(0)}`) + `V${atY(0)}Z`;
  svg.append(shape("path", { class: "area", d: area(before.map((v) => Math.max(v, 0))) }));
  if (before[n - 1] < 0) svg.append(shape("path", { class: "negative", d: area(before.map((v) => Math.min(v, 0))) }));
  const line = changed.reduce((path, v, i) => `${path}${i ? "V" : "M" + atX(0) + " "}${atY(v).toFixed(1)}H${atX(i + 1).toFixed(1)}`, "");
  svg.append(shape("path", { class: "line", d: line }));
}

function drawSeparation(svg, width, height) {
  const { low, high, rows } = data.separation;
  const left = 4, right = width - 10, top = 22, bottom = height - 40, step = (bottom - top) / rows.length;
  const atX = (v) => left + (v - low) / (high - low) * (right - left);
  svg.append(shape("text", { x: 0, y: 10 }, "pairs within the class (filled), to others (outlined)"));
  for (const tick of ticks(low, high, Math.max(4, Math.min(7, width / 80)))) {
    svg.append(shape("line", { class: "grid", x1: atX(tick), x2: atX(tick), y1: top, y2: bottom + 4 }));
    svg.append(shape("text", { class: "middle", x: Math.max(atX(tick), 10), y: bottom + 17 }, number(tick, 3)));
  }
  svg.append(shape("text", { class: "end", x: right, y: height - 6 }, "similarity"));
  rows.forEach((row, r) => {
    const floor = top + (r + 1) * step - 2, tall = step - 26;
    const parts = [row.within, row.between].map((counts) => {
      const total = counts.reduce((a, b) => a + b, 0);
      return counts.map((count) => total ? count / total : 0);
    });
    const most = Math.max(...parts[0], ...parts[1]) || 1, bins = parts[0].length;
    const path = (shares) => shares.reduce((d, share, i) =>
      `${d}V${(floor - share / most * tall).toFixed(1)}H${(left + (i + 1) / bins * (right - left)).toFixed(1)}`, `M${left} ${floor}`) + `V${floor}`;
    svg.append(shape("path", { class: `own ${colorClass(row.label)}`, d: path(parts[0]) }));
    svg.append(shape("path", { class: "others", d: path(parts[1]) }));
    svg.append(shape("line", { class: "axis", x1: left, x2: right, y1: floor, y2: floor }));
    const means = row.means.map((m) => number(m, 3));
    const summary = width > 420 ? `mean ${means[0]} within, ${means[1]} to others` : `${means[0]} / ${means[1]}`;
    svg.append(shape("circle", { class: `swatch ${colorClass(row.label)}`, cx: 8, cy: floor - tall - 10, r: 4 }));
    svg.append(shape("text", { class: "strong", x: 18, y: floor - tall - 6 }, shortened(data.classes[row.label], Math.floor((width - 40) / 7.5 - summary.length))));
    svg.append(shape("text", { class: "end", x: right, y: floor - tall - 6 }, summary));
  });
}

function drawHubness(svg, width, height) {
  const { n_neighbors: k, width: step, counts } = data.hubness;
  const most = Math.max(...counts), high = counts.length * step;
  const { atX, atY, box } = axes(svg, width, height,
    { low: 0, high, ticks: ticks(0, high, 6).filter(Number.isInteger), label: `lists of ${k} neighbours that a sample is in` },
    { low: 0, high: most, ticks: ticks(0, most, 4).filter(Number.isInteger), label: "samples" });
  counts.forEach((count, i) => {
    if (!count) return;
    const gap = atX(step) - atX(0) > 4 ? 1 : 0;
    const bar = shape("rect", { class: "bar", x: atX(i * step) + gap / 2, width: Math.max(atX(step) - atX(0) - gap, 1), y: atY(count), height: box.bottom - atY(count) });
    const range = step === 1 ? `${i}` : `${i * step} to ${(i + 1) * step - 1}`;
    bar.append(shape("title", {}, `${count} samples in ${range} lists`));
    svg.append(bar);
  });
}

function drawGoodness(svg, width, height) {
  const { gammas, epsilons, low, high, pseudo_gamma: mean } = data.goodness;
  const { atX, atY, box } = axes(svg, width, height,
    { low: -1, high: 1, ticks: [-1, -0.5, 0, 0.5, 1], label: "margin γ" },
    { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1], label: "share ε of samples with a margin below γ" });
  const steps = (values) => values.map((v, i) => `${i ? "L" : "M"}${atX(gammas[i]).toFixed(1)} ${atY(v).toFixed(1)}`).join("");
  const back = [...low.keys()].reverse().map((i) => `L${atX(gammas[i]).toFixed(1)} ${atY(low[i]).toFixed(1)}`).join("");
  svg.append(shape("path", { class: "band", d: steps(high) + back + "Z" }));
  svg.append(shape("line", { class: "zero", x1: atX(0), x2: atX(0), y1: box.top, y2: box.bottom }));
  svg.append(shape("path", { class: "line", d: steps(epsilons) }));
  const at = gammas.findIndex((g) => g >= mean);
  const y = atY(epsilons[at < 0 ? epsilons.length - 1 : at]);
  svg.append(shape("circle", { class: "mark", cx: atX(mean), cy: y, r: 5 }));
}

/* A curve between 0 and 1 in both directions, a dotted line of guesses between two heights, and the mark of a decision. */
function drawRates(svg, width, height, path, labels, guesses, mark) {
  const all = [0, 0.25, 0.5, 0.75, 1];
  const { atX, atY } = axes(svg, width, height,
    { low: 0, high: 1, ticks: all, label: labels[0] }, { low: 0, high: 1, ticks: all, label: labels[1] });
  svg.append(shape("line", { class: "zero", x1: atX(0), x2: atX(1), y1: atY(guesses[0]), y2: atY(guesses[1]) }));
  svg.append(shape("path", { class: "line", d: path((v) => atX(v).toFixed(1), (v) => atY(v).toFixed(1)) }));
  if (mark[1] !== null) svg.append(shape("circle", { class: "mark", cx: atX(mark[0]), cy: atY(mark[1]), r: 5 }));
}

const squareHeight = (width) => Math.min(width, 400);

function drawRoc(svg, width, height) {
  const { roc: [x, y], decided } = data.curves;
  const path = (atX, atY) => x.map((v, i) => `${i ? "L" : "M"}${atX(v)} ${atY(y[i])}`).join("");
  drawRates(svg, width, height, path, ["share of the others above the threshold", "share of the class above the threshold"], [0, 1], decided.slice(0, 2));
}

function drawPrecision(svg, width, height) {
  const { precision: [x, y], share, decided } = data.curves;
  const path = (atX, atY) => x.map((v, i) => i ? `H${atX(v)}V${atY(y[i])}` : `M${atX(v)} ${atY(y[i])}`).join("");
  drawRates(svg, width, height, path, ["recall", "precision"], [share, share], decided.slice(1));
}

function drawRisk(svg, width, height) {
  const { shares, errors, points } = data.risk;
  const usual = errors.filter((_, i) => shares[i] >= 0.1);
  const top = Math.min(1, Math.max(0.02, 1.5 * Math.max(0, ...usual)));
  const { atX, atY } = axes(svg, width, height,
    { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1], label: "share of samples that are predicted" },
    { low: 0, high: top, ticks: ticks(0, top, 4), label: "error among them" });
  const d = shares.map((v, i) => `${i ? "L" : "M"}${atX(v).toFixed(1)} ${atY(Math.min(errors[i], top)).toFixed(1)}`).join("");
  svg.append(shape("path", { class: "line", d }));
  const named = new Map();
  for (const [share, error, precision] of points) {
    const place = `${share} ${error}`;
    named.set(place, { share, error, names: [...(named.get(place)?.names ?? []), precision] });
  }
  for (const { share, error, names } of named.values()) {
    const x = atX(share), y = atY(Math.min(error, top));
    svg.append(shape("circle", { class: "mark", cx: x, cy: y, r: 5 }));
    svg.append(shape("text", { class: "end", x: x - 8, y: y - 8 }, names.join(", ")));
  }
}

const namesWidth = (width) => data.classes.length <= 40 ? Math.min(96, width / 4) : 0;
const confusionHeight = (width) => Math.min(width - namesWidth(width), 520);

function drawConfusion(svg, width, height) {
  const G = data.classes.length, edge = 12, names = namesWidth(width), side = height - edge - 4, cell = side / G, left = names + edge;
  data.classes.forEach((label, i) => {
    svg.append(shape("rect", { class: `swatch ${colorClass(i)}`, x: names, y: edge + i * cell, width: 7, height: Math.max(cell - 1, 1) }));
    svg.append(shape("rect", { class: `swatch ${colorClass(i)}`, x: left + i * cell, y: 0, width: Math.max(cell - 1, 1), height: 7 }));
    if (names) svg.append(shape("text", { class: "end", x: names - 6, y: edge + (i + 0.5) * cell + 4 }, shortened(label, Math.floor(names / 7))));
  });
  for (const [truth, predicted, count, share] of data.confusion) {
    const rect = shape("rect", {
      class: truth === predicted ? "right" : "wrong", x: left + predicted * cell, y: edge + truth * cell,
      width: Math.max(cell - 1, 1), height: Math.max(cell - 1, 1), "fill-opacity": 0.12 + 0.88 * Math.sqrt(share),
    });
    rect.append(shape("title", {}, `${data.classes[truth]} predicted as ${data.classes[predicted]}: ${count}`));
    svg.append(rect);
  }
  svg.append(shape("rect", { class: "grid", x: left, y: edge, width: side, height: side, fill: "none" }));
}
