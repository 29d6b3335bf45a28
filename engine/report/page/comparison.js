// engine/report/page/comparison.js - the sections of a page that compares runs, from the JSON of run_comparison.h.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const MOST_CURVES = 10;  // that can be told apart: five colours, solid and dashed
const { runs } = data;
for (const run of runs) run.rows = run.rows.filter((row) => isNumber(row.epoch));

/** Mean and standard deviation of the sample (divided by n - 1) of the values that are numbers; null of none. */
function spread(values) {
  const known = values.filter(isNumber);
  if (known.length === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: known.length > 1 ? Math.sqrt(squares / (known.length - 1)) : 0, n: known.length };
}
const withDeviation = (name, { mean, deviation, n }) => (n === 1 ? scoreText(name, mean)
  : isOfValues(name) ? `${short(mean)} ± ${short(deviation)}`
  : `${(100 * mean).toFixed(2)} ± ${(100 * deviation).toFixed(2)} %`);

const members = (group) => group.runs.map((index) => runs[index]);
const finished = (group) => members(group).filter((run) => run.state === "finished");
const lastOf = (run, name) => run.rows.findLast((row) => isNumber(row[name]))?.[name];

/** The runs whose mean a group's curves are: those that finished, else all. */
const drawn = (group) => (finished(group).length > 0 ? finished(group) : members(group));

/** What groups are ordered by: the higher, the better. */
function rankOf(set, group) {
  const name = `valid_${set.metric}`;
  const mean = spread(drawn(group).map((run) => run.result[name] ?? lastOf(run, name)))?.mean;
  return mean === undefined ? -1e300 : /_(rmse|mae)$/.test(name) ? -mean : mean;
}

const link = (run) => (run.link
  ? html("a", { href: `./${run.link.split("/").map(encodeURIComponent).join("/")}` }, run.name) : run.name);
const listed = (items) => html("span", {}, ...items.flatMap((item, i) => (i === 0 ? [item] : [", ", item])));
const numbers = (names) => names.map((name) => ({ name, kind: "number" }));
const groupColumn = { name: "group", kind: "name" };

function stateOf(group) {
  const reached = (run) => `${run.rows.length}${run.epochs ? ` of ${run.epochs}` : ""} epochs`;
  return [...new Set(members(group).map((run) => run.state))].map((state) => {
    const of = members(group).filter((run) => run.state === state);
    return `${of.length} ${state || "unknown"}${state === "finished" ? "" : ` (${of.map(reached).join("; ")})`}`;
  }).join(", ");
}

/** "92.61 ± 0.24 %" over the runs that finished; of a group without one, how far it is. */
function score(group, name) {
  const final = spread(finished(group).map((run) => run.result[name]));
  if (final) return withDeviation(name, final);
  const soFar = finished(group).length > 0 ? null : spread(members(group).map((run) => lastOf(run, name)));
  return soFar ? `(${withDeviation(name, soFar)} so far)` : "";
}

function results(set, suffix) {
  const metrics = [...new Set([set.metric, "accuracy", "r2", "rmse", "mae"])];
  const names = metrics.flatMap((metric) => [`valid_${metric}`, `test_${metric}`])
    .filter((name) => set.groups.some((group) => score(group, name)));
  const columns = [groupColumn, ...numbers([...names.map(words), "n"]), { name: "seeds" }, { name: "state" },
    { name: "runs", kind: "list" }];
  const best = set.groups.length > 1 ? set.groups.find((group) => finished(group).length > 0) : null;
  const badge = () => html("span", { class: "badge best" }, "best");
  const name = (group) => (group === best ? html("b", {}, group.label, " ", badge()) : group.label);
  const lines = set.groups.map((group) => [name(group), ...names.map((each) => score(group, each)),
    String(finished(group).length), members(group).map((run) => run.seed).join(", "), stateOf(group),
    listed(members(group).map(link))]);
  const hasRepeats = (group) => new Set(members(group).map((run) => run.seed)).size < group.runs.length;
  const repeated = set.groups.filter(hasRepeats);
  section(`Results${suffix}`, card(table("", columns, lines)),
    note("The best by validation comes first. A group is the runs whose options differ in the seed alone. Scores are "
      + "the mean over its n finished runs and the standard deviation of the sample, of each run's best epoch by "
      + "validation."),
    repeated.length > 0 ? note(`Not a spread over seeds alone, since a seed occurs more than once: ${
      repeated.map((group) => group.label).join("; ")}.`) : null);
}

function differences(set, suffix) {
  const lines = (values) => set.groups.map((group) => [group.label, ...values(group)]);
  const facts = (names, values) => (names.length > 0
    ? [table("", [groupColumn, ...names.map((name) => ({ name: words(name) }))], lines(values))] : []);
  const options = facts(set.options, (group) => group.options);
  const machines = facts(set.facts, (group) => group.facts);
  section(`Options that differ${suffix}`, options.length > 0 ? card(...options)
    : note("The runs differ in nothing but their seeds."));
  if (machines.length > 0)
    section(`Machines and versions that differ${suffix}`, card(...machines),
      note("Also what options left to the program came to. Times of different machines are not alike."));
}

