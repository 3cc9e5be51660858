/* Draws the pictures, sorts the leaderboard, lists the misclassified samples. */
function sortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => {
    const { value } = row.cells[i].dataset;
    return value === undefined || value === "" ? null : Number.isNaN(Number(value)) ? value.toLowerCase() : Number(value);
  };
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [key(row, i), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // unknown values come last in either order
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    body.append(...rows.map(([, row]) => row));
  }));
}

const percent = (share) => `${number(100 * share, 3)}%`;

function meter(share, label) {
  const bar = node("div", { class: `${share < 0 ? "minus" : ""} ${colorClass(label)}` });
  bar.style.width = `${Math.min(Math.abs(share), 1) * 100}%`;
  return node("td", { class: "meter", "aria-hidden": "true" }, bar);
}

function tableOf(title, heads, rows) {
  const head = node("tr", {}, ...heads.map(([text, kind]) => node("th", { scope: "col", class: kind }, text)));
  return node("div", {}, node("h3", {}, title), node("table", {}, node("thead", {}, head), node("tbody", {}, ...rows)));
}

function detail(mistake, view) {
  const parts = [];
  if (mistake.posteriors) {
    parts.push(tableOf("Posteriors", [["Class", ""], ["", ""], ["", "number"]], mistake.posteriors.map(([label, p]) =>
      node("tr", {}, node("th", { scope: "row" }, chip(label)), meter(p, label), node("td", { class: "number" }, percent(p))))));
  }
  if (mistake.members) {
    parts.push(tableOf("Members", [["Method", ""], ["Predicted", ""], ["Posterior", "number"], ["Weight", "number"]],
      mistake.members.map(([label, p], i) => node("tr", {}, node("th", { scope: "row" }, data.members[i][0]), node("td", {}, chip(label)),
        node("td", { class: "number" }, percent(p)), node("td", { class: "number" }, data.members[i][1].toFixed(2))))));
  }
  const voting = mistake.neighbors[0].length > 2;
  const most = voting ? Math.max(...mistake.neighbors.map(([, , w]) => Math.abs(w))) || 1 : 1;
  const [similarities, weights] = (voting ? [1, 2] : [1]).map((i) => aligned(mistake.neighbors.map((neighbor) => neighbor[i]), 5 - i));
  const neighbors = mistake.neighbors.map(([sample, , weight], i) => node("tr", {},
    node("th", { scope: "row" }, data.names[sample]), node("td", {}, chip(data.labels[sample])),
    node("td", { class: "number" }, similarities[i]),
    ...(voting ? [node("td", { class: "number" }, weights[i]), meter(weight / most, data.labels[sample])] : [])));
  const heads = [["Sample", ""], ["Class", ""], ["Similarity", "number"], ...(voting ? [["Weight", "number"], ["", ""]] : [])];
  parts.push(tableOf("Nearest neighbours", heads, neighbors));
  const foot = node("p", { class: "note foot" });
  const totals = mistake.votes.map(([label, total]) => `${data.classes[label]} ${number(total, 3)}`).join(", ");
  const more = voting && mistake.voting > mistake.neighbors.length ? `These are the nearest ${mistake.neighbors.length} of ${mistake.voting} neighbours that vote. ` : "";
  foot.append(voting ? `${more}Total weight: ${totals}. ` : `Classes of the ${mistake.voting} nearest neighbours: ${totals}. `);
  if (view && view.place.has(mistake.sample)) {
    const button = node("button", { type: "button" }, "Find in the matrix");
    button.addEventListener("click", () => view.find(mistake.sample, mistake.neighbors[0][0]));
    foot.append(button);
  }
  return node("div", { class: mistake.members ? "detail three" : "detail" }, ...parts, foot);
}

function listMistakes(view) {
  const list = document.getElementById("mistake-list"), more = document.getElementById("mistakes-more");
  if (!list) return;
  const filter = document.getElementById("mistakes-filter"), count = document.getElementById("mistakes-count"), page = 20;
  let found = [], shown = 0;
  const item = (mistake) => {
    const { sample, predicted, posteriors } = mistake, p = posteriors && posteriors.find(([label]) => label === predicted);
    const summary = node("summary", {}, node("span", { class: "name" }, data.names[sample]),
      node("span", { class: "verdict" }, chip(data.labels[sample]), node("span", { class: "taken" }, " predicted as "), chip(predicted)),
      node("span", { class: "sure" }, p ? percent(p[1]) : ""));
    const made = node("details", {}, summary);
    made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) made.append(detail(mistake, view)); });
    return node("li", {}, made);
  };
  const extend = () => {
    list.append(...found.slice(shown, shown + page).map(item));
    shown = Math.min(shown + page, found.length);
    more.hidden = shown === found.length;
    more.textContent = `Show ${Math.min(page, found.length - shown)} more`;
    count.textContent = `${shown} of ${found.length} shown`;
  };
  const restart = () => {
    const wanted = filter.value.toLowerCase();
    found = data.mistakes.filter(({ sample, predicted }) =>
      [data.names[sample], data.classes[data.labels[sample]], data.classes[predicted]].some((text) => text.toLowerCase().includes(wanted)));
    shown = 0;
    list.replaceChildren();
    extend();
  };
  filter.addEventListener("input", restart);
  more.addEventListener("click", () => {
    const first = shown;
    extend();
    list.children[first].querySelector("summary").focus();
  });
  restart();
}

function copyButton() {
  const button = document.getElementById("copy"), code = document.getElementById("code-lines");
  if (!button) return;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2500);
  });
}

async function start() {
  const redraw = plot("spectrum-plot", () => 300, drawSpectrum);
  for (const choice of document.querySelectorAll("input[name=modification]")) choice.addEventListener("change", redraw);
  plot("separation-plot", () => 70 + 72 * data.separation.rows.length, drawSeparation);
  if (data.map) new MapView(document.getElementById("map-plot"), document.getElementById("map-readout"));
  if (data.hubness) plot("hubness-plot", () => 260, drawHubness);
  if (data.goodness) plot("goodness-plot", () => 300, drawGoodness);
  if (data.curves) {
    plot("roc-plot", squareHeight, drawRoc);
    plot("precision-plot", squareHeight, drawPrecision);
  }
  if (data.risk) plot("risk-plot", squareHeight, drawRisk);
  if (data.confusion) plot("confusion-plot", confusionHeight, drawConfusion);
  const table = document.getElementById("leaderboard");
  if (table) sortable(table);
  copyButton();
  let view = null;
  const canvas = document.getElementById("matrix-canvas");
  if (typeof DecompressionStream === "undefined") {
    canvas.replaceWith(node("p", { class: "notice" }, "This browser cannot unpack the matrix: it lacks DecompressionStream. Any browser from 2023 on has it."));
    for (const control of document.querySelectorAll(".matrix .controls button")) control.disabled = true;
  } else {
    view = new MatrixView(canvas, await unpacked());
  }
  listMistakes(view);
  document.documentElement.dataset.ready = "yes";
}

start();
