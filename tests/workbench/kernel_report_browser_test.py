#!/usr/bin/env python3
"""A kernel run's report.html in a real browser, light and dark, wide and narrow: of recorded runs and of a new one.

    kernel_report_browser_test.py PROGRAM SOURCE_DIR [SCREENSHOT_DIRECTORY]      needs chromium, else skipped
"""
import pathlib
import shutil
import sys
import tempfile
import unittest

PICTURES = pathlib.Path(sys.argv.pop(3)) if len(sys.argv) > 3 else None
SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tests"))
from support.browser import Browser, find_browser  # noqa: E402
from support.job import Job  # noqa: E402

INSPECT = """
(() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const luminance = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * channel(rgb[i]), 0);
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const contrast = (a, b) => {
    const [x, y] = [luminance(rgb(a)), luminance(rgb(b))].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (rgb(colour).length === 3) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = [...document.querySelectorAll("h1,h2,p,td,th,b,small,strong,.tiles span,pre span,svg text,figcaption")];
  return {
    title: document.title, sections: [...document.querySelectorAll("h2")].map((node) => node.textContent),
    tiles: [...document.querySelectorAll(".tiles div")].map((node) => node.innerText.split("\\n")),
    circles: document.querySelectorAll("svg circle").length, bars: document.querySelectorAll("svg .bar").length,
    inside: [...document.querySelectorAll("svg circle")].every((node) => {
      const box = node.ownerSVGElement.viewBox.baseVal;
      const [x, y] = [Number(node.getAttribute("cx")), Number(node.getAttribute("cy"))];
      return x > 0 && x < box.width && y > 0 && y < box.height; }),
    rises: document.querySelector(".step")?.getAttribute("points").trim().split(" ").map((p) => Number(p.split(",")[1]))
      .every((y, i, all) => i === 0 || y <= all[i - 1]),
    depths: [...document.querySelectorAll(".tree li")].map((node) => {
      let depth = 0;
      for (let at = node; !at.classList.contains("tree"); at = at.parentElement) depth += at.tagName === "UL";
      return [node.querySelector("b").textContent.split(":")[0], depth]; }),
    best: document.querySelectorAll(".tree b.best").length,
    added: document.querySelectorAll(".added").length, removed: document.querySelectorAll(".removed").length,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    pale: texts.filter((node) => node.textContent.trim() &&
      contrast(node.closest("svg") ? getComputedStyle(node).fill : getComputedStyle(node).color, ground(node)) < 4.5)
      .map((node) => node.textContent.slice(0, 40)),
    evil: document.querySelectorAll("#evil, script").length,
  };
})()
"""


class KernelReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="kernel-report-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.browser = Browser(find_browser())
        cls.addClassCleanup(lambda: cls.browser.__exit__())

    def report(self, run):
        out = self.work / pathlib.Path(run).name
        done = Job([PROGRAM, "report", run, "--out", out], cwd=self.work).end()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return out / "report.html"

    def look(self, page, name):
        seen = {}
        for scheme, width in (("light", 1100), ("dark", 1100), ("light", 500)):
            opened = self.browser.open(page, scheme, width)
            seen = opened.evaluate(INSPECT)
            with self.subTest(name=name, scheme=scheme, width=width):
                self.assertEqual(seen["pale"], [])
                self.assertEqual((seen["wide"], seen["evil"], opened.problems()), (0, 0, []))
                self.assertTrue(seen["inside"] and seen["rises"], seen)
            if PICTURES:
                opened.screenshot(PICTURES / f"{name}-{scheme}-{width}.png")
        return seen

    def test_a_run_with_a_best_kernel(self):
        seen = self.look(self.report(SOURCE / "workbench/examples/matmul-host"), "matmul-host")
        self.assertEqual(seen["title"], "Kernel run: matmul_f32")
        self.assertEqual(seen["tiles"][0], ["12.96x", "of the start kernel"])
        self.assertIn(["4", "candidates judged"], seen["tiles"])
        self.assertIn(["2", "of them correct"], seen["tiles"])
        self.assertEqual(seen["depths"], [["start", 1], ["1", 2], ["2", 2], ["3", 3], ["4", 4]])
        self.assertEqual((seen["circles"], seen["bars"], seen["best"]), (3, 2, 1))
        self.assertGreater(min(seen["added"], seen["removed"]), 3)
        self.assertEqual(seen["sections"], ["Candidates", "Which was made of which", "The best kernel, shape by shape",
                                            "Start and best"])

    def test_a_longer_run_of_a_gpu(self):
        seen = self.look(self.report("swish-astra"), "swish-astra")
        self.assertGreaterEqual(seen["circles"], 2)
        self.assertEqual(seen["depths"][0], ["start", 1])

    def test_a_search_with_several_parents_and_texts_that_are_markup(self):
        bad = self.work / "bad.sh"
        kernel = (SOURCE / "workbench/cases/kernels/softsign.cpp").read_text()
        bad.write_text("#!/bin/sh\ncat >/dev/null\ncat <<'END'\n```cpp\n"
                       "// </pre><b id=evil>hello</b><script>alert(1)</script>\n"
                       + kernel.replace("1.0f", "1.5f") + "```\nEND\n")
        run = self.work / "beam"
        done = Job([PROGRAM, "optimize", "softsign", "--method", "beam", "--rounds", "3", "--generator", "command",
                    "--command", f"sh {bad}", "--backend", "host", "--samples", "4", "--out", run], cwd=self.work).end()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        seen = self.look(self.report(run), "beam")
        self.assertEqual([name for name, _ in seen["depths"]], ["start", "1", "2", "3"])
        self.assertEqual(seen["best"], 0)


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
