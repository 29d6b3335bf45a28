#!/usr/bin/env python3
"""The commands of docs/TYPED_GRAPHS.md and docs/LINKS.md that make typed graphs of the distribution's files, on small
files of that form.

    typed_examples_test.py BIN_DIRECTORY SOURCE       CPU; seconds
"""
import csv
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

BIN, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SMALLER = {"salient-train": ["--device", "cpu", "--hidden", "8", "--epochs", "2", "--progress", "none"],
           "salient-infer": ["--device", "cpu", "--progress", "none"]}
COUNTS = {"noun": ("n", 120), "verb": ("v", 30), "adj": ("a", 20), "adv": ("r", 10)}
PACKAGES = 200
MAINTAINERS = ("A Team", '"A Team", of two', "Someone", "An Other")


def synset(kind, i, label, words, pointers, gloss):
    pointers = [" ".join(pointer) for pointer in pointers]
    return (f"{100 * i + 7:08d} {label:02d} {kind} {len(words):02x} " + " ".join(f"{word} 0" for word in words)
            + f" {len(pointers):03d} " + "".join(pointer + " " for pointer in pointers) + f"| {gloss}  ")


def write_wordnet(folder):
    """Nouns of three classes hang below the first three, a noun i beside verb i and adjective i as they can be."""
    folder.mkdir()
    draw = random.Random(2)
    at = "{:08d}".format
    for kind, (part, count) in COUNTS.items():
        lines = ["  1 This is the licence  ", "  2 of two lines  "]
        for i in range(count):
            pointers, words = [], [f"{kind}{i}", f"Word_{i}", *([f"{kind}{i}(a)"] if kind == "adj" else [])]
            if kind == "noun":
                if i >= 3:
                    pointers.append(("@", at(100 * (i % 3) + 7), "n", "0000"))
                else:
                    pointers += [("~", at(100 * child + 7), "n", "0000") for child in range(3 + i, count, 3)]
                if i < 30:
                    pointers.append(("+", at(100 * i + 7), "v", "0101"))
                pointers.append(("!", at(100 * (i ^ 1) + 7), "n", "0101"))
            elif kind == "verb":
                pointers += [("+", at(100 * i + 7), "n", "0101"), ("*", at(100 * ((i + 1) % 30) + 7), "v", "0000"),
                             (";c", at(107), "n", "0000")]
            elif kind == "adj":
                pointers.append(("&", at(100 * ((i + 10) % 20) + 7), "a", "0000"))
            else:
                pointers += [("\\", at(100 * i + 7), "a", "0101"), ("+", at(100 * i + 7), "r", "0102")]  # last: itself
            label = {"noun": (5, 6, 20)[i % 3], "verb": 29, "adj": 0, "adv": 2}[kind]
            gloss = " ".join(draw.choices(("tall", "green", "of", "made"), k=3)) + f" x kind{chr(ord('a') + i % 12)}"
            lines.append(synset(part, i, label, words, pointers, gloss))
        (folder / f"data.{kind}").write_text("\n".join(lines) + "\n")


def packages():
    """As apt lists them."""
    for i in range(PACKAGES):
        yield (f"Package: p{i}\n" + (f"Source: p{i - 1} (1.0)\n" if i % 3 == 1 else "")
               + f'Architecture: {"all" if i % 2 else "amd64"}\nMaintainer: {MAINTAINERS[i % 4]} <team@example.org>\n'
               + f"Installed-Size: {10 * (i + 1)}\nDepends: p{(i + 7) % PACKAGES} (>= 1) | other, nothing\n"
               + f"Suggests: p{(i + 3) % PACKAGES}\nConflicts: p{(i + 4) % PACKAGES}\nBreaks: p{(i + 5) % PACKAGES}\n"
               + f"Recommends: p{(i + 6) % PACKAGES}\nReplaces: p{i}, p{(i + 2) % PACKAGES}\n"
               + f"Description: a package of many\n more of it\nTag: role::program,\n use::t{i % 5}\n"
               + f"Section: {'games' if i % 5 else 'contrib/net'}\nPriority: optional\n")


class TypedExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="salient-examples-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "lists").mkdir()
        (cls.folder / "lists/example_Packages").write_text("\n".join(packages()))
        write_wordnet(cls.folder / "source")

    def start(self, *words):
        program = [sys.executable, SOURCE / words[1]] if words[0] == "python3" else [BIN / words[0], *words[1:2]]
        done = subprocess.run([*program, *words[2:]], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, f"{shlex.join(words)}: {done.stderr}")
        return done.stdout

    def run_block(self, script, page="TYPED_GRAPHS.md"):
        """@return  what the script printed each time"""
        text = (SOURCE / "docs" / page).read_text()
        [block] = [block for block in re.findall(r"(?<=\n\n)((?: {4}[^\n]*\n)+)", text) if script in block]
        printed = []
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if words[0] == "python3":
                words += ["--source", "source"] if "wordnet" in words[1] else ["--lists", "lists"]
                printed.append(self.start(*words))
            else:
                self.start(*words, *SMALLER.get(words[0], []))
        return printed

    def relations(self, store):
        schema = json.loads((self.folder / store / "dataset.json").read_text())
        self.start("salient-prepare", "verify", store)
        return {":".join((r["src"], r["name"], r["dst"])): r["entries"] for r in schema["relations"]}

    def test_wordnet(self):
        typed, plain = self.run_block("synsets.py")
        self.assertEqual(typed, "120 noun, 30 verb, 20 adj, 10 adv, 300 words, 11 relations\n")
        self.assertIn("10 adv, ", plain)
        words = {"noun": 240, "verb": 60, "adj": 40, "adv": 20}
        expected = {"noun:hypernym:noun": 117, "noun:rev_hypernym:noun": 117, "noun:antonym:noun": 120,
                    "noun:derivation:verb": 30, "verb:rev_derivation:noun": 30, "verb:entails:verb": 30,
                    "verb:rev_entails:verb": 30, "verb:of_topic:noun": 30, "noun:rev_of_topic:verb": 30,
                    "adj:similar:adj": 20, "adv:pertains_to:adj": 10, "adj:rev_pertains_to:adv": 10,
                    **{f"word:names:{kind}": count for kind, count in words.items()},
                    **{f"{kind}:rev_names:word": count for kind, count in words.items()}}
        self.assertEqual(self.relations("data/wordnet-typed"), expected)  # antonyms and similar ones are both ways
        schema = json.loads((self.folder / "data/wordnet-typed/dataset.json").read_text())
        self.assertEqual(schema["node_types"][0]["feature_dim"], 12)  # others are in more than a tenth of the glosses
        with open(self.folder / "lexicon/predictions.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), COUNTS["noun"][1])
        self.assertEqual([row["label_name"] for row in rows[:4]], ["animal", "artifact", "plant", "animal"])
        parts = [set((self.folder / f"wordnet/{part}.csv").read_text().split()) for part in ("train", "valid", "test")]
        self.assertEqual([len(part) for part in parts], [72, 24, 24])
        self.assertEqual(len(set.union(*parts)), 120)
        self.assertEqual((self.folder / "wordnet/words.txt").read_text().splitlines()[:3], ["noun0", "word_0", "noun1"])

    def test_wordnet_s_pointers(self):
        self.run_block("synsets.py", "LINKS.md")
        entries = self.relations("data/wordnet-links")
        self.assertEqual(entries["noun:hypernym:noun"], entries["noun:rev_hypernym:noun"])
        self.assertLess(entries["noun:hypernym:noun"], 117, "validation and test links are no entries")
        self.assertEqual(entries["noun:derivation:verb"], 30)
        with open(self.folder / "runs/wordnet-links/test_relations.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["relation"], row["side"]) for row in rows], [("hypernym", "tail"), ("hypernym", "head")])

    def test_packages(self):
        [printed] = self.run_block("typed_packages.py")
        self.assertEqual(printed, "4 maintainers, 200 packages, 2 sections, 133 sources, 6 tags, 9 relations\n")
        given = {name: count for name, count in self.relations("data/packages").items() if ":rev_" not in name}
        self.assertEqual(given, {
            "package:depends_on:package": 200, "package:recommends:package": 200, "package:suggests:package": 200,
            "package:breaks:package": 400, "package:replaces:package": 200, "package:made_from:source": 200,
            "package:filed_under:section": 200, "package:tagged_with:tag": 400, "source:maintained_by:maintainer": 200})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
