#!/usr/bin/env python3
"""report.html in a real browser, light and dark: of runs that ended in different ways, and of made-up difficult ones.

    report_browser_test.py BIN_DIRECTORY [SCREENSHOT_DIRECTORY]      needs chromium, else skipped; a minute on 2 cores
"""
import csv
import json
import math
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import npy
from browser import Browser, find_browser

BIN = pathlib.Path(sys.argv[1]).resolve()
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
SMALL = ["--device", "cpu", "--hidden", "8", "--fanout", "4,3", "--eval-fanout", "4,4", "--batch-size", "100",
         "--eval-batch-size", "500", "--lr", "0.01", "--workers", "1", "--threads", "1", "--progress", "none"]
EVIL = "</script><b id=evil>&"
LOOKS = (("light", "light", 1280), ("dark", "dark", 1280), ("phone", "light", 390), ("dark phone", "dark", 390))
EVERY_RUN = ["Placement", "Configuration", "Files"]
WITH_EPOCHS = ["Curves", "Where the time goes", "Sampled neighbourhoods", "Figures"]
CLASSES = "Scores to which all classes count alike"
LOSS, TIMES = ["Loss of the training batches"], ["Time of an epoch", "Batches prepared meanwhile"]

# What the test reads off a page. Contrast is that of WCAG 2: 3 for marks, 4.5 for text.
INSPECT = """
(() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const weights = [0.2126, 0.7152, 0.0722];
  const luminance = (rgb) => rgb.slice(0, 3).map(channel).reduce((sum, c, i) => sum + c * weights[i], 0);
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const style = (node) => getComputedStyle(node);
  const size = (node) => { const box = node.getBoundingClientRect(); return [box.width, box.height]; };
  const charts = [...document.querySelectorAll("figure")].map((figure) => {
    const drawing = figure.querySelector("svg");
    const card = rgb(style(figure).backgroundColor);
    const nodes = [...(drawing?.querySelectorAll("*") ?? [])];
    const isMark = (node) => node.matches("polyline, circle, rect, .dots") && style(node).fillOpacity > 0;
    const marks = nodes.filter(isMark).map((node) => {
      const [width, height] = size(node);
      const paint = node.matches("polyline, .dots") ? style(node).stroke : style(node).fill;
      return { tag: node.tagName, width, height, points: node.getAttribute("points"),
               contrast: contrast(rgb(paint), card), opacity: Number(style(node).fillOpacity),
               y: Number(node.getAttribute("cy") ?? node.getAttribute("y") ?? 0) };
    });
    const texts = nodes.filter((node) => node.tagName === "text" && !node.style.fill);
    const boxes = texts.map((node) => [node.textContent, node.getBoundingClientRect()]);
    const meet = (a, b, from, to) => a[from] < b[to] - 1 && b[from] < a[to] - 1;
    const overlap = (a, b) => meet(a, b, "left", "right") && meet(a, b, "top", "bottom");
    const isBroken = (attribute) => /NaN|undefined|Infinity|null/.test(attribute.value);
    const frame = figure.getBoundingClientRect();
    const cells = nodes.filter((node) => node.tagName === "text" && node.style.fill).map((node) => {
      const cell = style(node.previousElementSibling), share = Number(cell.fillOpacity);
      return contrast(rgb(style(node).fill), rgb(cell.fill).map((c, i) => share * c + (1 - share) * card[i]));
    });
    return {
      title: figure.querySelector("figcaption").textContent, labels: texts.map((node) => node.textContent),
      size: drawing ? size(drawing) : [0, 0],
      series: figure.querySelectorAll(".legend li").length || 1, marks,
      broken: nodes.flatMap((node) => [...node.attributes]).filter(isBroken).map((a) => `${a.name}=${a.value}`),
      text_contrast: Math.min(21, ...texts.map((node) => contrast(rgb(style(node).fill), card))),
      cell_contrast: Math.min(21, ...cells),
      overlaps: boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => overlap(p, q)).map(([b]) => [a, b])),
      outside: boxes.filter(([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1).map(([text]) => text),
    };
  });
  const cellsOf = (row) => [...row.cells].map((cell) => cell.textContent);
  const table = (t) => ({ caption: t.caption?.textContent ?? "", head: cellsOf(t.tHead.rows[0]),
                          rows: [...t.tBodies[0].rows].map(cellsOf) });
  const result = (card) => [card.querySelector("span").textContent, card.querySelector("b").textContent];
  return {
    charts, headings: [...document.querySelectorAll("h2")].map((h) => h.textContent),
    tables: [...document.querySelectorAll("table")].map(table),
    legends: [...document.querySelectorAll(".legend")].map((list) => list.children.length),
    results: Object.fromEntries([...document.querySelectorAll(".results div")].map(result)),
    status: document.querySelector(".status").textContent, status_class: document.querySelector(".status").className,
    reloads: document.querySelector("meta[http-equiv=refresh]") !== null,
    evil: document.querySelectorAll("#evil").length,
    page_luminance: luminance(rgb(style(document.body).backgroundColor)),
    body_contrast: contrast(rgb(style(document.body).color), rgb(style(document.body).backgroundColor)),
    too_wide: document.documentElement.scrollWidth - window.innerWidth, text: document.body.innerText,
  };
})()
"""


