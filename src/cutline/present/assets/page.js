"use strict";
// Glue between the controls, the table and the charts. All numbers come from the page's data; what is computed here
// (rates, lift, profit) is the plain arithmetic of hits, places, cost and value.
(() => {
  const data = JSON.parse(document.getElementById("cutline-data").textContent);
  const $ = (id) => document.getElementById(id);
  const { stops, rows, models, charts } = data;
  const positives = models.length ? models[0].positives : 0;
  const views = {};
  const state = { at: data.start, cost: data.cost, value: data.value, log: data.log, banded: null, shown: models.map(() => true) };
  const typed = { quota: null };

  const whole = (v) => Math.abs(v - Math.round(v)) < 1e-9;
  const fixed = (v, d) => v.toLocaleString("en-US", { minimumFractionDigits: d, maximumFractionDigits: d });
  const number = (v) => (whole(v) ? fixed(Math.round(v), 0) : fixed(v, 1));
  const counted = (v, one) => number(v) + " " + one + (whole(v) && Math.round(v) === 1 ? "" : "s");
  const bound = (v) => fixed(v, v < 1000 ? 1 : 0);
  const money = (v) => fixed(v, Math.abs(v) < 1000 && !whole(v) ? 2 : 0).replace("-", "−");
  const percent = (v) => (Number.isFinite(v) ? fixed(100 * v, 1) + "\u202f%" : "–");
  const hasProfit = () => Number.isFinite(state.cost) && Number.isFinite(state.value);

  const interval = (model, i) => [model.expected[0][i], model.expected[1][i]];

  // One model at one stop.
  function point(model, i) {
    const q = stops[i];
    const share = positives / rows, hits = model.hits[i];
    const profit = (h) => (hasProfit() ? state.value * h - state.cost * q : 0);
    const row = {
      m: String(models.indexOf(model)), q, hits, rate: hits / q, qrecall: positives ? hits / positives : NaN,
      lift: share ? hits / q / share : NaN, profit: profit(hits),
    };
    return row;
  }
  function spread(model, i) {
    const q = stops[i], share = positives / rows, row = point(model, i);
    const [low, high] = interval(model, i);
    const [least, most] = [model.found[0][i], model.found[1][i]];
    [["_low", low, least], ["_high", high, most]].forEach(([end, hits, found]) => {
      row["hits" + end] = hits;
      row["rate" + end] = hits / q;
      row["qrecall" + end] = found;  // of the positives, whose number varies too: its own interval
      row["lift" + end] = (found * rows) / q;
      row["profit" + end] = hasProfit() ? state.value * hits - state.cost * q : 0;
    });
    return row;
  }
  const shownModels = () => models.filter((_, k) => state.shown[k]);
  const curveRows = () => shownModels().flatMap((model) => model.drawn.map((i) => point(model, i)));
  const bandRows = (k) => (k < 0 ? [] : models[k].drawn.map((i) => spread(models[k], i)));
  const markerRows = () => shownModels().map((model) => point(model, state.at));

  function nearest(quota) {
    let low = 0, high = stops.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (stops[middle] < quota) low = middle + 1; else high = middle;
    }
    return low > 0 && quota - stops[low - 1] <= stops[low] - quota ? low - 1 : low;
  }

  function leaders(i) {
    const found = models.map((model) => model.hits[i]);
    const most = Math.max(...found.filter((_, k) => state.shown[k]));
    return models.map((_, k) => state.shown[k] && most - found[k] < 1e-9);
  }

  function inWords(i, leads) {
    const names = models.filter((_, k) => leads[k]).map((model) => model.name);
    const best = models[leads.indexOf(true)];
    if (!best) return "No model is chosen.";
    const [low, high] = interval(best, i).map(bound);
    const who = models.length === 1 ? "" : names.length === 1 ? `${names[0]} finds most: ` : `${names.join(" and ")} are tied: `;
    const share = `${percent(best.hits[i] / positives)} of the ${counted(positives, "positive")}`;
    return `With ${counted(stops[i], "place")}, ${who}${counted(best.hits[i], "hit")} (${low} to ${high}), ${share}.`;
  }

  // The stop with the highest profit of all models shown.
  function mostProfit() {
    let best = { worth: -Infinity };
    models.forEach((model, k) => {
      if (!state.shown[k]) return;
      model.hits.forEach((hits, i) => {
        const worth = state.value * hits - state.cost * stops[i];
        if (worth > best.worth + 1e-9) best = { worth, i, name: model.name };
      });
    });
    return best;
  }
  function showBest() {
    $("best").hidden = !hasProfit();
    if (!hasProfit()) return;
    const key = [state.cost, state.value, ...state.shown].join();
    if (state.bestKey !== key) { state.bestKey = key; state.best = mostProfit(); }
    if (state.best.i === undefined) { $("best").hidden = true; return; }
    const who = models.length > 1 ? ` (${state.best.name})` : "";
    $("best-words").textContent = state.best.worth > 0
      ? `Most profit: ${money(state.best.worth)} at ${counted(stops[state.best.i], "place")}${who}.`
      : "No number of places makes a profit.";
  }

  // The cut that keeps what the reader asks for: with the fewest places for a recall, with the most for all else.
  const keeps = {
    recall: (hits, q, share) => hits >= share * positives - 1e-9,
    precision: (hits, q, share) => hits >= share * q - 1e-9,
    specificity: (hits, q, share) => q - hits <= (1 - share) * (rows - positives) + 1e-9,
    fpr: (hits, q, share) => q - hits <= share * (rows - positives) + 1e-9,
  };
  function promise() {
    const goal = $("goal").value, share = read("goal-value") / 100, words = $("promise");
    if (!(goal in keeps) || !Number.isFinite(share)) { words.textContent = ""; return; }
    let best = null;
    models.forEach((model, k) => {
      if (!state.shown[k]) return;
      const kept = stops.map((q, i) => i).filter((i) => keeps[goal](model.hits[i], stops[i], share));
      const i = goal === "recall" ? kept[0] : kept[kept.length - 1];
      if (i === undefined) return;
      if (best === null || (goal === "recall" ? i < best.i : i > best.i)) best = { i, name: model.name };
    });
    const name = $("goal").selectedOptions[0].textContent;
    if (best === null) { words.textContent = `No cut keeps a ${name} ${percent(share)}.`; return; }
    const who = models.length > 1 ? `${best.name} keeps` : "This cut keeps";
    words.textContent = `${who} a ${name} ${percent(share)} with ${counted(stops[best.i], "place")}. It was chosen on these data: on new data it keeps that promise only about half the time.`;
    typed.quota = null;
    choose(best.i);
  }

  // What a chart shows at the chosen quota, for those who cannot see it, and below it for those who can.
  const spoken = {
    gain: (p) => number(p.hits), hit_rate: (p) => percent(p.rate), qrecall: (p) => percent(p.qrecall),
    lift: (p) => fixed(p.lift, 2), profit: (p) => money(p.profit),
  };
  function describe() {
    const points = markerRows(), places = counted(stops[state.at], "place");
    for (const [kind, say] of Object.entries(spoken)) {
      const figure = $("figure-" + kind), words = points.map((p) => `${models[p.m].name} ${say(p)}`).join("; ");
      const told = `At ${places}: ${words}.`;
      figure.querySelector("figcaption").textContent = told;
      $("chart-" + kind).setAttribute("aria-label", `${figure.querySelector("h3").textContent}. ${told}`);
    }
  }

  const rowsOf = {};
  for (const row of document.querySelectorAll("#at tbody tr")) rowsOf[row.dataset.row] = [...row.querySelectorAll("td")];
  const heads = [...document.querySelectorAll("#at thead th[data-model]")];
  const put = (cell, text, small) => {
    const parts = cell.childNodes;
    if (parts[0].data !== text) parts[0].data = text;
    if (small !== undefined && parts[1].textContent !== small) parts[1].textContent = small;
  };

  function fillTable() {
    const i = state.at, q = stops[i], leads = leaders(i);
    models.forEach((model, k) => {
      heads[k].hidden = !state.shown[k];
      for (const cells of Object.values(rowsOf)) cells[k].hidden = !state.shown[k];
      if (!state.shown[k]) return;
      const hits = model.hits[i], [low, high] = interval(model, i);
      const tie = model.worst && model.worst[i] !== model.best[i]
        ? `tie: ${number(model.worst[i])} to ${number(model.best[i])} hits` : "";
      put(rowsOf.hits[k], number(hits), `${bound(low)} to ${bound(high)}`);
      put(rowsOf.threshold[k], model.threshold[i] === null ? "takes all" : String(model.threshold[i]), tie);
      put(rowsOf.next[k], `${number(model.next[0][i])} to ${number(model.next[1][i])}`);
      put(rowsOf.missed[k], number(positives - hits));
      put(rowsOf.wrong[k], number(q - hits));
      put(rowsOf.spared[k], number(rows - positives - q + hits));
      put(rowsOf.rate[k], percent(hits / q), `${percent(low / q)} to ${percent(high / q)}`);
      const found = model.found.map((ends) => percent(ends[i]));
      put(rowsOf.qrecall[k], positives ? percent(hits / positives) : "–", positives ? found.join(" to ") : "");
      put(rowsOf.lift[k], positives ? fixed(hits / q / (positives / rows), 2) : "–");
      if (hasProfit()) {
        const worth = (h) => state.value * h - state.cost * q;
        put(rowsOf.profit[k], money(worth(hits)), `${money(worth(low))} to ${money(worth(high))}`);
      }
      if (rowsOf.leads) {
        put(rowsOf.leads[k], leads[k] ? "most" : "");
        rowsOf.leads[k].classList.toggle("leads", leads[k]);
      }
    });
    $("row-profit").hidden = !hasProfit();
    showBest();
    $("now").textContent = inWords(i, leads);
    describe();
    const asked = typed.quota;
    $("exact").textContent = asked !== null && asked !== q
      ? `Figures are kept for ${fixed(stops.length, 0)} quotas; the nearest to ${number(asked)} is ${number(q)}.` : "";
    $("share").textContent = `= ${percent(q / rows)} of ${number(rows)}`;
    $("slider").value = i;
    $("slider").setAttribute("aria-valuetext", counted(q, "place"));
    if (document.activeElement !== $("quota") || typed.quota === null) $("quota").value = q;
  }

  const leader = () => leaders(state.at).indexOf(true);
  function drawMarkers() {
    const marks = markerRows(), cut = [{ q: stops[state.at] }], first = leader();
    const band = first === state.banded ? null : bandRows(first);
    state.banded = first;
    return Promise.all(charts.filter((c) => views[c.id] && c.linked).map((c) => {
      if (band) views[c.id].data("band", band);
      return views[c.id].data("marker", marks).data("cut", cut).runAsync();
    }));
  }
  function drawCurves() {
    const curve = curveRows();
    state.banded = null;
    for (const c of charts) if (views[c.id] && c.linked) views[c.id].data("curve", curve);
    return drawMarkers();
  }
  function asRows(columns) {
    const names = Object.keys(columns);
    return names.length ? columns[names[0]].map((_, k) => Object.fromEntries(names.map((name) => [name, columns[name][k]]))) : [];
  }

  async function embed(chart) {
    const spec = structuredClone(chart.spec);
    const sets = chart.linked
      ? { curve: curveRows(), band: bandRows(leader()), marker: markerRows(), cut: [{ q: stops[state.at] }] }
      : { points: asRows(chart.points) };
    for (const set of spec.data) if (set.name in sets) set.values = sets[set.name];
    if (chart.linked) {
      const across = spec.scales.find((scale) => scale.name === "x");
      Object.assign(across, state.log ? { type: "log", domain: [1, rows], zero: false } : { type: "linear", domain: [0, rows] });
    }
    if (views[chart.id]) views[chart.id].finalize();
    const done = await vegaEmbed($(chart.id).firstElementChild, spec, {
      actions: false, ast: true, renderer: "svg", tooltip: false, hover: false, mode: "vega",
    });
    views[chart.id] = done.view;
    if (chart.linked) {
      done.view.addEventListener("click", (event) => {
        const box = $(chart.id).querySelector("svg").getBoundingClientRect();
        const x = (event.clientX - box.left) * (done.view.width() + done.view.padding().left + done.view.padding().right) / box.width - done.view.origin()[0];
        typed.quota = null;
        choose(nearest(Math.round(done.view.scale("x").invert(x))));
      });
    }
  }

  let waiting = false;
  function choose(i) {
    state.at = Math.max(0, Math.min(stops.length - 1, i));
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(async () => {
      const began = performance.now();
      waiting = false;
      fillTable();
      await drawMarkers();
      document.documentElement.dataset.stepMs = (performance.now() - began).toFixed(2);
      document.documentElement.dataset.shownQuota = stops[state.at];
    });
  }

  const read = (id) => ($(id).value === "" ? NaN : Number($(id).value));
  async function money_changed() {
    const before = hasProfit();
    state.cost = read("cost");
    state.value = read("value");
    $("figure-profit").hidden = !hasProfit();
    fillTable();
    if (hasProfit() && !before) await embed(charts.find((c) => c.id === "chart-profit"));
    await drawCurves();
    document.documentElement.dataset.profit = hasProfit();
  }

  async function explore() {
    $("slider").addEventListener("input", () => { typed.quota = null; choose(Number($("slider").value)); });
    $("quota").addEventListener("input", () => {
      const wanted = read("quota");
      if (!Number.isFinite(wanted) || wanted < 1) return;
      typed.quota = Math.min(Math.round(wanted), rows);
      choose(nearest(typed.quota));
    });
    $("best-go").addEventListener("click", () => { typed.quota = null; choose(state.best.i); });
    $("quota").addEventListener("change", () => { $("quota").value = stops[state.at]; });
    for (const id of ["goal", "goal-value"]) $(id).addEventListener("input", promise);
    for (const id of ["cost", "value"]) $(id).addEventListener("input", money_changed);
    document.querySelectorAll(".models input").forEach((box, k) => {
      box.addEventListener("change", () => { state.shown[k] = box.checked; fillTable(); drawCurves(); });
    });
    $("log").addEventListener("change", async () => {
      state.log = $("log").checked;
      for (const c of charts) if (c.linked && views[c.id]) await embed(c);
    });
    $("figure-profit").hidden = !hasProfit();
    fillTable();
    for (const c of charts) if (c.linked && (c.id !== "chart-profit" || hasProfit())) await embed(c);
  }

  async function main() {
    if ($("slider")) await explore();  // a weighted sample has no places to count, so no explorer
    document.documentElement.dataset.ready = performance.now().toFixed(0);
    // The charts further down follow one by one, so that the controls answer meanwhile.
    for (const c of charts) {
      if (c.linked) continue;
      await new Promise((next) => setTimeout(next));
      await embed(c);
    }
    document.documentElement.dataset.complete = performance.now().toFixed(0);
  }
  main().catch((error) => {
    document.documentElement.dataset.failed = String(error);
    if ($("now")) $("now").textContent = "The charts could not be drawn: " + error.message;
    throw error;
  });
})();
