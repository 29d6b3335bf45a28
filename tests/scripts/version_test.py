#!/usr/bin/env python3
"""All places that name the version name that of CMakeLists.txt, and the newest release of CHANGELOG.md is it.

    version_test.py SOURCE_DIRECTORY        a second; package_test.py has what a tag has to do with it
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
VERSION = re.search(r"^project\(salient VERSION (\d+\.\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]
RELEASE = r"^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$"
# Patterns whose every match in a file is the version.
PLACES = {
    "core/version.h": r'kVersion = "([^"]+)"',
    "docs/PACKAGES.md": r"salient(?:_gnn)?[_-](\d[\d.]*\d)[_-](?:amd64|cp)",
    "CITATION.cff": r"^version: (\S+)$",
}


class Version(unittest.TestCase):
    def test_places_agree(self):
        for name, pattern in PLACES.items():
            found = re.findall(pattern, (SOURCE / name).read_text(), re.M)
            self.assertTrue(found, name)
            self.assertEqual(set(found), {VERSION}, name)

    def test_it_is_the_newest_release_of_the_changes(self):
        releases = re.findall(RELEASE, (SOURCE / "CHANGELOG.md").read_text(), re.M)
        self.assertEqual(releases[0][0], VERSION)
        self.assertEqual([day for _, day in releases], sorted((day for _, day in releases), reverse=True))
        cited = re.search(r"^date-released: (\S+)$", (SOURCE / "CITATION.cff").read_text(), re.M)[1]
        self.assertEqual(cited, releases[0][1])

    def test_an_entry_of_the_newest_release_is_one_line(self):
        newest = re.split(RELEASE, (SOURCE / "CHANGELOG.md").read_text(), flags=re.M)[3]
        entries = re.findall(r"^- .*", newest, re.M)
        self.assertGreater(len(entries), 20)
        self.assertEqual(re.findall(r"^  \S.*", newest, re.M), [])  # what an entry goes on with


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
