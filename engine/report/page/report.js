// engine/report/page/report.js - the sections of a run's report, from the JSON that report_page.cpp puts into the page.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const rows = data.metrics;
const epochs = rows.map((row) => row.epoch);
const column = (name) => rows.map((row) => (isNumber(row[name]) ? row[name] : null));
const has = (name) => rows.some((row) => isNumber(row[name]));
const option = (name) => (data.config.find(([key]) => key === name) ?? [name, ""])[1];
const hasLabels = data.run.dataset?.task === "multi-label";
const hasValues = data.run.dataset?.task === "regression";
const origin = data.run.dataset?.source === "synthetic" ? ", on synthetic data" : "";

function curves() {
  const scores = (metric) => ["train", "valid", "test"].map((set, i) => [`${set}_${metric}`, set, i])
    .filter(([name]) => has(name)).map(([name, set, i]) => ({ name: set, color: i, values: column(name) }));
  const together = (...metrics) => metrics.filter((metric) => has(`valid_${metric}`))
    .map((metric, i) => ({ name: words(metric), color: i, values: column(`valid_${metric}`) }));
  const one = (name, key) => [{ name, color: 0, values: column(key) }];
  const isConstant = (key) => new Set(column(key)).size <= 1;
  const entropy = hasValues ? "in units of the targets' deviations"
    : hasLabels ? "binary cross entropy" : "cross entropy";
  const nodes = hasLabels ? "known labels" : "nodes";
  const area = `area under the curve${hasLabels ? ", mean over the labels" : ""}`;
  const line = (title, unit, series, format, tick) =>
    lineChart({ title: title + origin, unit, epochs, series, format, tick });
  section("Curves", grid(
    line("Loss of the training batches", entropy, one("train", "loss"), short, short),
    line("Accuracy", `share of ${nodes} predicted right`, scores("accuracy"), percent, percentTick),
    line("ROC AUC", area, scores("rocauc"), percent, percentTick),
    line("Average precision", `under the precision-recall curve${hasLabels ? ", mean over the labels" : ""}`,
      scores("average_precision"), percent, percentTick),
    line("F1", "micro-F1 of all labels", scores("f1"), percent, percentTick),
    line("Scores to which all classes count alike", "of the validation nodes",
      together("macro_f1", "balanced_accuracy", "mcc"), percent, percentTick),
    line("R2", "share of the variance that is explained", scores("r2"), short, short),
    line("Errors of validation", "in the unit of the targets", together("rmse", "mae"), short, short),
    line("Ranks of validation links", "mean of 1 / rank, and shares of ranks up to K",
      together("mrr", ...[1, 3, 10, 20, 50, 100].map((k) => `hits_at_${k}`)), percent, percentTick),
    line("Learning rate", "Adam's step size", isConstant("lr") ? [] : one("learning rate", "lr"), short, short)));
}

function times() {
  const series = (list) => list.map(([name, tone, value]) => ({ name, color: tone, values: rows.map(value) }))
    .filter((s) => s.values.some((value) => value > 0));
  const spent = series(PHASES);
  const hidden = series([
    ["sampling", 0, (row) => secondsOf(row, "sample_seconds")],
    ["gathering rows", 2, (row) => secondsOf(row, "gather_seconds")],
    ["transfer to the GPU", 1, (row) => secondsOf(row, "transfer_seconds")]]);
  if (spent.length === 0) return;
  const bars = (title, unit, list) =>
    list.length > 0 ? stackedBars({ title, unit, epochs, series: list, format: seconds, tick: short }) : null;
  section(`Where the time goes${origin}`, grid(
    bars("Time of an epoch", "seconds, on rank 0", spent),
    bars("Batches prepared meanwhile", "seconds of work", hidden)),
    note("Train: forward, backward and update. Blocked: nothing to compute because the next batch was not ready. "
      + "All-reduce: exchange of gradients, waiting for slower ranks included; a part of Train where it is inside a "
      + "step. Preparing batches overlaps with training: sampling and gathering are core-seconds over all workers and "
      + "ranks (where the GPU samples: the time they waited for it), the transfer is time of rank 0's copy stream."));
}

