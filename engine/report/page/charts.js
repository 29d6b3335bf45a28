// engine/report/page/charts.js - line charts, stacked bars and a heat map in SVG, drawn anew when their width changes.
// By hand: a library (chart.js) would put 200 KB into every report, and draws on a canvas, which prints badly.
"use strict";

/** Makes elements of a namespace: a child that is a string becomes text, never markup. */
const maker = (namespace) => (name, attributes = {}, ...children) => {
  const node = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
};
const html = maker("http://www.w3.org/1999/xhtml");
const svg = maker("http://www.w3.org/2000/svg");

const HEIGHT = 250;
const color = (index) => `var(--c${index})`;
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
/** The smallest and the largest, of any number of values: Math.max(...values) takes about 100 000. */
const extent = (values) =>
  values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

/** Multiples of 1, 2 or 5 times a power of ten in [low, high], about `count` of them, `smallest` or more apart. */
function ticks(low, high, count, smallest = 0) {
  const wanted = Math.max((high - low) / count, 1e-12);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = Math.max(smallest, [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= wanted * 0.75));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + step * 1e-6; ++i)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

function legend(series) {
  const stripes = (tone) => `repeating-linear-gradient(90deg, ${tone} 0 4px, transparent 4px 6px)`;
  const mark = (s) => html("i", { style: `background:${s.isDashed ? stripes(color(s.color)) : color(s.color)}` });
  return html("ul", { class: "legend" }, ...series.filter((s) => s.name).map((s) => html("li", {}, mark(s), s.name)));
}

/** A figure whose content draw(width) returns; one of `series` needs no legend, nor do some that stand above. */
function figure(title, series, draw, hasKey = true) {
  const place = html("div");
  const tip = html("div", { class: "tooltip", hidden: "" });
  const key = hasKey && series.length > 1 ? legend(series) : null;
  const box = html("figure", { class: "card" }, html("figcaption", {}, title), key, place, tip);
  let drawn = 0;
  new ResizeObserver(() => {
    const width = place.clientWidth;
    if (width === drawn || width === 0) return;
    drawn = width;
    tip.hidden = true;
    place.replaceChildren(draw(width, tip));
  }).observe(place);
  return box;
}

/** Shows `lines` ([name, value] or one text) beside the point (x, y) of the figure's drawing. */
function showTip(tip, drawing, x, y, lines) {
  tip.replaceChildren(...lines.map((line) => html("div", {}, ...[line].flat().map((text) => html("span", {}, text)))));
  tip.hidden = false;
  const right = drawing.parentNode.offsetLeft + x + 14;
  const fits = right + tip.offsetWidth < tip.parentNode.clientWidth;
  tip.style.left = `${fits ? right : Math.max(4, right - tip.offsetWidth - 28)}px`;
  tip.style.top = `${drawing.parentNode.offsetTop + y}px`;
}

