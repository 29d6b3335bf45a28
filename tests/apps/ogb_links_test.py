#!/usr/bin/env python3
"""OGB's link sets from folders in their formats to stores, and links and negatives in files of one's own.

    ogb_links_test.py BIN_DIRECTORY       CPU
"""
import json
import pathlib
import sys
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import ogb_links
import programs
from link_sets import BAD_DATA, NODES, USAGE, LinkTest
from ogb_links import Array

class OgbLinks(LinkTest):
    programs = programs.Programs(sys.argv[1])

    def test_collab_is_read(self):
        train, valid, test, negatives = self.collab("collab")
        self.prepare("collab")
        about = json.loads((self.work / "data-collab/dataset.json").read_text())
        self.assertEqual((about["name"], about["task"], about["num_nodes"]), ("ogbl-collab", "link", NODES))
        self.assertEqual(self.links("data-collab", "train"), train[:800])
        self.assertEqual(self.links("data-collab", "valid"), valid)
        self.assertEqual(self.links("data-collab", "test"), test)
        pairs = npy.rows(npy.read(self.work / "data-collab/links-test-negative-pairs.npy"))
        self.assertEqual([tuple(pair) for pair in pairs], negatives[120:])
        self.run_here("salient-prepare", "verify", "data-collab")
        self.assertRegex(self.run_here("salient-prepare", "describe", "data-collab").stdout,
                         r"test +negatives: 120 pairs of all links")

    def test_forms_of_files_are_alike(self):
        for name, save, extension in (("collab-zip", ogb_links.save_zip, ".pt"),
                                      ("collab-old", ogb_links.save_legacy, ".pt"),
                                      ("collab-npz", ogb_links.save_npz, ".npz")):
            self.collab(name, save, extension)
            self.prepare(name, "--name", "ogbl-collab")
        for file in ("links-train.npy", "links-test.npy", "links-test-negative-pairs.npy", "indices.npy"):
            one = (self.work / "data-collab-zip" / file).read_bytes()
            for other in ("data-collab-old", "data-collab-npz"):
                self.assertEqual((self.work / other / file).read_bytes(), one, f"{other} {file}")

    def test_a_link_of_two_splits_stays_unless_asked(self):
        train = self.collab("again")[0]
        self.collab("again", again=train[:3])
        done = self.prepare("again")
        self.assert_told_once(done.stdout + done.stderr, "is also a training link.*as 3 links are; they stay")
        self.run_here("salient-prepare", "verify", "data-again")
        self.assertRegex(self.run_here("salient-prepare", "describe", "data-again").stdout,
                         r"test +3 are training links")
        self.prepare("again", "--repeats-between", "drop", "--force")
        self.assertEqual(len(self.links("data-again", "test")), 60)
        self.assert_one_error(self.prepare("again", "--repeats-between", "refuse", "--force", expect=BAD_DATA),
                              BAD_DATA, "record 60", "is also a training link")

    def test_citation2_is_read_in_both_layouts(self):
        negatives = self.citation("citation-v2")[1]
        self.prepare("citation-v2")
        self.assertEqual(json.loads((self.work / "data-citation-v2/dataset.json").read_text())["name"],
                         "ogbl-citation2")
        rows = npy.rows(npy.read(self.work / "data-citation-v2/links-test-negatives.npy"))
        self.assertEqual([list(row) for row in rows], negatives["test"])
        self.run_here("salient-prepare", "verify", "data-citation-v2")
        self.citation("binary", ogb_links.save_zip, binary=True)
        self.prepare("binary")
        self.assertEqual((self.work / "data-binary/links-test-negatives.npy").read_bytes(),
                         (self.work / "data-citation-v2/links-test-negatives.npy").read_bytes())

    def test_wikikg2_is_a_knowledge_graph(self):
        parts, splits, negatives = self.wikikg()
        self.prepare("wikikg-v2")
        about = json.loads((self.work / "data-wikikg-v2/dataset.json").read_text())
        self.assertEqual((about["name"], len(about["relations"])), ("ogbl-wikikg2", 6))
        self.assertEqual(self.links("data-wikikg-v2", "test"), [(h, t) for _, h, t in parts["test"]])
        for file, at in (("negatives", 1), ("negative-sources", 0)):
            rows = npy.rows(npy.read(self.work / f"data-wikikg-v2/links-test-{file}.npy"))
            self.assertEqual([list(row) for row in rows], negatives["test"][at])
        self.run_here("salient-prepare", "verify", "data-wikikg-v2")
        unknown = dict(splits["test"], relation=Array([7] * len(parts["test"])))
        ogb_links.put_split(self.work / "wikikg-v2", "time", {"test": unknown}, ogb_links.save_legacy)
        self.assert_one_error(self.prepare("wikikg-v2", "--force", expect=BAD_DATA), BAD_DATA, "test.pt", "record 0",
                              "no training triple has this relation")

    def test_biokg_has_types(self):
        kinds, counts, seen = self.biokg()
        self.prepare("biokg")
        about = json.loads((self.work / "data-biokg/dataset.json").read_text())
        self.assertEqual([kind["name"] for kind in about["node_types"]], ["disease", "drug"])
        self.assertEqual([kind["name"] for kind in about["relations"]],
                         ["drug-disease", "drug-drug", "rev_drug-disease", "rev_drug-drug"])
        first = {"disease": 0, "drug": 30}
        wanted = [(first["drug"] + h, first[kinds[r][2]] + t) for r, h, t in seen[67:]]
        self.assertEqual(self.links("data-biokg", "test"), wanted)
        rows = npy.rows(npy.read(self.work / "data-biokg/links-test-negatives.npy"))
        for (r, _, _), row in zip(seen[67:], rows):
            low = first[kinds[r][2]]
            self.assertTrue(all(low <= v < low + counts[kinds[r][2]] for v in row))
        self.run_here("salient-prepare", "verify", "data-biokg")

    def test_damaged_files_are_one_line(self):
        self.collab("damaged")
        path = self.work / "damaged/split/time/test.pt"
        whole = path.read_bytes()

        def refused(content, *has):
            path.write_bytes(content)
            self.assert_one_error(self.prepare("damaged", expect=BAD_DATA), BAD_DATA, *has)
        refused(b"\x80\x02cos\nsystem\nq\x00X\x02\x00\x00\x00lsq\x01\x85q\x02Rq\x03.", "test.pt")
        refused(b"not a pickle at all", "test.pt")
        ogb_links.save_legacy(path, {"edge": Array([(1, 2)])})
        refused(path.read_bytes()[:-60], "test.pt")
        ogb_links.save_zip(path, {"edge": Array([(1, NODES)])})
        refused(path.read_bytes(), "record 0", f"node {NODES}")
        ogb_links.save_zip(path, {"edges": Array([(1, 2)])})
        refused(path.read_bytes(), "has no array 'edge'; it has 'edges'")
        ogb_links.save_zip(path, {"edge": Array([1, 2])})
        refused(path.read_bytes(), "expected (n, 2)")
        ogb_links.save_zip(path, {"edge": Array([(1, 2)] * 400)}, zipfile.ZIP_DEFLATED)
        refused(path.read_bytes(), "data.pkl")
        path.write_bytes(whole)
        self.prepare("damaged")


