// Glue between the controls, the sentence, the pictures and the table. All numbers come from the page's data; what is
// computed here (rates, lift, profit, means over a range, another share of positives) is plain arithmetic of them.
(async () => {
  const data = await unpacked("cutline-data");
  const $ = (id) => document.getElementById(id);
  const { rows } = data;

  const { stops } = data;
  const models = data.models.map((kept) => (
    { ...kept, found: (kept.found || [kept.hits, kept.hits]).map((ends) => ends.map((v) => v / kept.positives)) }
  ));
  const positives = models.length ? models[0].positives : 0;
  const state = {
    at: data.start, typed: null, cost: data.cost, value: data.value, log: data.log, range: data.range, share: NaN,
    shown: models.map(() => true), banded: null,
  };

  const whole = (v) => Math.abs(v - Math.round(v)) < 1e-9;
  const fixed = (v, d) => Number(v.toFixed(d)).toLocaleString("en-US", { minimumFractionDigits: d, maximumFractionDigits: d });
  const number = (v) => (whole(v) ? fixed(Math.round(v), 0) : fixed(v + 1e-9, 1));  // a half rounds up, as in the text
  const rounded = (v) => (v >= 10 ? fixed(v % 2 === 0.5 ? v - 0.1 : v, 0) : number(v));  // as rounded() in present/words.py
  const counted = (v, one) => number(v) + " " + one + (whole(v) && Math.round(v) === 1 ? "" : "s");
  const bound = (v) => fixed(v, v < 1000 ? 1 : 0);
  const money = (v) => fixed(v, Math.abs(v) < 1000 && !whole(v) ? 2 : 0).replace("-", "−");
  const percent = (v) => (Number.isFinite(v) ? fixed(100 * v, 1) + "%" : "–");
  const between = ([low, high], show) => `${show(low)} to ${show(high)}`;
  const listed = (names) => (names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
  const hasProfit = () => Number.isFinite(state.cost) && Number.isFinite(state.value);
  const elsewhere = () => state.share > 0 && state.share < 1 && positives > 0 && positives < rows;
  const positivesNow = () => (elsewhere() ? state.share * rows : positives);

  // The first stop that passes a test which all later ones pass, too.
  function firstStop(passes) {
    let low = 0, high = stops.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (passes(middle)) high = middle; else low = middle + 1;
    }
    return low;
  }
  function nearest(quota) {
    const above = firstStop((i) => stops[i] >= quota);
    return above > 0 && quota - stops[above - 1] <= stops[above] - quota ? above - 1 : above;
  }

  // Another share of positives: each class keeps its scores, and the quota is cut in the list so weighted. A cut of this
  // list that finds a share t of the positives and takes a share f of the negatives takes π·t + (1 − π)·f of that one.
  function foundElsewhere(model, q) {
    const wanted = q / rows;
    const at = (i) => {
      const hits = i < 0 ? 0 : model.hits[i], taken = i < 0 ? 0 : stops[i];
      return [(state.share * hits) / positives + ((1 - state.share) * (taken - hits)) / (rows - positives), hits / positives];
    };
    const above = firstStop((i) => at(i)[0] >= wanted);
    const [a, s] = at(above - 1), [b, t] = at(above);
    return { hits: (b > a ? s + ((wanted - a) / (b - a)) * (t - s) : t) * state.share * rows, above };
  }
  // Columns of a model at any number of places, between the stops on straight lines.
  function columnsAt(columns, q) {
    const high = firstStop((i) => stops[i] >= q);
    if (stops[high] === q || high === 0) return columns.map((column) => column[high]);
    const share = (q - stops[high - 1]) / (stops[high] - stops[high - 1]);
    return columns.map((column) => column[high - 1] + share * (column[high] - column[high - 1]));
  }
  const hitsAt = (model, i) => (elsewhere() ? foundElsewhere(model, stops[i]).hits : model.hits[i]);

  // What a model gives under the settings of the reader. Sentence, picture, table and captions all show this.
  function figuresOf(model, k) {
    const all = positivesNow();
    if (!state.range) {
      const i = state.at, q = stops[i];
      const cut = elsewhere() ? foundElsewhere(model, q) : { hits: model.hits[i], above: i };
      const known = !elsewhere(), { hits } = cut;
      const within = known ? [model.expected[0][i], model.expected[1][i]] : null;
      return {
        hits, within, q, threshold: model.threshold[cut.above], rate: hits / q, recall: hits / all, lift: (hits * rows) / (q * all),
        next: known ? model.next.map((ends) => ends[i]) : null, rateWithin: known ? model.rate.map((ends) => ends[i] / q) : null,
        recallWithin: known ? model.found.map((ends) => ends[i]) : null,
        tie: known && model.ties && model.ties[0][i] !== model.ties[1][i] ? model.ties.map((ends) => ends[i]) : null,
      };
    }
    const { sizes, weights, models: asked } = state.range;
    let hits = 0;
    const rate = [0, 0, 0], recall = [0, 0, 0];
    sizes.forEach((q, i) => {
      const columns = elsewhere() ? Array(5).fill(foundElsewhere(model, q).hits) : columnsAt([model.hits, ...model.rate, ...model.found], q);
      hits += weights[i] * columns[0];
      columns.slice(0, 3).forEach((v, j) => { rate[j] += (weights[i] * v) / q; });
      [columns[0] / all, ...columns.slice(3)].forEach((v, j) => { recall[j] += weights[i] * v; });
    });
    const [ofRate, ofRecall] = elsewhere() || !asked ? [rate, recall] : [asked[k].hit_rate || rate, asked[k].qrecall || recall];
    return {
      hits, rate: ofRate[0], recall: ofRecall[0], lift: (ofRate[0] * rows) / all,
      rateWithin: elsewhere() ? null : ofRate.slice(1), recallWithin: elsewhere() ? null : ofRecall.slice(1),
    };
  }

  // ---------------------------------------------------------------------------------------------- the sentence

  // The model that is clearly ahead of every other at these places, by its number; -1 where none is.
  function clearLeader(from, to) {
    const stretch = data.leads.find(([first, last]) => first <= from && to <= last);
    return stretch ? stretch[2] : -1;
  }
  function atTheStart() {
    return state.at === data.start && state.range === data.range && !elsewhere() && state.shown.every(Boolean);
  }
  // In the words of the answer that the page opens with (present/words.py).
  function sentence(figures) {
    const order = models.map((_, k) => k).filter((k) => state.shown[k]);
    if (!order.length) return "No model is chosen.";
    const { range } = state, q = stops[state.at], there = elsewhere(), all = positivesNow();
    const value = (k) => (range ? figures[k].rate : figures[k].hits), show = range ? percent : number;
    order.sort((a, b) => value(b) - value(a));
    const [best] = order, { next, within, rateWithin } = figures[best], name = models[best].name;
    const tied = order.filter((k) => value(best) - value(k) < 1e-9), others = order.slice(tied.length).map((k) => `${models[k].name} ${show(value(k))}`);
    const places = `${there ? `If ${percent(state.share)} were positive instead of ${percent(positives / rows)}, with` : "With"} ${range ? range.words : counted(q, "place")}`;
    const found = range ? `a hit rate of ${percent(value(best))} on average` : `${number(value(best))} of the ${counted(all, "positive")}`;
    const [finds, find, it] = range ? ["has", "have", "it has"] : there ? ["would find", "would find", "it would find"] : ["finds", "find", "it finds"];
    const rest = `${others.length ? `, ${listed(others)}` : ""}. A random choice would ${range ? `have ${percent(all / rows)}` : `find ${rounded((q * all) / rows)}`}.`;
    const average = models.length > 1 ? "" : within ? ` On average over lists like this one with as many positives, expect ${between(within, bound)}.` : range && rateWithin ? ` Its ${data.level} interval is ${between(rateWithin, percent)}.` : "";
    const coming = next ? ` ${data.following}, expect ${between(next, number)}${models.length > 1 ? ` from ${name}` : ""} (${data.level} prediction interval).` : "";
    const more = average + coming + (there ? " There are no intervals for another share of positives here: evaluate with that prevalence." : "");
    if (order.length === 1) return `${places}, ${name} ${finds} ${found}${rest}${more}`;
    if (tied.length > 1) return `${places}, ${tied.map((k) => models[k].name).sort().join(" or ")}: ${tied.length > 2 ? "they all" : "both"} ${find} ${found}${rest}${more}`;
    const leader = clearLeader(...(range ? [range.sizes[0], range.sizes[range.sizes.length - 1]] : [q, q]));
    if (there || !data.judged) return `${places}, ${name} ${finds} the most: ${found}${rest} Whether that lead is clear was not tested.${more}`;
    if (leader === best) return `${places}, use ${name}: ${it} ${found}${rest} The lead is clear.${more}`;
    if (state.shown.every(Boolean) || leader >= 0) return `${places}, ${name} is ahead, but not clearly: ${it} ${found}${rest} The lead could be chance.${more}`;
    return `${places}, ${name} ${finds} the most of these models: ${found}${rest} Whether that lead is clear was tested for all models together only.${more}`;
  }

  // ---------------------------------------------------------------------------------------------- the picture

  const hero = document.querySelector("#chart-dots > svg");
  const [heroLeft, , heroWidth] = hero.dataset.box.split(" ").map(Number);
  const marksMean = $("figure-dots").querySelector("figcaption > span").textContent.split(/(?<=\.) /);  // a sentence each
  const part = (name, k) => hero.querySelector(`[data-${name}="${k}"]`);
  const xml = (name, attributes, words = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = words;
    return made;
  };
  function ticks(low, high) {
    const rough = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= rough * (1 - 1e-9)), found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  }
  function drawPicture(figures) {
    const q = stops[state.at], end = state.range ? 1 : q, show = state.range ? percent : number;
    const x = (v) => (heroLeft + heroWidth * Math.max(0, Math.min(1, v / end))).toFixed(1);
    const chance = state.range ? positivesNow() / rows : (q * positivesNow()) / rows;
    models.forEach((_, k) => {
      const f = figures[k], value = state.range ? f.rate : f.hits, within = state.range ? f.rateWithin : f.within;
      const [next, line, dot] = [part("next", k), part("within", k), part("dot", k)], y = dot.getAttribute("cy");
      const box = next.getAttribute("points").split(" ").map((p) => p.split(",")[1]);
      const put = (element, there) => element.toggleAttribute("hidden", !state.shown[k] || !there);
      for (const name of ["next", "within", "dot", "name", "found"]) put(part(name, k), true);
      put(next, f.next);
      put(line, within);
      if (f.next) next.setAttribute("points", [f.next[0], f.next[1], f.next[1], f.next[0]].map((v, j) => `${x(v)},${box[j]}`).join(" "));
      if (within) line.setAttribute("points", within.map((v) => `${x(v)},${y}`).join(" "));
      dot.setAttribute("cx", x(value));
      part("found", k).textContent = show(value) + (f.next ? ` (next list ${between(f.next, number)})` : within ? ` (${between(within, show)})` : "");
    });
    for (const line of hero.querySelectorAll("[data-chance]")) {
      line.setAttribute("points", line.getAttribute("points").split(" ").map((p) => `${x(chance)},${p.split(",")[1]}`).join(" "));
    }
    const beside = `random choice: ${state.range ? percent(chance) : rounded(chance)}`;
    const axis = hero.querySelector(".x-axis"), [tick, text] = [axis.querySelector("path"), axis.querySelector("text")];
    axis.replaceChildren(...ticks(0, end).flatMap((v) => {
      const [mark, label] = [tick.cloneNode(), text.cloneNode()];
      mark.setAttribute("d", tick.getAttribute("d").replace(/^M[\d.]+/, `M${x(v)}`));
      label.setAttribute("x", x(v));
      label.textContent = state.range ? `${fixed(100 * v, 0)}%` : short(v);
      return [mark, label];
    }));
    hero.querySelector(".x-name").textContent = `${state.range ? "hit rate on average over the range" : `positives among ${counted(q, "place")}`} · dotted: ${beside}`;
    const told = models.map((m, k) => [m, k]).filter(([, k]) => state.shown[k]).map(([m, k]) => `${m.name} ${part("found", k).textContent}`).join("; ");
    $("chart-dots").setAttribute("aria-label", `${told}; ${beside}.`);
    const drawn = (name) => models.some((_, k) => state.shown[k] && figures[k][name]), [dot, line, bar] = marksMean;
    $("figure-dots").querySelector("figcaption > span").textContent = [
      elsewhere() ? "Dot: what this share of positives would give." : dot, drawn(state.range ? "rateWithin" : "within") && line, drawn("next") && bar,
    ].filter(Boolean).join(" ");
  }

  // ---------------------------------------------------------------------------------------------- table and captions

  const rowsOf = {};
  for (const row of document.querySelectorAll("#at tbody tr")) rowsOf[row.dataset.row] = { row, cells: [...row.querySelectorAll("td")] };
  const heads = [...document.querySelectorAll("#at thead th[data-model]")];
  function fillTable(figures) {
    const all = positivesNow(), { range } = state;
    models.forEach((_, k) => {
      heads[k].hidden = !state.shown[k];
      const f = figures[k], q = f.q, ends = (pair, show) => (pair ? between(pair, show) : "");
      const worth = (h) => state.value * h - state.cost * q;
      const texts = {
        hits: [number(f.hits), ends(f.within, bound)], rate: [percent(f.rate), ends(f.rateWithin, percent)],
        qrecall: [all ? percent(f.recall) : "–", all ? ends(f.recallWithin, percent) : ""], lift: [all ? fixed(f.lift, 2) : "–"],
        next: !range && f.next && [between(f.next, number)],
        threshold: !range && [f.threshold === null ? "takes all" : String(f.threshold), f.tie ? `tie: ${between(f.tie, number)} hits` : ""],
        missed: !range && [number(all - f.hits)], wrong: !range && [number(q - f.hits)], spared: !range && [number(rows - all - q + f.hits)],
        profit: !range && hasProfit() && [money(worth(f.hits)), f.within ? between(f.within.map(worth), money) : ""],
      };
      for (const [name, { row, cells }] of Object.entries(rowsOf)) {
        row.hidden = !texts[name];
        cells[k].hidden = !state.shown[k];
        const [first, second] = cells[k].childNodes, [text, small] = texts[name] || ["", ""];
        if (first.data !== text) first.data = text;
        if (second && second.textContent !== small) second.textContent = small;
      }
    });
  }
  const inChart = {
    gain: (f) => number(f.hits), hit_rate: (f) => percent(f.rate), qrecall: (f) => percent(f.recall), lift: (f) => (Number.isFinite(f.lift) ? fixed(f.lift, 2) : "–"),
    profit: (f) => (hasProfit() && f.q ? money(state.value * f.hits - state.cost * f.q) : "–"),
  };
  function describe(figures) {
    const where = state.range ? `On average over ${state.range.words}` : `At ${counted(stops[state.at], "place")}`;
    for (const [kind, show] of Object.entries(inChart)) {
      const words = models.map((m, k) => [m, k]).filter(([, k]) => state.shown[k]).map(([m, k]) => `${m.name} ${show(figures[k])}`).join("; ");
      $("figure-" + kind).querySelector("figcaption > span").textContent = `${where}: ${words}.`;
      $("chart-" + kind).setAttribute("aria-label", `${$("figure-" + kind).querySelector("h3").textContent}. ${where}: ${words}.`);
    }
  }
  function update() {
    const figures = models.map(figuresOf), q = stops[state.at], asked = data.asked && atTheStart();
    if ($("asked")) $("asked").hidden = !asked && data.asked;
    $("now").hidden = asked;
    const words = sentence(figures);
    if ($("now").textContent !== words) $("now").textContent = words;
    drawPicture(figures);
    fillTable(figures);
    describe(figures);
    drawMarkers(figures);
    showBest();
    $("exact").textContent = state.typed !== null && state.typed !== q
      ? `Figures are kept for ${fixed(stops.length, 0)} numbers of places; the nearest to ${number(state.typed)} is ${number(q)}.` : "";
    $("share").textContent = `= ${percent(q / rows)} of ${number(rows)}`;
    $("slider").value = state.at;
    $("slider").setAttribute("aria-valuetext", counted(q, "place"));
    if (document.activeElement !== $("quota") || state.typed === null) $("quota").value = q;
  }

  // ---------------------------------------------------------------------------------------------- profit

  function showBest() {
    const best = { worth: 0, at: null, name: "" };
    if (hasProfit() && !elsewhere()) models.forEach((model, k) => state.shown[k] && model.hits.forEach((hits, i) => {
      const worth = state.value * hits - state.cost * stops[i];
      if (worth > best.worth + 1e-9) Object.assign(best, { worth, at: i, name: model.name });
    }));
    $("best").hidden = !hasProfit() || elsewhere();
    $("best-go").hidden = best.at === null;
    state.best = best.at;
    const who = models.length > 1 ? ` (${best.name})` : "";
    $("best-words").textContent = best.at === null ? "No number of places makes a profit."
      : `Most profit on these data: ${money(best.worth)} at ${counted(stops[best.at], "place")}${who}. It was chosen on these data, so expect less on new data.`;
  }

  // ---------------------------------------------------------------------------------------------- charts over places

  // They come drawn; the script moves their marks and draws their lines anew.
  const charts = [...document.querySelectorAll("svg[data-kind]")].map((svg) => {
    const [low, high] = svg.dataset.y.split(" ").map(Number), [left, top, width, height] = svg.dataset.box.split(" ").map(Number);
    const all = (name) => [...svg.querySelectorAll(`[data-${name}]`)];
    return {
      svg, kind: svg.dataset.kind, given: svg.dataset.y, low, high, left, top, width, height, curves: all("curve"), markers: all("marker"),
      band: all("band")[0], range: all("range")[0], cut: all("cut")[0], lines: all("line"), axes: all("axis"),
    };
  });
  const shown = {
    gain: (hits) => hits, hit_rate: (hits, q) => hits / q, qrecall: (hits) => hits / positivesNow(),
    lift: (hits, q) => (hits * rows) / (q * positivesNow()), profit: (hits, q) => (hasProfit() ? state.value * hits - state.cost * q : 0),
  };
  const references = { chance: (q) => (q * positivesNow()) / rows, perfect: (q) => Math.min(q, positivesNow()) };
  const across = (c, q) => (c.left + c.width * (state.log ? Math.log(q) / (Math.log(rows) || 1) : q / rows)).toFixed(1);
  const up = (c, v) => (c.top + c.height * (1 - Math.max(-2, Math.min(3, (v - c.low) / (c.high - c.low || 1))))).toFixed(1);
  const path = (c, points) => points.filter(([, v]) => Number.isFinite(v)).map(([q, v]) => `${across(c, q)},${up(c, v)}`).join(" ");

  function drawMarkers(figures) {
    const q = stops[state.at], values = figures.map((f, k) => (state.shown[k] ? f.hits : -1)), first = elsewhere() ? -1 : values.indexOf(Math.max(...values));
    for (const c of charts) {
      const x = across(c, q);
      c.cut.setAttribute("points", `${x},${c.top} ${x},${c.top + c.height}`);
      c.cut.toggleAttribute("hidden", Boolean(state.range));
      c.range.toggleAttribute("hidden", !state.range);
      if (state.range) {
        const [from, to] = [state.range.sizes[0], state.range.sizes[state.range.sizes.length - 1]].map((size) => across(c, size));
        c.range.setAttribute("points", `${from},${c.top} ${to},${c.top} ${to},${c.top + c.height} ${from},${c.top + c.height}`);
      }
      c.markers.forEach((mark, k) => {
        const v = state.range ? NaN : shown[c.kind](figures[k].hits, q);
        mark.toggleAttribute("hidden", !state.shown[k] || !Number.isFinite(v));
        mark.setAttribute("cx", x);
        mark.setAttribute("cy", up(c, Number.isFinite(v) ? Math.min(v, c.high) : c.low));  // the words tell what lies above
      });
      if (first !== state.banded) drawBand(c, first);
    }
    state.banded = first;
  }
  // The interval of the share found, in the unit of the chart: never more than the places or the positives.
  function drawBand(c, k) {
    c.band.toggleAttribute("hidden", k < 0);
    if (k < 0) return;
    const ends = [0, 1].map((end) => models[k].drawn.map((j) => [stops[j], shown[c.kind](Math.min(models[k].found[end][j] * positives, stops[j]), stops[j])]));
    c.band.setAttribute("points", path(c, [...ends[0], ...ends[1].reverse()]));
    c.band.setAttribute("fill", data.colours[k]);
  }
  function drawCurves() {
    state.banded = null;
    for (const c of charts) {
      fitAxis(c);
      for (const axis of c.axes) axis.toggleAttribute("hidden", (axis.dataset.axis === "log") !== state.log);
      for (const line of c.lines) {
        const hits = references[line.dataset.line];
        line.setAttribute("points", path(c, data.reference.map((q) => [q, c.kind === "profit" ? 0 : shown[c.kind](hits(q), q)])));
      }
      c.curves.forEach((curve, k) => {
        curve.toggleAttribute("hidden", !state.shown[k]);
        curve.setAttribute("points", path(c, models[k].drawn.map((j) => [stops[j], shown[c.kind](hitsAt(models[k], j), stops[j])])));
      });
    }
  }
  // The axis of the profit depends on what the reader types, and the others on another share of positives.
  function fitAxis(c) {
    if (c.kind !== "profit" && !elsewhere() && c.svg.dataset.y === c.given) return;
    const values = models.filter((_, k) => state.shown[k]).flatMap((model) => model.drawn.map((j) => shown[c.kind](hitsAt(model, j), stops[j])));
    const high = { gain: positivesNow(), hit_rate: 1, qrecall: 1 }[c.kind] || values.filter(Number.isFinite).reduce((a, b) => Math.max(a, b), c.kind === "lift" ? 1 : 0) || 1;
    const fitted = `${c.kind === "profit" ? values.reduce((a, b) => Math.min(a, b), 0) : 0} ${high}`, rate = c.kind === "hit_rate" || c.kind === "qrecall";
    c.svg.dataset.y = c.kind === "profit" || elsewhere() ? fitted : c.given;
    [c.low, c.high] = c.svg.dataset.y.split(" ").map(Number);
    c.svg.querySelector(".y-axis").replaceChildren(...ticks(c.low, c.high).flatMap((v) => [
      xml("path", { class: "grid", d: `M${c.left} ${up(c, v)}h${c.width}` }),
      xml("text", { x: c.left - 5, y: up(c, v), dy: ".35em", "text-anchor": "end" }, rate ? `${Number((100 * v).toPrecision(3))}%` : short(v)),
    ]));
  }
  function short(v) {
    const [unit, letter] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([size]) => Math.abs(v) >= size) || [1, ""];
    return (Number((v / unit).toPrecision(3)) + letter).replace("-", "−");
  }

  // ---------------------------------------------------------------------------------------------- controls

  const read = (id) => ($(id).value === "" ? NaN : Number($(id).value));
  // A message beside a field that cannot be used; none where it can.
  function complain(id, words) {
    $(id + "-error").textContent = words;
    for (const field of document.querySelectorAll(`[aria-describedby="${id}-error"]`)) field.setAttribute("aria-invalid", words !== "");
  }
  let waiting = false;
  function redraw(curves) {
    state.redrawn = state.redrawn || curves;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      const began = performance.now(), root = document.documentElement;
      waiting = false;
      if (state.redrawn) drawCurves();
      state.redrawn = false;
      update();
      root.dataset.stepMs = (performance.now() - began).toFixed(2);
      root.dataset.shownQuota = stops[state.at];
      root.dataset.range = state.range ? between([state.range.sizes[0], state.range.sizes[state.range.sizes.length - 1]], String).replace(" to ", "-") : "";
      root.dataset.prevalence = elsewhere() ? $("prevalence").value : "";
      root.dataset.profit = hasProfit();
      root.dataset.steps = Number(root.dataset.steps || 0) + 1;
    });
  }
  // A number of places, a range of them and a target exclude each other: choosing one clears the others.
  function choose(i, { typed = null, target = false } = {}) {
    state.at = Math.max(0, Math.min(stops.length - 1, i));
    state.typed = typed;
    state.range = null;
    for (const id of ["range-from", "range-to"]) $(id).value = "";
    for (const id of ["quota", "range"]) complain(id, "");
    if (!target) { $("goal").value = ""; $("target-words").textContent = ""; complain("goal", ""); }
    redraw();
  }
  function quotaTyped() {
    const wanted = read("quota");
    if (!(wanted >= 1 && wanted <= rows)) { complain("quota", `Type a number from 1 to ${number(rows)}.`); redraw(); return; }
    choose(nearest(Math.round(wanted)), { typed: Math.round(wanted) });
  }
  function rangeTyped() {
    const from = read("range-from"), to = read("range-to"), empty = ["range-from", "range-to"].map((id) => $(id).value === "");
    const wrong = empty[0] !== empty[1] ? "Give both ends." : empty[0] ? "" : !(from >= 1 && to <= rows) ? `Type numbers from 1 to ${number(rows)}.`
      : from > to ? "The first number must not be larger than the second." : "";
    complain("range", wrong);
    $("goal").value = "";
    $("target-words").textContent = "";
    state.range = wrong || empty[0] ? null : evenly(Math.round(from), Math.round(to));
    redraw();
  }
  function evenly(from, to) {
    const n = Math.min(to - from + 1, 256);
    const sizes = Array.from({ length: n }, (_, k) => (n === 1 ? from : Math.round(from + (k * (to - from)) / (n - 1))));
    return { sizes, weights: sizes.map(() => 1 / n), words: `${number(from)} to ${number(to)} places, all equally likely`, models: null };
  }
  // The cut that gives what the reader asks for: with the fewest places for a recall, with the most for all else.
  const meets = {
    recall: (hits, q, share) => hits >= share * positives - 1e-9,
    precision: (hits, q, share) => hits >= share * q - 1e-9,
    specificity: (hits, q, share) => q - hits <= (1 - share) * (rows - positives) + 1e-9,
    fpr: (hits, q, share) => q - hits <= share * (rows - positives) + 1e-9,
  };
  function targetSet() {
    const goal = $("goal").value, share = read("goal-value") / 100, words = $("target-words"), fewest = goal === "recall";
    words.textContent = "";
    redraw();
    complain("goal", goal && !(share >= 0 && share <= 1) ? "Type a number from 0 to 100." : "");
    if (!goal || !(share >= 0 && share <= 1)) return;
    let best = null;
    models.forEach((model, k) => {
      if (!state.shown[k]) return;
      const good = stops.map((_, i) => i).filter((i) => meets[goal](model.hits[i], stops[i], share));
      const i = fewest ? good[0] : good[good.length - 1];
      if (i !== undefined && (best === null || (fewest ? i < best.i : i > best.i))) best = { i, name: model.name };
    });
    const name = $("goal").selectedOptions[0].textContent;
    if (best === null) { words.textContent = `No cut has a ${name} ${percent(share)}.`; return; }
    words.textContent = `${models.length > 1 ? `${best.name} has` : "This cut has"} a ${name} ${percent(share)} with ${counted(stops[best.i], "place")}. It was chosen on these data: expect it to be met on about half of new lists.`;
    choose(best.i, { target: true });
  }
  function prevalenceTyped() {
    const typed = $("prevalence").value !== "" || $("prevalence").validity.badInput, share = read("prevalence") / 100;
    complain("prevalence", typed && !(share > 0 && share < 1) ? "Type a number between 0 and 100." : "");
    state.share = share;
    redraw(true);
  }
  function moneyTyped() {
    state.cost = read("cost");
    state.value = read("value");
    for (const id of ["figure-profit", "switch-profit"]) $(id).hidden = !hasProfit();
    if (!hasProfit() && $("kind-profit").checked) $("kind-gain").checked = true;
    redraw(true);
  }
  function explore() {
    $("slider").addEventListener("input", () => choose(Number($("slider").value)));
    $("quota").addEventListener("input", quotaTyped);
    $("quota").addEventListener("change", () => { if (!$("quota-error").textContent) $("quota").value = stops[state.at]; });
    $("best-go").addEventListener("click", () => choose(state.best));
    if (state.range) {
      $("range-from").value = state.range.sizes[0];
      $("range-to").value = state.range.sizes[state.range.sizes.length - 1];
    }
    for (const id of ["range-from", "range-to"]) $(id).addEventListener("input", rangeTyped);
    for (const id of ["goal", "goal-value"]) $(id).addEventListener("input", targetSet);
    for (const id of ["cost", "value"]) $(id).addEventListener("input", moneyTyped);
    $("prevalence").addEventListener("input", prevalenceTyped);
    document.querySelectorAll(".models input").forEach((box, k) => {
      box.addEventListener("change", () => { state.shown[k] = box.checked; redraw(true); });
    });
    $("log").addEventListener("change", () => { state.log = $("log").checked; redraw(true); });
    for (const c of charts) c.svg.addEventListener("click", (event) => {
      const box = c.svg.getBoundingClientRect();
      const share = ((event.clientX - box.left) * c.svg.viewBox.baseVal.width / box.width - c.left) / c.width;
      choose(nearest(Math.round(state.log ? rows ** share : rows * share)));
    });
    update();
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
