// engine/report/page/parts.js - what the pages share beside charts.js: text of numbers, sections, phases of an epoch.
"use strict";

const percent = (value) => `${(100 * value).toFixed(2)} %`;
const seconds = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(2).replace(/\.?0+$/, "");
const short = (value) => String(Number(value.toPrecision(4)));
const count = (value) => Math.round(value).toLocaleString("en");
const percentTick = (value) => `${Number((100 * value).toPrecision(4))} %`;
/** Of values: their errors, and R2, which may be below 0. All other scores are shares. */
const isOfValues = (name) => /(^|_)(rmse|mae|r2)$/.test(name);
const scoreText = (name, value) => (isOfValues(name) ? short(value) : percent(value));
const scoreTick = (name) => (isOfValues(name) ? short : percentTick);
const isScore = (name) => name === "train_accuracy" || name.startsWith("valid_") || name.startsWith("test_");
const words = (name) => name.replaceAll("_", " ");

function section(title, ...content) {
  const parts = content.filter((part) => part);
  if (parts.length > 0) document.querySelector("main").append(html("h2", {}, title), ...parts);
}
const grid = (...parts) => html("div", { class: "grid" }, ...parts.filter((part) => part));
const note = (text) => html("p", { class: "note" }, text);
const card = (...content) => html("div", { class: "card" }, ...content);
const fitted = (...content) => html("div", { class: "card fit" }, ...content);

/** Phases of an epoch on rank 0: [name, colour, seconds of a row of metrics.jsonl]; they add up to its time. */
const secondsOf = (row, name) => (isNumber(row[name]) ? row[name] : 0);
const PHASES = [
  ["train", 0, (row) => Math.max(0, secondsOf(row, "train_seconds") - secondsOf(row, "allreduce_seconds"))],
  ["all-reduce", 3, (row) => secondsOf(row, "allreduce_seconds")],
  ["blocked", 1, (row) => secondsOf(row, "blocked_seconds")],
  ["other", 4, (row) => Math.max(0, secondsOf(row, "epoch_seconds") - secondsOf(row, "train_seconds")
    - secondsOf(row, "blocked_seconds"))],
  ["evaluation", 2, (row) => secondsOf(row, "eval_seconds")]];