function sampling() {
  const row = rows.findLast((candidate) => candidate.hop_nodes?.length > 0 && candidate.batches > 0);
  if (!row) return;
  const fanouts = option("fanout").split(",");
  const nodes = [row.seeds, ...row.hop_nodes], most = Math.max(...nodes, ...row.hop_edges);
  const width = (value) => Math.max(2, (75 * value) / most);
  const fanout = (hop) => (fanouts[hop - 1] === "-1" ? "all" : fanouts[hop - 1] ?? "");
  const perBatch = (value, tone) => html("span", {}, count(value / row.batches),
    html("span", { class: "bar under", style: `width:${width(value)}px;background:${color(tone)}` }));
  const lines = nodes.map((value, hop) => {
    const edges = hop === 0 ? 0 : row.hop_edges[hop - 1], targets = hop === 0 ? 0 : nodes[hop - 1];
    return [hop === 0 ? "seeds" : String(hop), hop === 0 ? "" : fanout(hop),
      perBatch(value, 0), hop === 0 ? "" : perBatch(edges, 1), targets > 0 ? (edges / targets).toFixed(1) : ""];
  });
  const numbers = ["fanout", "nodes", "edges", "per target"].map((name) => ({ name, kind: "number" }));
  const columns = [{ name: "hop" }, ...numbers];
  section(`Sampled neighbourhoods${origin}`, fitted(table(`Means per batch, epoch ${row.epoch}`, columns, lines)),
    note("Nodes known after each hop, the seeds and earlier hops included; edges sampled in the hop, and how many that "
      + `is per node known before it. Mean over the ${count(row.batches)} batches of `
      + "all ranks. A node that is sampled more than once counts once."));
}

/** Of a typed graph: its types, its relations, and what batches take of them. */
function types() {
  const { types: list, relations, target, batches } = data.schema ?? {};
  if (!list) return;
  const numbers = (...names) => names.map((name) => ({ name, kind: "number" }));
  const nodes = table("Node types", [{ name: "type" }, ...numbers("nodes", "features")], list.map((type) => [
    type.name + (type.name === target ? " (target)" : ""), count(type.nodes), type.features || "learned rows"]));
  const hops = relations[0]?.edges.map((_, hop) => `hop ${hop + 1}`) ?? [];
  const mean = (value) => (value > 0 && value < 10 ? value.toFixed(1) : count(value));
  const lines = relations.map(({ src, name, dst, entries, edges }) =>
    [src, name, dst, count(entries), ...edges.map(mean)]);
  section("Types and relations", fitted(nodes),
    fitted(table("Relations", [{ name: "from" }, { name: "relation" }, { name: "to" }, ...numbers("entries", ...hops)],
      lines)),
    note("Entries of the store, and edges of each relation in a batch of training: the mean of "
      + `${batches}, hop 1 is that of the seeds.`));
}

/** Of a knowledge graph: where its test links rank, and the relations whose links rank lowest. */
function ranks() {
  const list = data.ranks ?? [];
  const sides = ["tail", "head"].filter((side) => list.some((row) => row.side === side));
  if (sides.length === 0) return;
  const mean = (side, of) => {
    const asked = list.filter((row) => row.side === side);
    return asked.reduce((sum, row) => sum + row.links * of(row), 0) / asked.reduce((sum, row) => sum + row.links, 0);
  };
  const numbers = (...names) => names.map((name) => ({ name, kind: "number" }));
  const bands = [["1", (row) => row.hits_at_1], ["above 1, to 3", (row) => row.hits_at_3 - row.hits_at_1],
    ["above 3, to 10", (row) => row.hits_at_10 - row.hits_at_3], ["above 10", (row) => 1 - row.hits_at_10]];
  const shareOf = (side, tone, of) => {
    const share = Math.max(0, mean(side, of));
    return html("span", {}, percent(share),
      html("span", { class: "bar under", style: `width:${75 * share}px;background:${color(tone)}` }));
  };
  const histogram = table("Ranks of links", [{ name: "rank" }, ...numbers(...sides.map((side) => `${side}s`))],
    bands.map(([name, of]) => [name, ...sides.map((side, i) => shareOf(side, i, of))]));
  const relations = (caption, some) => table(caption, [{ name: "relation" }, { name: "asked for" },
    ...numbers("links", "MRR", "hits at 1", "hits at 10")], some.map((row) => [row.relation, row.side, count(row.links),
    row.mrr.toFixed(4), percent(row.hits_at_1), percent(row.hits_at_10)]));
  const hardest = [...list].sort((a, b) => a.mrr - b.mrr);
  const shown = 10, all = html("details", {}, html("summary", {}, "All relations"), relations("", list));
  section("Ranks of the test links", grid(card(histogram),
    card(relations("Hardest relations", hardest.slice(0, shown)), hardest.length > shown ? all : null)),
  note("Of the best epoch's model, by test_relations.csv: shares of links by the rank of their tail among all that are "
    + "asked for it, and of their head. Hardest: the lowest MRR."));
}

