#!/usr/bin/env python3
"""Every relative link of the documents leads to a file, and its anchor to a heading; every page is in the site.

    document_links_test.py SOURCE_DIRECTORY        no network; a second
"""
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.append(str(SOURCE / "scripts" / "lib"))
import documents


def problems_of(files, root):
    return [problem for file in files for problem in documents.problems_of(file, root)]


class Links(unittest.TestCase):
    def test_all_lead_somewhere(self):
        self.assertEqual(problems_of(documents.pages(SOURCE), SOURCE), [])

    def test_what_leads_nowhere_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "b.md").write_text("# B\n\n## `--a b`: it & that\n\n## Twice\n\n## Twice\n\n"
                                       "```\n# no heading\n```\n")
            (root / "a.md").write_text(
                "[1](b.md) [2](b.md#--a-b-it--that) [3](b.md#twice-1) [4](#a) `[no](link)`\n\n# A\n\n"
                "[5](c.md) [6](b.md#no-heading) [7](#b) [8](https://example.org/x#y) [9](../out.md)\n"
                "```\n[no](link.md)\n```\n![p](p.png)\n")
            self.assertEqual(documents.problems_of(root / "a.md", root),
                             ["a.md:5: c.md is not there", "a.md:5: b.md has no heading #no-heading",
                              "a.md:5: a.md has no heading #b", "a.md:5: ../out.md is outside the repository",
                              "a.md:9: p.png is not there"])

    def test_the_site_has_every_page(self):
        named = re.findall(r"[\w./-]+\.md", (SOURCE / "mkdocs.yml").read_text())
        self.assertEqual(len(named), len(set(named)), "a page is there twice")
        made = {"reference/options.md", "reference/python.md", "reference/cpp.md", "decisions/index.md", "log/index.md"}
        listed = {name for name in documents.site_names(SOURCE).values() if not re.match("(decisions|log)/0", name)}
        self.assertEqual(set(named), listed | made)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
