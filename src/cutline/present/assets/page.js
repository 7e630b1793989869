// Glue between the controls, the table and the charts. All numbers come from the page's data; what is computed here
// (rates, lift, profit) is the plain arithmetic of hits, places, cost and value.
(async () => {
  const data = await unpacked("cutline-data");
  const $ = (id) => document.getElementById(id);
  const { rows } = data;

  // Columns are kept as steps of whole numbers; the intervals are counted from the hits, in the parts of a hit that can
  // be seen: 1/10,000 among few places or positives, 1/10 among many.
  const summed = (steps) => { let sum = 0; return steps.map((step) => (sum += step)); };
  const stops = summed(data.stops);
  const models = data.models.map((kept) => {
    const hits = summed(kept.hits).map((v) => v / kept.scale);
    const units = stops.map((q) => 10 ** Math.max(1, 5 - String(Math.min(q, kept.positives)).length));
    const near = (pair, unit) => pair && pair.map((steps) => summed(steps).map((v, i) => (v + Math.round(hits[i] * unit(i))) / unit(i)));
    const [expected, counted] = [kept.expected, kept.found].map((pair) => near(pair, (i) => units[i]));
    const found = (counted || [hits, hits]).map((ends) => ends.map((v) => v / kept.positives));
    const [next, ties] = [kept.next, kept.ties].map((pair) => near(pair, () => 1));
    return { ...kept, hits, expected, found, next, ties, drawn: summed(kept.drawn) };
  });
  const positives = models.length ? models[0].positives : 0;
  const state = { at: data.start, cost: data.cost, value: data.value, log: data.log, banded: null, range: data.range, shown: models.map(() => true) };
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

  // What a chart shows of so many hits at a stop.
  const shown = {
    gain: (hits) => hits,
    hit_rate: (hits, q) => hits / q,
    qrecall: (hits) => hits / positives,
    lift: (hits, q) => (hits * rows) / (q * positives),
    profit: (hits, q) => (hasProfit() ? state.value * hits - state.cost * q : 0),
  };
  // Its interval. Qrecall and lift have their own: the number of positives varies, too.
  function spread(kind, model, i) {
    if (kind === "qrecall") return model.found.map((ends) => ends[i]);
    if (kind === "lift") return model.found.map((ends) => (ends[i] * rows) / stops[i]);
    return interval(model, i).map((hits) => shown[kind](hits, stops[i]));
  }
  const references = {
    chance: { gain: (q) => (q * positives) / rows, hit_rate: () => positives / rows, qrecall: (q) => q / rows, lift: () => 1, profit: () => 0 },
    perfect: { gain: (q) => Math.min(q, positives), hit_rate: (q) => Math.min(q, positives) / q, qrecall: (q) => Math.min(q, positives) / Math.max(positives, 1) },
  };

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

  // A range of quotas, where the number of places is not known: measures are means over it. One that was asked for
  // comes with its quotas, their chances and the intervals of its means; for another, the mean of the intervals is shown.
  function hitsAt(columns, q) {
    let high = 0;
    for (let low = 0, last = stops.length - 1; low <= last;) {
      const middle = (low + last) >> 1;
      if (stops[middle] < q) low = middle + 1; else { high = middle; last = middle - 1; }
    }
    if (stops[high] === q || high === 0) return columns.map((column) => column[high]);
    const share = (q - stops[high - 1]) / (stops[high] - stops[high - 1]);
    return columns.map((column) => column[high - 1] + share * (column[high] - column[high - 1]));
  }
  function evenly(from, to) {
    const n = Math.min(to - from + 1, 256);
    const sizes = Array.from({ length: n }, (_, k) => (n === 1 ? from : Math.round(from + (k * (to - from)) / (n - 1))));
    return { sizes, weights: sizes.map(() => 1 / n), words: `${number(from)} to ${number(to)} places`, models: null };
  }
  function meanOver(model, k) {
    const { sizes, weights, models: known } = state.range;
    const rate = [0, 0, 0], found = [0, 0, 0];
    sizes.forEach((q, i) => {
      const [hits, low, high, least, most] = hitsAt([model.hits, ...model.expected, ...model.found], q);
      [hits, low, high].forEach((v, j) => { rate[j] += (weights[i] * v) / q; });
      [hits / positives, least, most].forEach((v, j) => { found[j] += weights[i] * v; });
    });
    const asked = known ? known[k] : {};
    return { rate: asked.hit_rate || rate, qrecall: asked.qrecall || found };
  }
  function fillRange() {
    for (const name of ["rate", "qrecall"]) $("row-range-" + name).hidden = !state.range;
    $("range-words").textContent = state.range
      ? `Rows over the range: ${state.range.words}${state.range.models ? "" : ", all equally likely; the intervals are means of those at single quotas"}.` : "";
    if (!state.range) return;
    models.forEach((model, k) => {
      const mean = meanOver(model, k);
      for (const name of ["rate", "qrecall"]) {
        const [value, low, high] = mean[name];
        put(rowsOf["range-" + name][k], positives ? percent(value) : "–", positives ? `${percent(low)} to ${percent(high)}` : "");
      }
    });
  }
  function rangeChanged() {
    const from = Math.round(read("range-from")), to = Math.round(read("range-to"));
    state.range = from >= 1 && to >= from && to <= rows ? evenly(from, to) : null;
    fillRange();
    charts.forEach(drawRange);
    document.documentElement.dataset.range = state.range ? `${from}-${to}` : "";
  }

  // Another share of positives: each class keeps its scores, and the quota is cut in the list so weighted. A cut of this
  // list that finds a share t of the positives and takes a share f of the negatives takes π·t + (1 − π)·f of that one.
  function foundThere(model, q) {
    const share = state.prevalence, wanted = q / rows;
    const at = (i) => {
      const hits = i < 0 ? 0 : model.hits[i], taken = i < 0 ? 0 : stops[i];
      return [(share * hits) / positives + ((1 - share) * (taken - hits)) / (rows - positives), hits / positives];
    };
    let low = -1, high = stops.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (at(middle)[0] < wanted) low = middle; else high = middle;
    }
    const [a, s] = at(low), [b, t] = at(high);
    return b > a ? s + ((wanted - a) / (b - a)) * (t - s) : t;
  }
  function fillThere() {
    const there = state.prevalence > 0 && state.prevalence < 1 && positives > 0 && positives < rows;
    for (const name of ["rate", "qrecall", "lift"]) $("row-there-" + name).hidden = !there;
    $("there-words").textContent = there
      ? `Rows "there": with ${percent(state.prevalence)} positives instead of ${percent(positives / rows)}, if the scores of either class stay as they are. Recall and AUC do not move. For intervals, evaluate with this prevalence.` : "";
    if (!there) return;
    const q = stops[state.at];
    models.forEach((model, k) => {
      const found = foundThere(model, q);
      put(rowsOf["there-rate"][k], percent((state.prevalence * found * rows) / q));
      put(rowsOf["there-qrecall"][k], percent(found));
      put(rowsOf["there-lift"][k], fixed((found * rows) / q, 2));
    });
  }

  // What a chart shows at the chosen quota, for those who cannot see it, and below it for those who can.
  const spoken = {
    gain: number, hit_rate: percent, qrecall: percent, lift: (v) => (Number.isFinite(v) ? fixed(v, 2) : "–"), profit: money,
  };
  function describe() {
    const i = state.at, places = counted(stops[i], "place"), chosen = models.filter((_, k) => state.shown[k]);
    for (const [kind, say] of Object.entries(spoken)) {
      const figure = $("figure-" + kind);
      const words = chosen.map((model) => `${model.name} ${say(shown[kind](model.hits[i], stops[i]))}`).join("; ");
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
      const tie = model.ties && model.ties[0][i] !== model.ties[1][i]
        ? `tie: ${number(model.ties[0][i])} to ${number(model.ties[1][i])} hits` : "";
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
    fillThere();
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

  // The charts over quotas. They come drawn; the script moves their marks and draws their lines anew.
  const charts = [...document.querySelectorAll("svg[data-kind]")].map((svg) => {
    const [low, high] = svg.dataset.y.split(" ").map(Number), [left, top, width, height] = svg.dataset.box.split(" ").map(Number);
    const all = (name) => [...svg.querySelectorAll(`[data-${name}]`)];
    return {
      svg, kind: svg.dataset.kind, low, high, left, top, width, height, curves: all("curve"), markers: all("marker"),
      band: all("band")[0], range: all("range")[0], cut: all("cut")[0], lines: all("line"), axes: all("axis"),
    };
  });
  const across = (c, q) => (c.left + c.width * (state.log ? Math.log(q) / (Math.log(rows) || 1) : q / rows)).toFixed(1);
  const up = (c, v) => (c.top + c.height * (1 - Math.max(-2, Math.min(3, (v - c.low) / (c.high - c.low || 1))))).toFixed(1);
  const path = (c, points) => points.filter(([, v]) => Number.isFinite(v)).map(([q, v]) => `${across(c, q)},${up(c, v)}`).join(" ");

  function drawMarkers() {
    const i = state.at, first = leaders(i).indexOf(true), moved = first !== state.banded;
    state.banded = first;
    for (const c of charts) {
      const x = across(c, stops[i]);
      c.cut.setAttribute("points", `${x},${c.top} ${x},${c.top + c.height}`);
      c.markers.forEach((mark, k) => {
        const v = shown[c.kind](models[k].hits[i], stops[i]);
        mark.toggleAttribute("hidden", !state.shown[k] || !Number.isFinite(v));
        mark.setAttribute("cx", x);
        mark.setAttribute("cy", up(c, Number.isFinite(v) ? Math.min(v, c.high) : c.low));  // the words tell what lies above
      });
      if (moved) drawBand(c, first);
    }
  }
  function drawBand(c, k) {
    c.band.toggleAttribute("hidden", k < 0);
    if (k < 0) return;
    const ends = models[k].drawn.map((j) => [stops[j], ...spread(c.kind, models[k], j)]);
    const low = ends.map(([q, v]) => [q, v]), high = ends.map(([q, , v]) => [q, v]).reverse();
    c.band.setAttribute("points", path(c, [...low, ...high]));
    c.band.setAttribute("fill", data.colours[k]);
  }
  function drawRange(c) {
    c.range.toggleAttribute("hidden", !state.range);
    if (!state.range) return;
    const [from, to] = [state.range.sizes[0], state.range.sizes[state.range.sizes.length - 1]].map((q) => across(c, q));
    c.range.setAttribute("points", `${from},${c.top} ${to},${c.top} ${to},${c.top + c.height} ${from},${c.top + c.height}`);
  }
  function drawCurves() {
    state.banded = null;
    for (const c of charts) {
      drawRange(c);
      if (c.kind === "profit") fitProfit(c);
      for (const axis of c.axes) axis.toggleAttribute("hidden", (axis.dataset.axis === "log") !== state.log);
      for (const line of c.lines) {
        const of = references[line.dataset.line][c.kind];
        line.setAttribute("points", path(c, data.reference.map((q) => [q, of(q)])));
      }
      c.curves.forEach((curve, k) => {
        curve.toggleAttribute("hidden", !state.shown[k]);
        curve.setAttribute("points", path(c, models[k].drawn.map((j) => [stops[j], shown[c.kind](models[k].hits[j], stops[j])])));
      });
    }
    drawMarkers();
  }

  // The axis of the profit depends on what the reader types.
  function fitProfit(c) {
    const worth = models.filter((_, k) => state.shown[k]).flatMap((model) => model.drawn.map((j) => shown.profit(model.hits[j], stops[j])));
    c.low = worth.reduce((a, b) => Math.min(a, b), 0);
    c.high = worth.reduce((a, b) => Math.max(a, b), 0) || 1;
    const rough = (c.high - c.low) / 5, unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= rough * (1 - 1e-9)), group = c.svg.querySelector(".y-axis");
    group.replaceChildren();
    for (let k = Math.ceil(c.low / step - 1e-9); k * step <= c.high * (1 + 1e-9); k++) {
      const y = up(c, k * step);
      group.append(drawn("path", { class: "grid", d: `M${c.left} ${y}h${c.width}` }));
      group.append(drawn("text", { x: c.left - 5, y, dy: ".35em", "text-anchor": "end" }, short(k * step)));
    }
  }
  function drawn(name, attributes, words = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = words;
    return made;
  }
  function short(v) {
    const [unit, letter] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([size]) => Math.abs(v) >= size) || [1, ""];
    return (Number((v / unit).toPrecision(3)) + letter).replace("-", "−");
  }
  function follow(c) {
    c.svg.addEventListener("click", (event) => {
      const box = c.svg.getBoundingClientRect();
      const part = ((event.clientX - box.left) * c.svg.viewBox.baseVal.width / box.width - c.left) / c.width;
      typed.quota = null;
      choose(nearest(Math.round(state.log ? rows ** part : rows * part)));
    });
  }

  let waiting = false;
  function choose(i) {
    state.at = Math.max(0, Math.min(stops.length - 1, i));
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      const began = performance.now();
      waiting = false;
      fillTable();
      drawMarkers();
      document.documentElement.dataset.stepMs = (performance.now() - began).toFixed(2);
      document.documentElement.dataset.shownQuota = stops[state.at];
    });
  }

  const read = (id) => ($(id).value === "" ? NaN : Number($(id).value));
  function moneyChanged() {
    state.cost = read("cost");
    state.value = read("value");
    $("figure-profit").hidden = !hasProfit();
    fillTable();
    drawCurves();
    document.documentElement.dataset.profit = hasProfit();
  }

  function explore() {
    $("slider").addEventListener("input", () => { typed.quota = null; choose(Number($("slider").value)); });
    $("quota").addEventListener("input", () => {
      const wanted = read("quota");
      if (!Number.isFinite(wanted) || wanted < 1) return;
      typed.quota = Math.min(Math.round(wanted), rows);
      choose(nearest(typed.quota));
    });
    $("best-go").addEventListener("click", () => { typed.quota = null; choose(state.best.i); });
    $("quota").addEventListener("change", () => { $("quota").value = stops[state.at]; });
    if (state.range) {
      $("range-from").value = state.range.sizes[0];
      $("range-to").value = state.range.sizes[state.range.sizes.length - 1];
    }
    fillRange();
    for (const id of ["range-from", "range-to"]) $(id).addEventListener("input", rangeChanged);
    $("prevalence").addEventListener("input", () => {
      state.prevalence = read("prevalence") / 100;
      fillThere();
      document.documentElement.dataset.prevalence = $("prevalence").value;
    });
    for (const id of ["goal", "goal-value"]) $(id).addEventListener("input", promise);
    for (const id of ["cost", "value"]) $(id).addEventListener("input", moneyChanged);
    document.querySelectorAll(".models input").forEach((box, k) => {
      box.addEventListener("change", () => { state.shown[k] = box.checked; fillTable(); drawCurves(); });
    });
    $("log").addEventListener("change", () => { state.log = $("log").checked; drawCurves(); });
    charts.forEach(follow);
    state.banded = leaders(state.at).indexOf(true);
    fillTable();
  }

  try {
    if ($("slider")) explore();  // a weighted sample has no places to count, so no explorer
    document.documentElement.dataset.ready = performance.now().toFixed(0);
  } catch (error) {
    document.documentElement.dataset.failed = String(error);
    if ($("now")) $("now").textContent = "The explorer failed: " + error.message;
    throw error;
  }
})();