/** Mean and deviation of a column per epoch, over the drawn runs of a group that have the epoch. */
function curveOf(group, name, epochs) {
  const values = new Map(epochs.map((epoch) => [epoch, []]));
  for (const run of drawn(group)) for (const row of run.rows) values.get(row.epoch)?.push(row[name]);
  const spreads = epochs.map((epoch) => spread(values.get(epoch)));
  return { values: spreads.map((s) => s?.mean ?? null), spread: spreads.map((s) => s?.deviation ?? 0) };
}

function curves(set, suffix) {
  const epochs = [...new Set(set.groups.flatMap(drawn).flatMap((run) => run.rows.map((row) => row.epoch)))]
    .sort((a, b) => a - b);
  if (epochs.length === 0) return section(`Curves${suffix}`, note("No epoch has ended yet."));
  const numOthers = Math.max(0, set.groups.length - MOST_CURVES);
  const styles = set.groups.map((group, i) => (i < MOST_CURVES
    ? { group, name: group.label, color: i % 5, isDashed: i >= 5 }
    : { group, name: i === MOST_CURVES ? `${numOthers} others` : null, color: 4, isFaint: true })).reverse();
  const series = (name) => styles.map((style) => ({ ...style, ...curveOf(style.group, name, epochs),
    ...(style.isFaint ? { spread: [] } : {}) })).filter((s) => s.values.some(isNumber));
  const line = (title, unit, name, format, tick) =>
    lineChart({ title: title + origin(set), unit, epochs, series: series(name), format, tick, hasKey: false });
  const scoreLine = (part, title) =>
    line(`${title} ${set.metric}`, "", `${part}_${set.metric}`,
      (value) => scoreText(set.metric, value), scoreTick(set.metric));
  const both = [scoreLine("valid", "Validation"), scoreLine("train", "Training"), scoreLine("test", "Test")];
  const key = set.groups.length > 1 ? card(legend([...styles].reverse())) : null;
  return section(`Curves${suffix}`, key, grid(
    line("Loss of the training batches", "", "loss", short, short), ...both),
  note("Means over the runs of a group that finished, or over all where none did; the band is one standard deviation "
    + "to either side."
    + (numOthers > 0 ? ` The ${MOST_CURVES} groups with the best validation score have colours.` : "")));
}

/** Seconds of each phase, mean over the epochs of the drawn runs. The first epoch, which also warms up, and one that
 *  was resumed in its middle are left out where there are others. */
function phasesOf(group) {
  const means = drawn(group).map((run) => {
    const [, most] = extent(run.rows.map((row) => row.batches ?? 0));
    const whole = run.rows.filter((row) => (row.batches ?? 0) === most);
    const used = whole.length > 1 ? whole.filter((row) => row !== run.rows[0]) : whole;
    return PHASES.map(([, , of]) => used.reduce((sum, row) => sum + of(row), 0) / used.length);
  }).filter((times) => times.every(isNumber));
  return means.length > 0 ? PHASES.map((_, k) => spread(means.map((times) => times[k])).mean) : null;
}

function times(set, suffix) {
  const spent = set.groups.map((group) => [group, phasesOf(group)]).filter(([, phases]) => phases);
  if (spent.length === 0) return;
  const total = (phases) => phases.reduce((sum, value) => sum + value, 0);
  const most = Math.max(...spent.map(([, phases]) => total(phases)), 1e-9);
  const used = PHASES.map((_, k) => k).filter((k) => spent.some(([, phases]) => phases[k] > 0));
  const bar = (phases) => html("span", { class: "bars" }, ...used.map((k) =>
    html("span", { class: "bar", style: `width:${(200 * phases[k]) / most}px;background:${color(PHASES[k][1])}` })));
  const columns = [groupColumn, ...numbers([...used.map((k) => PHASES[k][0]), "together"]), { name: "" }];
  const lines = spent.map(([group, phases]) =>
    [group.label, ...used.map((k) => seconds(phases[k])), seconds(total(phases)), bar(phases)]);
  const key = legend(used.map((k) => ({ name: PHASES[k][0], color: PHASES[k][1] })));
  section(`Where the time goes${suffix}`, card(key, table("Seconds of an epoch, on rank 0", columns, lines)),
    note("Means over the epochs but the first, then over the runs of the group."));
}

const origin = (set) => (set.synthetic ? ", on synthetic data" : "");
if (data.sets.length > 1)
  document.querySelector("main").append(note(`These runs are not all alike: ${
    data.sets.map((set) => set.title).join("; ")}. Only runs on the same data and by the same metric are compared.`));
for (const set of data.sets) {
  const suffix = ` · ${set.title}${origin(set)}`;
  const ranks = new Map(set.groups.map((group) => [group, rankOf(set, group)]));
  set.groups.sort((a, b) => ranks.get(b) - ranks.get(a));
  results(set, suffix);
  differences(set, suffix);
  curves(set, suffix);
  times(set, suffix);
}
