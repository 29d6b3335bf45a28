#!/usr/bin/env python3
"""The reference of options has every option of the programs; the site is built without a warning, and a browser shows
its pages without an error, no wider than a phone's screen.

    site_test.py SOURCE_DIRECTORY BIN_DIRECTORY [SCREENSHOT_DIRECTORY]      a minute on 2 cores
    the second part needs MkDocs (scripts/setup.sh --site), and its end chromium (--browser); what lacks is left out
"""
import contextlib
import functools
import http.server
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCE, BIN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.append(str(SOURCE / "tests" / "support"))
sys.path.append(str(SOURCE / "scripts"))
import help_pages
from browser import Browser, find_browser

PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
PAGES = ["index", "TABLES", "PYG", "DISTRIBUTED", "SERVING", "BENCHMARKS", "reference/options", "reference/python",
         "GLOSSARY", "decisions/index"]  # the tutorials, and the widest tables


TOO_WIDE = "document.documentElement.scrollWidth - window.innerWidth"
SCHEME = "document.body.dataset.mdColorScheme"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """The address of a web server for the folder."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def find_mkdocs():
    folder = subprocess.run([SOURCE / "scripts/lib/site.sh"], text=True, capture_output=True, check=True).stdout
    ready = pathlib.Path(folder, "bin/mkdocs") if pathlib.Path(folder, "done").exists() else None
    return os.environ.get("SALIENT_MKDOCS") or ready or shutil.which("mkdocs")


class Site(unittest.TestCase):
    def test_the_reference_has_every_option(self):
        programs = [BIN / name for name in ("salient-prepare", "salient-train", "salient-report")]
        page = subprocess.run([sys.executable, SOURCE / "scripts/make_option_reference.py", *programs], text=True,
                              capture_output=True, check=True).stdout
        rows = [line for line in page.splitlines() if line.startswith("|")]
        for row in rows:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", row)), 4, row)
        for program, *command in ((programs[0], "edges"), (programs[0], "synthetic"), (programs[1],), (programs[2],)):
            heading = " ".join([program.name, *command])
            part = re.search(rf"^#+ {heading}\n(.*?)(?=^## |^### |\Z)", page, re.M | re.S)[1]
            options = [name for name, _, _ in help_pages.ask(program, *command).options]
            self.assertGreater(len(options), 1)
            self.assertEqual(re.findall(r"^\| `--([\w-]+)`", part, re.M), options, heading)
        self.assertIn("**optimisation**", page)
        self.assertIn("| `--batch-size` | `0` | seeds, or links, per rank and step", page)

    def test_it_is_built_without_a_warning(self):
        mkdocs = find_mkdocs()
        if mkdocs is None:
            self.skipTest("no MkDocs; scripts/setup.sh --site installs it")
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([SOURCE / "scripts/build_site.sh", "--bin", BIN, "--out", out, "--source",
                                   "https://example.org/salient/blob/main"], text=True, capture_output=True,
                                  env={**os.environ, "SALIENT_MKDOCS": str(mkdocs)})
            self.assertEqual(done.returncode, 0, done.stderr)
            site = pathlib.Path(out)
            self.assertIn("NeighborLoader", (site / "reference/python.html").read_text())
            has_doxygen = shutil.which(os.environ.get("SALIENT_DOXYGEN", "doxygen")) is not None
            listed = (site / "reference/cpp.html").read_text()
            self.assertIn("store/dataset.h", listed)
            self.assertEqual("cpp/dataset_8h.html" in listed, has_doxygen)
            if has_doxygen:
                self.assertIn("open_dataset", (site / "reference/cpp/dataset_8h.html").read_text())
            self.assertIn("--batch-size", (site / "reference/options.html").read_text())
            self.assertIn("0017-draws-keyed-by-the-neighbour.html", (site / "decisions/index.html").read_text())
            self.assertIn("https://example.org/salient/blob/main/examples/tiny_salient/tiny_salient.py",
                          (site / "PAPER.html").read_text())
            self.check_in_a_browser(site)

    def check_in_a_browser(self, site):
        if find_browser() is None:
            return
        for scheme in ("light", "dark"):  # a browser each: pages keep the reader's choice
            with served(site) as address, Browser(find_browser()) as browser:
                for name, width in itertools.product(PAGES, (390, 1280)):
                    with self.subTest(page=name, width=width, scheme=scheme):
                        page = browser.open(f"{address}/{name}.html", scheme, width)
                        self.assertEqual(page.problems(), [])
                        self.assertLessEqual(page.evaluate(TOO_WIDE), 0)
                        self.assertEqual(page.evaluate(SCHEME), "slate" if scheme == "dark" else "default")
                        if PICTURES:
                            page.screenshot(PICTURES / f"{name.replace('/', '-')}-{width}-{scheme}.png")
                        page.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