def run(program, *args):
    return subprocess.run([BIN / program, *map(str, args)], text=True, capture_output=True, timeout=300)


def made_up_row(epoch):
    return {"epoch": epoch, "step": 10 * epoch, "loss": 1 / epoch, "train_accuracy": 0.9, "valid_accuracy": 0.8,
            "lr": 0.1, "epoch_seconds": 2.0, "train_seconds": 1.5, "blocked_seconds": 0.3, "sample_seconds": 1.0,
            "eval_seconds": 0.5,
            "batches": 4, "seeds": 40, "nodes": 400, "edges": 800, "hop_nodes": [160, 400], "hop_edges": [200, 600]}


class ReportInABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="salient-browser-test-"))
        cls.browser = Browser(find_browser())
        for name, classes in (("five", 5), ("two", 2)):
            made = run("salient-prepare", "synthetic", "--nodes", 3000, "--mean-degree", 8, "--features", 8,
                       "--classes", classes, "--out", cls.work / name)
            assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        shutil.rmtree(cls.work)

    def train_command(self, name, *args, dataset="five"):
        where = ["--dataset", self.work / dataset, "--out", self.work / name]
        return [str(word) for word in (BIN / "salient-train", *where, *SMALL, *args)]

    def start(self, name, num_epochs):
        return subprocess.Popen(self.train_command(name, "--epochs", num_epochs), text=True, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def wait_for_epoch(self, process, number):
        for line in process.stderr:
            if line.startswith(f"epoch {number}:"):
                return
        self.fail(f"the run ended before epoch {number}")

    def train(self, name, *args, **options):
        result = subprocess.run(self.train_command(name, *args, **options), text=True, capture_output=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.work / name

    def end_after_two_epochs(self, name, with_signal):
        process = self.start(name, 200)
        self.wait_for_epoch(process, 2)
        process.send_signal(with_signal)
        process.communicate(timeout=300)
        return process.returncode

    def inspect(self, directory, charts, headings):
        return self.inspect_page(directory / "report.html", directory.name, charts, headings + EVERY_RUN)

    def inspect_page(self, file, name, charts, headings):
        """Checks what holds for every page, in both schemes and on a phone. @return what the light page shows"""
        shown = {}
        for look, scheme, width in LOOKS:
            with self.subTest(name, look=look):
                page = self.browser.open(file, scheme, width)
                found = shown[look] = page.evaluate(INSPECT)
                self.assertEqual(page.problems(), [])
                if PICTURES:
                    page.screenshot(PICTURES / f"{name}-{look.replace(' ', '-')}.png")
                self.assertEqual([c["title"].split(",")[0] for c in found["charts"]], charts)
                for chart in found["charts"]:
                    self.check_chart(chart)
                    self.point_at(page, found["charts"].index(chart))
                self.assertEqual(page.problems(), [], "after the pointer was over every chart")
                for heading in headings:
                    self.assertTrue([h for h in found["headings"] if h.startswith(heading)], heading)
                self.assertNotRegex(found["text"], r"\b(NaN|undefined|null|Infinity)\b")
                self.assertLessEqual(found["too_wide"], 0)
                self.assertGreater(found["body_contrast"], 7)
                (self.assertLess if scheme == "dark" else self.assertGreater)(found["page_luminance"], 0.5)
                page.close()
        return shown["light"]

    def check_chart(self, chart):
        title = chart["title"]
        self.assertEqual(chart["broken"], [], title)
        self.assertGreater(min(chart["size"]), 100, title)
        self.assertGreaterEqual(len(chart["marks"]), chart["series"], f"{title} has no marks")
        for mark in chart["marks"]:
            self.assertTrue(all(map(math.isfinite, (mark["width"], mark["height"], mark["y"]))), (title, mark))
            is_level = mark["tag"] == "polyline"  # of one epoch, or of equal values: a line without height
            self.assertTrue(is_level or min(mark["width"], mark["height"]) > 0, (title, mark))
            self.assertTrue(mark["opacity"] < 1 or mark["contrast"] > 2.9, (title, mark))
        self.assertGreater(chart["text_contrast"], 4.5, title)
        self.assertGreater(chart["cell_contrast"], 3, title)
        self.assertEqual(chart["overlaps"], [], title)
        self.assertEqual(chart["outside"], [], title)

    def point_at(self, page, index):
        """Moves the pointer over a chart: its tooltip says what is there."""
        page.evaluate(f"document.querySelectorAll('figure')[{index}].scrollIntoView({{block: 'center'}})")
        x, y = page.evaluate(f"""(() => {{
          const drawing = document.querySelectorAll('figure')[{index}].querySelector('svg');
          const all = drawing.getBoundingClientRect(), cell = drawing.querySelector('rect')?.getBoundingClientRect();
          return cell ? [cell.left + cell.width / 2, cell.top + cell.height / 2]
            : [all.left + 80, all.top + Math.min(all.height / 2, 60)];
        }})()""")
        page.move_pointer(x, y)
        tip = page.evaluate(f"document.querySelectorAll('figure')[{index}].querySelector('.tooltip:not([hidden])')"
                            "?.textContent ?? ''")
        self.assertRegex(tip, r"\d")
        self.assertNotRegex(tip, "NaN|undefined|null")

    def rows_of(self, directory):
        with open(directory / "metrics.csv") as file:
            return list(csv.DictReader(file))

    def check_figures(self, directory, found):
        """The page's numbers are those of metrics.csv, in the table and as heights of the loss's points."""
        rows = self.rows_of(directory)
        table = found["tables"][-1]
        self.assertEqual(len(table["rows"]), len(rows))
        for shown, row in zip(table["rows"], rows):
            shown = dict(zip(table["head"], shown))
            self.assertEqual(shown["epoch"], row["epoch"])
            self.assertEqual(shown["step"].replace(",", ""), row["step"])
            self.assertAlmostEqual(float(shown["loss"]), float(row["loss"]), delta=1e-3 * float(row["loss"]))
            self.assertEqual(shown["edges"].replace(",", ""), row["edges"])
            if row["valid_accuracy"]:
                self.assertEqual(shown["valid accuracy"], f"{100 * float(row['valid_accuracy']):.2f} %")
        loss = [float(row["loss"]) for row in rows]
        points = found["charts"][0]["marks"][0]["points"].split()
        heights = [float(point.split(",")[1]) for point in points]
        self.assertEqual(len(heights), len(rows))
        spread, drop = max(loss) - min(loss), max(heights) - min(heights)
        for value, y in zip(loss, heights):
            self.assertAlmostEqual((max(loss) - value) / spread, (y - min(heights)) / drop, delta=0.01)

    def test_a_finished_run_shows_its_curves_and_its_result(self):
        directory = self.train("finished", "--epochs", 4, "--schedule", "cosine")
        found = self.inspect(directory, [*LOSS, "Accuracy", CLASSES, "Learning rate", *TIMES, "Confusion matrix"],
                             [*WITH_EPOCHS, "Predictions of the test nodes"])
        changed, others = [next(t for t in found["tables"] if ["schedule", value] in t["rows"] or
                                ["jk", value] in t["rows"]) for value in ("cosine", "none")]
        self.assertEqual(changed["caption"], "Options that were changed")
        self.assertIn(["epochs", "4"], changed["rows"])
        self.assertIn(f"{len(others['rows'])} options at their defaults", found["text"])
        self.check_figures(directory, found)
        self.assertIn("finished", found["status_class"])
        self.assertFalse(found["reloads"])
        result = json.loads((directory / "run.json").read_text())["result"]
        self.assertEqual(found["results"]["test accuracy"], f"{result['test_accuracy']:.4f}")
        self.assertEqual(found["results"]["valid accuracy"], f"{result['valid_accuracy']:.4f}")
        counts = sum(n for _, _, n in json.loads((directory / "confusion.json").read_text())["cells"])
        self.assertRegex(found["text"], rf" of {counts:,} labelled test nodes right")

    def test_two_classes_have_a_curve_of_roc_auc(self):
        directory = self.train("roc-auc", "--epochs", 3, dataset="two")
        curves = [*LOSS, "Accuracy", "ROC AUC", "Average precision", CLASSES, *TIMES]
        found = self.inspect(directory, [*curves, "Confusion matrix"], WITH_EPOCHS)
        self.check_figures(directory, found)

    def test_several_labels_have_curves_of_roc_auc_and_f1_and_no_matrix(self):
        draw, nodes = random.Random(1), 600
        edges = [f"{draw.randrange(nodes)},{v}\n" for v in range(nodes) for _ in range(4)]
        (self.work / "edges.csv").write_text("".join(edges))
        npy.write(self.work / "x.npy", (nodes, 4), [draw.gauss(0, 1) for _ in range(4 * nodes)], "<f4")
        npy.write(self.work / "y.npy", (nodes, 3), [draw.randrange(2) for _ in range(3 * nodes)], "|i1")
        made = run("salient-prepare", "edges", "--edges", self.work / "edges.csv", "--features", self.work / "x.npy",
                   "--labels", self.work / "y.npy", "--split", "0.6,0.2,0.2", "--symmetric", "no",
                   "--out", self.work / "several")
        self.assertEqual(made.returncode, 0, made.stderr)
        directory = self.train("labels", "--epochs", 3, dataset="several")
        curves = [*LOSS, "Accuracy", "ROC AUC", "Average precision", "F1", *TIMES]
        found = self.inspect(directory, curves, [*WITH_EPOCHS, "Predictions"])
        self.check_figures(directory, found)
        self.assertIn("no confusion matrix", found["text"])

    def test_a_killed_run_says_so(self):
        directory = self.work / "killed"
        self.assertEqual(self.end_after_two_epochs("killed", signal.SIGKILL), -signal.SIGKILL)
        self.assertEqual(run("salient-report", directory).returncode, 0)
        found = self.inspect(directory, [*LOSS, "Accuracy", CLASSES, *TIMES, "Confusion matrix"], WITH_EPOCHS)
        self.check_figures(directory, found)
        self.assertRegex(found["status"], "^failed: killed")
        self.assertIn("failed", found["status_class"])
        self.assertFalse(found["reloads"])
        last = self.rows_of(directory)[-1]
        self.assertEqual(found["results"][f"train accuracy after epoch {last['epoch']}"],
                         f"{float(last['train_accuracy']):.4f}")

    def test_a_run_that_goes_on_loads_itself_anew(self):
        process = self.start("running", 1000)
        try:
            self.wait_for_epoch(process, 1)
            page = self.browser.open(self.work / "running" / "report.html")
            found = page.evaluate(INSPECT)
            page.close()
        finally:
            process.kill()
            process.communicate()
        self.assertTrue(found["reloads"])
        self.assertRegex(found["status"], "^running")

    def test_an_interrupted_run_says_so_and_resumed_has_one_curve(self):
        directory = self.work / "resumed"
        self.assertEqual(self.end_after_two_epochs("resumed", signal.SIGTERM), 128 + signal.SIGTERM)
        found = self.inspect(directory, [*LOSS, "Accuracy", CLASSES, *TIMES, "Confusion matrix"], WITH_EPOCHS)
        self.assertRegex(found["status"], "^interrupted")
        num_epochs = len(self.rows_of(directory)) + 3
        resumed = run("salient-train", "--resume", directory, "--epochs", num_epochs)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        found = self.inspect(directory, [*LOSS, "Accuracy", CLASSES, *TIMES, "Confusion matrix"], WITH_EPOCHS)
        self.check_figures(directory, found)
        self.assertRegex(found["status"], rf"^finished .*{num_epochs} of {num_epochs} epochs")
        self.assertEqual([row["epoch"] for row in self.rows_of(directory)], [str(e + 1) for e in range(num_epochs)])

    def compare(self, name, runs, headings=(), curves=True):
        page = self.work / f"{name}.html"
        self.assertEqual(run("salient-report", *runs, "--out", page).returncode, 0)
        charts = ["Loss of the training batches", "Validation accuracy", "Training accuracy"] if curves else []
        return self.inspect_page(page, name, charts, ["Results", "Options that differ", "Curves", *headings])

    def test_runs_of_several_seeds_are_compared_by_mean_and_deviation(self):
        runs = [self.train(f"hidden-{hidden}-{seed}", "--epochs", "3", "--hidden", hidden, "--seed", seed)
                for hidden in ("8", "16") for seed in ("1", "2", "3")]
        found = self.compare("seeds", runs, ["Where the time goes"])
        results, options, times = found["tables"]
        self.assertEqual(found["legends"][0], 2)
        self.assertEqual((options["head"], sorted(options["rows"])),
                         (["group", "hidden"], [["hidden 16", "16"], ["hidden 8", "8"]]))
        valid = [float(dict(zip(results["head"], row))["valid accuracy"].split()[0]) for row in results["rows"]]
        self.assertGreaterEqual(valid[0], valid[1])
        self.assertRegex(results["rows"][0][0], "best$")
        self.assertNotRegex(results["rows"][1][0], "best$")
        self.assertEqual([row[0] for row in options["rows"]], [row[0] for row in times["rows"]])
        by_hidden = [["hidden 8", "hidden 16"].index(row[0]) for row in options["rows"]]
        for place, i in enumerate(by_hidden):
            row = results["rows"][place]
            test = [json.loads((r / "run.json").read_text())["result"]["test_accuracy"] for r in runs[3 * i:3 * i + 3]]
            shown = dict(zip(results["head"], row))
            self.assertEqual((shown["n"], shown["seeds"], shown["state"]), ("3", "1, 2, 3", "3 finished"))
            self.assertEqual(shown["test accuracy"],
                             f"{100 * statistics.mean(test):.2f} ± {100 * statistics.stdev(test):.2f} %")
            epochs = [[float(row["epoch_seconds"]) + float(row["eval_seconds"]) for row in self.rows_of(r)[1:]]
                      for r in runs[3 * i:3 * i + 3]]
            together = float(dict(zip(times["head"], times["rows"][place]))["together"])
            self.assertAlmostEqual(together, statistics.mean(map(statistics.mean, epochs)), delta=0.1 * together)
        best = runs[3 * by_hidden[0]:][:3]
        loss = [statistics.mean(float(self.rows_of(r)[e]["loss"]) for r in best) for e in range(3)]
        curves = [mark for mark in found["charts"][0]["marks"] if mark["points"]]
        heights = [float(p.split(",")[1]) for p in curves[-1]["points"].split()]  # the best is drawn last
        self.assertAlmostEqual((loss[0] - loss[1]) / (loss[0] - loss[2]),
                               (heights[1] - heights[0]) / (heights[2] - heights[0]), delta=0.02)

    def test_fifty_runs_and_runs_that_are_not_alike(self):
        def change(name, lr, num_epochs, **described):
            directory = self.make_up(name, num_epochs, 2)
            (directory / "config.toml").write_text(f'model = "sage"\nepochs = 4\nlr = {lr}\nseed = 1\n')
            about = json.loads((directory / "run.json").read_text())
            (directory / "run.json").write_text(json.dumps({**about, **described}))
            return directory
        many = [change(f"many-{i}", 0.001 * (i + 1), 4) for i in range(50)]
        found = self.compare("fifty", many, ["Where the time goes"])
        self.assertEqual([len(table["rows"]) for table in found["tables"]], [50, 50, 50])
        self.assertEqual(found["legends"][0], 11)  # ten, and the others
        self.assertIn("40 others", found["text"])
        self.assertEqual(found["evil"], 0)
        other = change("other", 0.1, 2, dataset={"name": "other"}, status="interrupted")
        page = self.work / "unlike.html"
        self.assertEqual(run("salient-report", many[0], other, other, "--out", page).returncode, 0)
        opened = self.browser.open(page, "light", 1280)
        found = opened.evaluate(INSPECT)
        self.assertEqual(opened.problems(), [])
        opened.close()
        self.assertIn("not all alike", found["text"])
        self.assertEqual(len(found["charts"]), 6)
        self.assertIn("1 interrupted (2 of 4 epochs)", found["text"])
        self.assertIn("80.00 % so far", found["text"])
        found = self.compare("none", [change("none-yet", 0.1, 0, status="interrupted")], curves=False)
        self.assertIn("No epoch has ended yet.", found["text"])

    def test_many_runs_of_many_epochs_are_compared_to_the_end(self):
        rows = [{"epoch": e + 1, "loss": 1 / (e + 1), "valid_accuracy": 0.8, "epoch_seconds": 2.0,
                 "train_seconds": 1.5, "blocked_seconds": 0.3, "eval_seconds": 0.5, "batches": 4} for e in range(1000)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        runs = [self.work / f"long-{i}" for i in range(70)]
        for i, directory in enumerate(runs):
            directory.mkdir()
            (directory / "run.json").write_text('{"program": "salient-train", "status": "finished"}')
            (directory / "config.toml").write_text(f"lr = {0.001 * (i + 1)}\nseed = 1\n")
            (directory / "metrics.jsonl").write_text(text)
        page = self.work / "long.html"
        self.assertEqual(run("salient-report", *runs, "--out", page).returncode, 0)
        opened = self.browser.open(page, "light", 1280)
        self.assertEqual(opened.problems(), [])
        headings = opened.evaluate("[...document.querySelectorAll('h2')].map((h) => h.textContent)")
        opened.close()
        self.assertTrue(headings[-1].startswith("Where the time goes"), headings)

    def make_up(self, name, num_epochs, num_classes):
        """A run directory whose every name tries to become markup."""
        directory = self.work / name
        directory.mkdir()
        (directory / "run.json").write_text(json.dumps({
            "program": "salient-train " + EVIL, "status": "finished", "dataset": {"name": EVIL, "source": "synthetic"},
            "placement": [{"rank": "0", "host": EVIL}], "result": {"test_accuracy": "0.8123"}}))
        (directory / "config.toml").write_text('model = "sage"\nfanout = [4, 3]\n')
        rows = [json.dumps(made_up_row(e + 1)) + "\n" for e in range(num_epochs)]
        (directory / "metrics.jsonl").write_text("".join(rows))
        cells = [[c, (c + d) % num_classes, 9 - 8 * d] for c in range(num_classes) for d in (0, 1)]
        (directory / "confusion.json").write_text(json.dumps(
            {"set": "test", "epoch": 1, "num_classes": num_classes, "cells": cells,
             "class_names": [f"{EVIL} subject of a long name, number {c}" for c in range(num_classes)]}))
        self.assertEqual(run("salient-report", directory).returncode, 0)
        return directory

    def test_sizes_at_the_edges_and_text_that_would_be_markup(self):
        curves = [*LOSS, "Accuracy", *TIMES]
        for name, num_epochs, num_classes, charts, headings in (
                ("one-epoch", 1, 4, [*curves, "Confusion matrix"], WITH_EPOCHS),
                ("many-classes", 300, 101, curves, WITH_EPOCHS),
                ("hundred-classes", 3, 100, [*curves, "Confusion matrix"], WITH_EPOCHS),
                ("forty-classes", 3, 40, [*curves, "Confusion matrix"], WITH_EPOCHS),
                ("no-epoch", 0, 4, ["Confusion matrix"], [])):
            found = self.inspect(self.make_up(name, num_epochs, num_classes), charts,
                                 [*headings, "Predictions of the test nodes"])
            self.assertEqual(found["evil"], 0)
            if "Confusion matrix" in charts:
                names = [label for label in found["charts"][-1]["labels"] if label.startswith(EVIL[:5])]
                self.assertGreaterEqual(len(names), min(2 * num_classes, 20))
                self.assertEqual({names.count(name) for name in names}, {2}, "each beside a row and above a column")
            self.assertIn("synthetic", found["text"])
            self.assertIn(EVIL, found["text"])
            if num_epochs == 0:
                self.assertIn("No epoch has ended yet.", found["text"])


    def test_fanouts_of_inference_are_a_curve_beside_all_neighbours(self):
        directory = self.make_up("fanouts", 2, 3)
        rows = [{"name": f"fanout {k}", "accuracy": 0.8 + 0.01 * k, "seconds_best": 0.1} for k in (5, 10)]
        rows.append({"name": "exact", "accuracy": 0.91, "seconds_best": 0.2})
        (directory / "inference.json").write_text(json.dumps({"rows": rows}))
        self.assertEqual(run("salient-report", directory).returncode, 0)
        found = self.inspect(directory, [*LOSS, "Accuracy", *TIMES, "Confusion matrix", "Accuracy by inference fanout"],
                             WITH_EPOCHS)
        table = next(t for t in found["tables"] if t["head"][0] == "neighbours per hop")
        self.assertEqual(table["rows"], [["5", "85.00 %", "0.1"], ["10", "90.00 %", "0.1"], ["all", "91.00 %", "0.2"]])


    def test_ranks_of_relations_are_tables(self):
        directory = self.make_up("ranks", 2, 3)
        lines = [f"r{i},{side},{10 * (i + 1)},{0.05 * (i + 1):.4f},0.1,0.5,0.{i % 3 + 6}\n" for i in range(12)
                 for side in ("tail", "head")]
        lines.append('"' + EVIL.replace('"', '""') + ', a long name of a relation",tail,1,0.0100,0,0,0\n')
        (directory / "test_relations.csv").write_text(
            "relation,side,links,mrr,hits_at_1,hits_at_3,hits_at_10\n" + "".join(lines))
        self.assertEqual(run("salient-report", directory).returncode, 0)
        found = self.inspect(directory, [*LOSS, "Accuracy", *TIMES, "Confusion matrix"],
                             [*WITH_EPOCHS, "Ranks of the test links"])
        self.assertEqual(found["evil"], 0)
        tables = {t["caption"]: t for t in found["tables"]}
        bands = {row[0]: row[1:] for row in tables["Ranks of links"]["rows"]}
        self.assertEqual(list(bands), ["1", "above 1, to 3", "above 3, to 10", "above 10"])
        self.assertEqual(tables["Ranks of links"]["head"], ["rank", "tails", "heads"])
        self.assertEqual(bands["1"][1], "10.00 %")
        self.assertEqual(bands["above 1, to 3"][1], "40.00 %")
        within = sum(10 * (i + 1) * (i % 3 + 6) / 10 for i in range(12)) / sum(10 * (i + 1) for i in range(12))
        self.assertEqual(bands["above 10"][1], f"{100 * (1 - within):.2f} %")
        hardest = tables["Hardest relations"]["rows"]
        self.assertEqual(len(hardest), 10)
        self.assertEqual(hardest[0], [f"{EVIL}, a long name of a relation", "tail", "1", "0.0100", "0.00 %", "0.00 %"])
        self.assertEqual([row[0] for row in hardest[1:5]], ["r0", "r0", "r1", "r1"])

    def test_embeddings_of_predictions_are_a_map(self):
        directory = self.make_up("map", 1, 7)
        place = directory / "predictions" / "all"
        place.mkdir(parents=True)
        draw = random.Random(1)
        classes = [v % 7 for v in range(700)]
        npy.write(place / "embeddings.npy", (700, 4), [draw.gauss(k if c == 0 else 0, 1) for k in classes
                                                       for c in range(4)], "<f4")
        npy.write(place / "predictions.npy", (700,), classes, "<i4")
        self.assertEqual(run("salient-report", directory).returncode, 0)
        found = self.inspect(directory, [*LOSS, "Accuracy", *TIMES, "Confusion matrix", "Embeddings"], WITH_EPOCHS)
        self.assertIn("700 of 700 nodes of predictions/all", found["text"])
        self.assertEqual(found["charts"][-1]["series"], 5)  # four classes, and the others


if __name__ == "__main__":
    if find_browser() is None:
        print("skipped: no chromium on this machine; scripts/setup.sh --browser installs it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