function confusion() {
  const { set, epoch, num_classes: size, class_names: names, cells } = data.confusion ?? {};
  if (!cells && hasLabels)
    section("Predictions", note("A node of this data set has several labels, so there is no confusion matrix."));
  if (!cells) return;
  const setName = set === "valid" ? "validation" : set;
  const counts = Array.from({ length: size }, () => new Array(size).fill(0));
  for (const [truth, predicted, nodes] of cells) counts[truth][predicted] = nodes;
  const name = (k) => (names.length > 0 ? `${k} ${names[k]}` : `class ${k}`);
  const truths = counts.map((row) => row.reduce((a, b) => a + b, 0));
  const guesses = counts.map((_, k) => counts.reduce((sum, row) => sum + row[k], 0));
  const share = (part, whole) => (whole > 0 ? percent(part / whole) : "");
  const pairs = cells.filter(([t, p]) => t !== p).sort((a, b) => b[2] - a[2]).slice(0, size <= 12 ? 8 : 15);
  const numbers = (...list) => list.map((text) => ({ name: text, kind: "number" }));
  const confused = table("Most confused pairs", [{ name: "true" }, { name: "predicted" }, ...numbers("nodes", "share")],
    pairs.map(([t, p, nodes]) => [name(t), name(p), count(nodes), share(nodes, truths[t])]));
  const known = counts.map((_, k) => k).filter((k) => truths[k] > 0);
  const byRecall = [...known].sort((a, b) => counts[a][a] / truths[a] - counts[b][b] / truths[b]);
  const classTable = (caption, list) => table(caption, [{ name: "class" }, ...numbers("nodes", "recall", "precision")],
    list.map((k) => [name(k), count(truths[k]), share(counts[k][k], truths[k]), share(counts[k][k], guesses[k])]));
  const describe = (t, p) => [["true", name(t)], ["predicted", name(p)], ["nodes", count(counts[t][p])],
    ["of the true class", share(counts[t][p], truths[t])]];
  const isMap = size <= 100;
  const map = isMap
    ? heatMap({ title: "Confusion matrix", counts, names, rowTitle: "true class", columnTitle: "predicted class",
      describe })
    : card(classTable("Classes found least", byRecall.slice(0, 15)));
  const all = html("details", {}, html("summary", {}, "All classes"), classTable("", known));
  const right = counts.reduce((sum, row, k) => sum + row[k], 0), total = truths.reduce((a, b) => a + b, 0);
  const target = data.schema?.target ? ` of type ${data.schema.target}` : "";
  section(`Predictions of the ${setName} nodes${target}${origin}`, grid(map, card(confused, all)),
    note(`Model of epoch ${epoch}: ${count(right)} of ${count(total)} labelled ${setName} nodes right `
      + `(${share(right, total)})${isMap ? "; a row's colours are shares of its true class, blue where right" : ""}. `
      + "Share: of the true class."));
}

/** What sampled inference costs in accuracy: rows of `salient-bench inference`. */
function fanouts() {
  const fanoutOf = (row) => Number(/^fanout (\d+)/.exec(row.name)?.[1]);
  const known = data.fanouts.filter((row) => isNumber(row.accuracy));
  const firsts = new Map(known.filter(fanoutOf).map((row) => [fanoutOf(row), row]).reverse());
  const sampled = [...firsts.values()].sort((a, b) => fanoutOf(a) - fanoutOf(b));
  const exact = known.find((row) => row.name.startsWith("exact"));
  if (sampled.length === 0) return;
  const all = exact && { name: "all neighbours", color: 1, isDashed: true, values: sampled.map(() => exact.accuracy) };
  const series = [{ name: "sampled", color: 0, values: sampled.map((row) => row.accuracy) }, all].filter((s) => s);
  const columns = [{ name: "neighbours per hop" }, { name: "accuracy", kind: "number" },
    { name: "seconds", kind: "number" }];
  const cells = (name, row) =>
    [name, percent(row.accuracy), isNumber(row.seconds_best) ? seconds(row.seconds_best) : ""];
  const lines = [...sampled.map((row) => cells(String(fanoutOf(row)), row)), ...(exact ? [cells("all", exact)] : [])];
  section(`Accuracy by inference fanout${origin}`, grid(
    lineChart({ title: "Accuracy by inference fanout", unit: "share of nodes predicted right", series, format: percent,
      tick: percentTick, epochs: sampled.map(fanoutOf), xName: "neighbours per hop" }),
    card(table("", columns, lines))),
  note("As salient-bench inference measured it, when inference.json was written."));
}