/** Axes of a chart over epochs, or what xName calls `xs`: the drawing, its plot area, and the vertical scale. */
function axes(width, xs, low, high, unit, tick, describe, xName = "epoch") {
  const levels = ticks(low, high, 5);
  const labels = levels.map(tick);
  const left = 12 + 7 * Math.max(...labels.map((label) => label.length));
  const area = { left, right: width - 12, top: 26, bottom: HEIGHT - 38 };
  const y = (value) => area.bottom - ((value - low) / (high - low)) * (area.bottom - area.top);
  const drawing =
    svg("svg", { height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": describe });
  drawing.append(svg("text", { x: 0, y: 12 }, unit));
  levels.forEach((level, i) => drawing.append(
    svg("line", { class: "gridline", x1: left, x2: area.right, y1: y(level), y2: y(level) }),
    svg("text", { x: left - 7, y: y(level) + 4, "text-anchor": "end" }, labels[i])));
  drawing.append(svg("line", { class: "axis", x1: left, x2: area.right, y1: area.bottom, y2: area.bottom }),
    svg("text", { x: (left + area.right) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, xName));
  const numTicks = Math.max(2, Math.floor((area.right - left) / 60));
  const xTicks = (x) => ticks(xs[0], xs[xs.length - 1], numTicks, 1).forEach((epoch) =>
    drawing.append(svg("text", { x: x(epoch), y: area.bottom + 17, "text-anchor": "middle" }, String(epoch))));
  return { drawing, area, y, xTicks };
}

/** Calls on(nearest(x)) for the pointer's x in the drawing, and off() when the pointer leaves. */
function hover(drawing, nearest, on, off) {
  drawing.addEventListener("pointermove", (event) => on(nearest(event.clientX - drawing.getBoundingClientRect().left)));
  drawing.addEventListener("pointerleave", off);
}

/** The area of one standard deviation above and below a curve. */
function band(s, points, y) {
  const edge = (sign) => points.map(([px, value, i]) => `${px.toFixed(1)},${y(value + sign * s.spread[i]).toFixed(1)}`);
  return svg("polygon", { class: "band", fill: color(s.color), points: [...edge(1), ...edge(-1).reverse()].join(" ") });
}

/** A curve with its points, where they are few. */
function curve(s, points, y) {
  const path = points.map(([px, value]) => `${px.toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const dashes = s.isDashed ? { "stroke-dasharray": "6 4" } : {};
  const kind = s.isFaint ? "curve faint" : "curve";
  const line = svg("polyline", { class: kind, points: path, stroke: color(s.color), ...dashes });
  const dot = ([px, value]) => svg("circle", { cx: px, cy: y(value), r: 2.5, fill: color(s.color) });
  return [line, ...(points.length <= 40 && !s.isFaint ? points.map(dot) : [])];
}

/** @param series  [{name, color, values, spread?, isDashed?, isFaint?}], a value per epoch or null; `spread` is the
 *                 standard deviation of each; faint ones have no tooltip
 *  @param format, tick  of values; on the axis
 *  @param hasKey  whether it shows which colour is which   @param xName  of what `epochs` are, where they are others */
function lineChart({ title, unit, epochs, series, format, tick, hasKey = true, xName = "epoch" }) {
  const reach = (s, sign) => s.values.map((v, i) => (isNumber(v) ? v + sign * (s.spread?.[i] ?? 0) : null));
  const all = series.flatMap((s) => [...reach(s, 1), ...reach(s, -1)].filter(isNumber));
  if (all.length === 0) return null;
  const [least, most] = extent(all);
  const margin = (most - least) * 0.06 || Math.abs(all[0]) * 0.1 || 1;
  const [low, high] = [least - margin, most + margin];
  return figure(title, series, (width, tip) => {
    const { drawing, area, y, xTicks } = axes(width, epochs, low, high, unit, tick, title, xName);
    const [first, last] = [epochs[0], epochs[epochs.length - 1]];
    const x = (epoch) => (first === last ? (area.left + area.right) / 2
      : area.left + 6 + ((epoch - first) / (last - first)) * (area.right - area.left - 12));
    xTicks(x);
    for (const s of series) {
      const points = epochs.map((epoch, i) => [x(epoch), s.values[i], i]).filter(([, value]) => isNumber(value));
      if (s.spread?.some((deviation) => deviation > 0)) drawing.append(band(s, points, y));
      drawing.append(...curve(s, points, y));
    }
    const guide = svg("line", { class: "guide", y1: area.top, y2: area.bottom, visibility: "hidden" });
    drawing.append(guide);
    const distance = (px, epoch) => Math.abs(x(epoch) - px);
    const nearest = (px) =>
      epochs.reduce((best, epoch, i) => (distance(px, epoch) < distance(px, epochs[best]) ? i : best), 0);
    hover(drawing, nearest, (i) => {
      guide.setAttribute("x1", x(epochs[i]));
      guide.setAttribute("x2", x(epochs[i]));
      guide.setAttribute("visibility", "visible");
      const text = (s) => format(s.values[i]) + (s.spread?.[i] > 0 ? ` ± ${format(s.spread[i])}` : "");
      const values = series.filter((s) => !s.isFaint && isNumber(s.values[i])).map((s) => [s.name, text(s)]);
      showTip(tip, drawing, x(epochs[i]), area.top, [`${xName} ${epochs[i]}`, ...values]);
    }, () => { guide.setAttribute("visibility", "hidden"); tip.hidden = true; });
    return drawing;
  }, hasKey);
}

/** Means over groups of `size` neighbours; null counts as 0. */
function grouped(values, size) {
  const means = [];
  for (let i = 0; i < values.length; i += size) {
    const group = values.slice(i, i + size);
    means.push(group.reduce((sum, value) => sum + (value ?? 0), 0) / group.length);
  }
  return means;
}

/** One bar per epoch, or per group of epochs where there is no room; `series` from the bottom up. */
function stackedBars({ title, unit, epochs, series, format, tick }) {
  return figure(title, series, (width, tip) => {
    const size = Math.ceil(epochs.length / Math.max(10, Math.floor((width - 60) / 7)));
    const stacks = series.map((s) => grouped(s.values, size));
    const starts = epochs.filter((_, i) => i % size === 0);
    const totals = starts.map((_, i) => stacks.reduce((sum, stack) => sum + stack[i], 0));
    const { drawing, area, y, xTicks } = axes(width, epochs, 0, Math.max(...totals, 1e-9) * 1.04, unit, tick, title);
    const pitch = (area.right - area.left) / starts.length;
    const thick = Math.max(1, Math.min(pitch * 0.78, 56));
    xTicks((epoch) => area.left + ((epoch - epochs[0]) / size + 0.5) * pitch);
    starts.forEach((_, i) => {
      let base = 0;
      stacks.forEach((stack, k) => {
        const top = base + stack[i];
        if (stack[i] > 0) drawing.append(svg("rect", { x: area.left + (i + 0.5) * pitch - thick / 2, width: thick,
          y: y(top), height: y(base) - y(top), fill: color(series[k].color) }));
        base = top;
      });
    });
    const nearest = (px) => Math.max(0, Math.min(starts.length - 1, Math.floor((px - area.left) / pitch)));
    hover(drawing, nearest, (i) => {
      const end = Math.min(i * size + size, epochs.length) - 1;
      const name = end > i * size ? `epochs ${starts[i]} to ${epochs[end]}, mean` : `epoch ${starts[i]}`;
      const parts = series.map((s, k) => [s.name, format(stacks[k][i])]).reverse();
      const total = series.length > 1 ? [["together", format(totals[i])]] : [];
      showTip(tip, drawing, area.left + (i + 0.5) * pitch, area.top, [name, ...parts, ...total]);
    }, () => { tip.hidden = true; });
    return drawing;
  });
}

const pen = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** `text`, or as many of its first and last letters as `room` pixels hold: names that begin alike end otherwise. */
function fitText(text, room) {
  const letters = [...text];
  let numLetters = letters.length;
  const part = (from, to) => letters.slice(from, to).join("");
  const shown = () => (numLetters === letters.length ? text
    : `${part(0, Math.ceil(numLetters / 2))}…${part(letters.length - Math.floor(numLetters / 2))}`);
  while (numLetters > 1 && textWidth(shown()) > room) --numLetters;
  return shown();
}

/** Rows are shaded by each cell's share of its row. @param counts  [C][C]   @param names  [C], or none: numbers
 *  @param describe  (row, column) -> lines */
function heatMap({ title, counts, names, rowTitle, columnTitle, describe }) {
  const size = counts.length;
  return figure(title, [], (width, tip) => {
    const labels = counts.map((_, k) => fitText(names[k] ?? String(k), width / 4));
    const room = Math.max(...labels.map(textWidth)), isTurned = names.length > 0;
    const left = 30 + room, top = isTurned ? 26 + room : 40;
    const cell = Math.min(44, (width - left - 4) / size);
    const every = Math.ceil((isTurned ? 16 : 20) / cell);  // labels that do not touch
    const height = top + cell * size + 6;
    const drawing = svg("svg", { height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
    drawing.append(svg("text", { x: left, y: 12 }, columnTitle),
      svg("text", { transform: `translate(12 ${top + Math.min(cell * size, 110)}) rotate(-90)` }, rowTitle));
    const side = cell * size;
    drawing.append(svg("path", { class: "axis", fill: "none", d: `M${left} ${top}h${side}v${side}h${-side}z` }));
    counts.forEach((row, r) => {
      const sum = row.reduce((a, b) => a + b, 0);
      row.forEach((count, c) => {
        const share = sum > 0 ? count / sum : 0;
        const [x, y] = [left + c * cell, top + r * cell];
        if (cell < 14 && count === 0) return;
        const stroke = cell > 14 ? 1 : 0.3, opacity = count > 0 ? Math.max(0.07, share ** 0.7) : 0;
        drawing.append(svg("rect", { class: "gridline", x, y, width: cell, height: cell, "stroke-width": stroke,
          fill: color(r === c ? 0 : 1), style: `fill-opacity:calc(${opacity} * var(--shade))` }));
        if (cell >= 30 && count > 0)
          drawing.append(svg("text", { x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle",
            style: "fill:var(--text)" },
          cell >= 38 || count < 1000 ? String(count) : `${Math.round(count / 1000)}k`));
      });
      if (r % every !== 0) return;
      const middle = (r + 0.5) * cell;
      const above = isTurned ? { transform: `translate(${left + middle + 4} ${top - 6}) rotate(-90)` }
        : { x: left + middle, y: top - 6, "text-anchor": "middle" };
      drawing.append(svg("text", { x: left - 5, y: top + middle + 4, "text-anchor": "end" }, labels[r]),
        svg("text", above, labels[r]));
    });
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const [c, r] = [(event.clientX - box.left - left) / cell, (event.clientY - box.top - top) / cell].map(Math.floor);
      const isInside = r >= 0 && c >= 0 && r < size && c < size;
      if (isInside) showTip(tip, drawing, left + (c + 1) * cell, top + (r + 1) * cell, describe(r, c));
      else tip.hidden = true;
    });
    drawing.addEventListener("pointerleave", () => { tip.hidden = true; });
    return drawing;
  });
}

/** Points of [0, 999]^2. @param groups  [{name, color, points: [index]}], drawn in this order
 *  @param describe  index -> lines of the tooltip of the nearest point */
function scatter({ title, x, y, groups, describe }) {
  return figure(title, groups, (width, tip) => {
    const side = Math.min(width, 640) - 12, scale = side / 999;
    const drawing =
      svg("svg", { height: side + 12, viewBox: `0 0 ${width} ${side + 12}`, role: "img", "aria-label": title });
    const place = (i) => [6 + x[i] * scale, 6 + (999 - y[i]) * scale];
    for (const group of groups) {  // one path, whose pieces of no length are round dots
      const dots = group.points.map((i) => place(i).map((at) => at.toFixed(1)).join(" ")).map((at) => `M${at}h0`);
      drawing.append(svg("path", { class: "dots", stroke: color(group.color), d: dots.join("") }));
    }
    const nearest = (px, py) => {
      const distance = (i) => Math.hypot(place(i)[0] - px, place(i)[1] - py);
      return x.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
    };
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const i = nearest(event.clientX - box.left, event.clientY - box.top);
      showTip(tip, drawing, ...place(i), describe(i));
    });
    drawing.addEventListener("pointerleave", () => { tip.hidden = true; });
    return drawing;
  });
}

/** @param columns  [{name, kind?: "number" | "wrap"}]   @param rows  arrays of strings or nodes */
function table(caption, columns, rows) {
  const kind = (column) => ({ class: column.kind ?? "" });
  const head = html("tr", {}, ...columns.map((c) => html("th", kind(c), c.name)));
  const body = rows.map((row) => html("tr", {}, ...row.map((value, i) => html("td", kind(columns[i]), value))));
  const title = caption ? html("caption", {}, caption) : null;
  return html("div", { class: "scroll" },
    html("table", {}, title, html("thead", {}, head), html("tbody", {}, ...body)));
}