class GivenLinks(LinkTest):
    """Links and negatives that are files beside those of the edges."""

    programs = OgbLinks.programs

    def setUp(self):
        self.put_files()

    def test_own_destinations_of_each_link(self):
        rows = [[(a + 40 + k) % NODES for k in range(30, 34)] for a, _ in self.parts["test"]]
        npy.write(self.work / "own.npy", (len(rows), 4), [v for row in rows for v in row], "<i8")
        self.given("own", "--test-negatives", "own.npy")
        stored = npy.rows(npy.read(self.work / "own/links-test-negatives.npy"))
        self.assertEqual([list(row) for row in stored], rows)
        npy.write(self.work / "short.npy", (2, 4), [1] * 8, "<i8")
        self.assert_one_error(self.given("x", "--test-negatives", "short.npy", expect=BAD_DATA), BAD_DATA, "short.npy",
                              "of 2 links, there are 50")

    def test_bad_links_are_one_line(self):
        self.write("test", [*self.parts["test"], self.parts["edges"][4][::-1]])
        self.assert_one_error(self.given("x", expect=BAD_DATA), BAD_DATA, "test.csv: record 50",
                              "is also a training link", "dropped from the later")
        self.given("dropped", "--repeats-between", "drop")
        self.assertEqual(len(self.links("dropped", "test")), 50)
        self.given("kept", "--repeats-between", "keep")
        self.run_here("salient-prepare", "verify", "kept")
        self.write("test", self.parts["test"])
        self.write("test-neg", [self.negatives[0], self.parts["valid"][3]])
        self.assert_one_error(self.given("x", "--test-negatives", "test-neg.csv", expect=BAD_DATA), BAD_DATA,
                              "test-neg.csv: record 1", "is a link of the data set")
        self.write("test-neg", [(0, 5000)])
        self.assert_one_error(self.given("x", "--test-negatives", "test-neg.csv", expect=BAD_DATA), BAD_DATA,
                              "test-neg.csv")
        self.assert_one_error(self.given("x", "--edge-split", "0.8,0.1,0.1", expect=USAGE), USAGE, "--valid-edges")

    def test_verify_counts_negatives_that_are_links(self):
        self.write("test-neg", [*self.negatives[180:], *self.parts["edges"][:2]])
        done = self.given("kept", "--test-negatives", "test-neg.csv", "--repeats-between", "keep")
        self.assert_told_once(done.stdout + done.stderr, "a negative, as 2 in all are; they stay")
        self.run_here("salient-prepare", "verify", "kept")
        about = self.work / "kept/dataset.json"
        manifest = json.loads(about.read_text().replace("repeats-between keep", ""))
        del manifest["checksum"]
        about.write_text(json.dumps(manifest))
        done = self.run_here("salient-prepare", "verify", "kept", expect=BAD_DATA)
        self.assert_one_error(done, BAD_DATA, "links-test-negative-pairs.npy: 2 negatives are links", "record 80")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