/** Embeddings in the plane of their two main directions; the four most frequent classes have colours. */
function embeddings() {
  const { folder, nodes, width, share, x, y, classes } = data.map ?? {};
  if (!x) return;
  const names = data.confusion?.class_names ?? [];
  const name = (k) => (names[k] === undefined ? `class ${k}` : `${k} ${names[k]}`);
  const members = new Map();
  x.forEach((_, i) => members.set(classes[i], members.get(classes[i]) ?? []).get(classes[i]).push(i));
  const bySize = [...members].sort(([, a], [, b]) => b.length - a.length);
  const most = bySize.length > 5 ? 4 : 5;
  const others = bySize.slice(most).flatMap(([, points]) => points);
  const named = bySize.slice(0, most)
    .map(([k, points], i) => ({ name: k === undefined ? "nodes" : name(k), color: i, points }));
  const groups = others.length > 0 ? [{ name: "others", color: 4, points: others }, ...named] : named;
  const describe = (i) => [classes[i] === undefined ? `node ${i} of those shown` : ["predicted", name(classes[i])]];
  section(`Map of the embeddings${origin}`, grid(scatter({ title: "Embeddings", x, y, groups, describe })),
    note(`${count(x.length)} of ${count(nodes)} nodes of predictions/${folder}, ${width} columns, in the plane of the `
      + `two directions in which they vary most: ${percent(share[0])} and ${percent(share[1])} of their variance (PCA).`
      + (classes.length > 0 ? " Colours are predicted classes." : "")));
}

/** Options: those that were changed, then the others; of runs that did not note which, all. */
function options(columns) {
  const changed = data.run.changed;
  if (!changed) return card(table("Options", columns, data.config));
  const [own, rest] = [true, false].map((is) => data.config.filter(([name]) => changed.includes(name) === is));
  return card(table("Options that were changed", columns, own),
    html("details", {}, html("summary", {}, `${rest.length} options at their defaults`), table("", columns, rest)));
}

function facts() {
  const nameless = [{ name: "" }, { name: "", kind: "wrap" }];
  const pairs = (caption, list) => (list.length > 0 ? card(table(caption, nameless, list)) : null);
  const column = (...parts) => html("div", { class: "column" }, ...parts.filter((part) => part));
  const placement = data.run.placement ?? [];
  const columns = ["rank", "host", "device", "numa_nodes", "cores", "workers", "free_memory"]
    .filter((name) => placement[0]?.[name]);
  const ranks = placement.length > 0 ? fitted(table("Ranks", columns.map((name) => ({ name: words(name) })),
    placement.map((rank) => columns.map((name) => String(rank[name]))))) : null;
  const entries = (object) => Object.entries(object ?? {}).map(([key, value]) => [words(key), String(value)]);
  const machine = table(ranks ? "Machine of rank 0" : "", nameless, entries(data.run.machine));
  section("Placement", column(ranks, fitted(machine)));
  const versions = [["program", data.run.program ?? ""], ...entries(data.run.versions)];
  section("Configuration", grid(data.config.length > 0 ? options(nameless) : null,
    column(pairs("Resolved", entries(data.run.resolved)), pairs("Data set", entries(data.run.dataset)),
      pairs("Versions", versions))));
}

function figures() {
  const isKnown = (value) => value !== null && value !== undefined;
  const names = Object.keys(rows[0]).filter((name) => rows.some((row) => isKnown(row[name])));
  const text = (name, value) => (!isKnown(value) ? ""
    : Array.isArray(value) ? value.map(count).join(" / ")
    : isScore(name) ? scoreText(name, value)
    : name.endsWith("_seconds") ? seconds(value)
    : Number.isInteger(value) ? count(value) : short(value));
  const columns = names.map((name) => ({ name: words(name), kind: "number" }));
  const cells = rows.map((row) => names.map((name) => text(name, row[name])));
  section("Figures", card(html("details", {}, html("summary", {}, `Every figure of ${rows.length} epochs`),
    table("", columns, cells))));
}

function files() {
  const link = (name) => html("a", { href: `./${encodeURIComponent(name)}` }, name);
  const list = data.files.flatMap((name, i) => (i === 0 ? [link(name)] : [", ", link(name)]));
  if (list.length > 0) section("Files", html("p", {}, ...list),
    note("The links work where this page lies in its run directory. tensorboard --logdir reads the event files; "
      + "a trace.json opens in ui.perfetto.dev."));
}

if (rows.length > 0) {
  curves();
  times();
  sampling();
} else {
  document.querySelector("main").append(note("No epoch has ended yet."));
}
types();
ranks();
confusion();
fanouts();
embeddings();
facts();
if (rows.length > 0) figures();
files();
