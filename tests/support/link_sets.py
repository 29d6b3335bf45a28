# tests/support/link_sets.py - generated link sets: folders as OGB's are, and files of one's own, for tests of programs.
import json
import math
import random

import npy
import ogb_links
import programs
from ogb_links import Array

NODES, FEATURES = 300, 8
USAGE, BAD_DATA = 2, 65


def near(draw, count, nodes=NODES):
    """Links of near nodes of a circle, no pair twice."""
    links, seen = [], set()
    while len(links) < count:
        v = draw.randrange(nodes)
        link = (v, (v + draw.randrange(1, 8)) % nodes)
        if frozenset(link) not in seen:
            seen.add(frozenset(link))
            links.append(link)
    return links


def features_text():
    rows = []
    for v in range(NODES):
        angle = 2 * math.pi * v / NODES
        rows.append(",".join(f"{f((k + 1) * angle):.5f}" for k in range(FEATURES // 2) for f in (math.sin, math.cos)))
    return "\n".join(rows) + "\n"


def unlinked(draw, count, links, nodes=NODES):
    known, pairs = {frozenset(link) for link in links}, []
    while len(pairs) < count:
        pair = (draw.randrange(nodes), draw.randrange(nodes))
        if pair[0] != pair[1] and frozenset(pair) not in known:
            pairs.append(pair)
    return pairs


def put_raw(root, links, nodes=NODES, features=True):
    ogb_links.put_gzip(root / "raw/num-node-list.csv.gz", f"{nodes}\n")
    ogb_links.put_gzip(root / "raw/num-edge-list.csv.gz", f"{len(links)}\n")
    ogb_links.put_gzip(root / "raw/edge.csv.gz", "".join(f"{a},{b}\n" for a, b in links))
    if features:
        ogb_links.put_gzip(root / "raw/node-feat.csv.gz", features_text())


class LinkTest(programs.ProgramTest):
    """A suite that sets `programs`."""

    @classmethod
    def run_here(cls, program, *words, expect=0, **how):
        return cls.programs.run(program, *words, expect=expect, cwd=cls.work, **how)

    def prepare(self, name, *words, expect=0):
        return self.run_here("salient-prepare", "ogb", "--raw", name, "--out", f"data-{name}", *words, expect=expect)

    def links(self, store, split):
        table = npy.read(self.work / store / f"links-{split}.npy")
        return [tuple(row) for row in npy.rows(table)]

    def collab(self, name, save=ogb_links.save_zip, extension=".pt", again=()):
        """@param again  training links that the test asks for, too"""
        draw = random.Random(5)
        links = near(draw, 910)
        train, valid, test = links[:800], links[800:850], links[850:910] + list(again)
        negatives = unlinked(draw, 240, links)
        train += train[:20]  # of other years
        root = self.work / name
        put_raw(root, train)
        first = {name: Array([7] * len(train)) for name in ("weight", "year")}
        ogb_links.put_split(root, "time", {
            "train": {"edge": Array(train, columns_first=True), **first},
            "valid": {"edge": Array(valid, "i4"), "edge_neg": Array(negatives[:120])},
            "test": {"edge": Array(test), "edge_neg": Array(negatives[120:], columns_first=True)}}, save, extension)
        return train, valid, test, negatives

    def citation(self, name, save=ogb_links.save_legacy, binary=False):
        draw = random.Random(9)
        links = near(draw, 770)
        parts = {"train": links[:700], "valid": links[700:730], "test": links[730:770]}
        root, negatives, splits = self.work / name, {}, {}
        put_raw(root, parts["train"])
        if binary:
            ogb_links.save_npz(root / "raw/data.npz", {"num_nodes_list": Array([NODES]),
                                                       "num_edges_list": Array([len(parts["train"])])})
        for split, part in parts.items():
            splits[split] = {"source_node": Array([a for a, _ in part]), "target_node": Array([b for _, b in part])}
            if split == "train":
                continue
            known = {}
            for a, b in links:
                known.setdefault(a, set()).add(b)
                known.setdefault(b, set()).add(a)
            negatives[split] = [draw.sample([v for v in range(NODES) if v != a and v not in known[a]], 30)
                                for a, _ in part]
            splits[split]["target_node_neg"] = Array(negatives[split])
        ogb_links.put_split(root, "time", splits, save)
        return parts, negatives

    def triples(self, draw, count, kinds):
        seen = []
        while len(seen) < count:
            relation, heads, tails, by = draw.choice(kinds)
            head = draw.randrange(heads)
            triple = (relation, head, (head + by) % tails)
            if triple not in seen:
                seen.append(triple)
        return seen

    def wikikg(self):
        """ogbl-wikikg2 in the legacy form. @return triples, arrays, and (heads, tails) of negatives, by split"""
        draw, root = random.Random(3), self.work / "wikikg-v2"
        kinds = [(0, 60, 60, 1), (1, 60, 60, 2), (2, 60, 60, 5)]
        triples = self.triples(draw, 170, kinds)
        known = set(triples)
        parts = {"train": triples[:140], "valid": triples[140:155], "test": triples[155:]}
        ogb_links.put_gzip(root / "raw/num-node-list.csv.gz", "60\n")
        ogb_links.put_gzip(root / "raw/num-edge-list.csv.gz", "140\n")
        splits, negatives = {}, {}
        for split, part in parts.items():
            splits[split] = {"relation": Array([r for r, _, _ in part], "i4"), "head": Array([h for _, h, _ in part]),
                             "tail": Array([t for _, _, t in part])}
            if split != "train":
                tails = [draw.sample([v for v in range(60) if (r, h, v) not in known], 20) for r, h, _ in part]
                heads = [draw.sample([v for v in range(60) if (r, v, t) not in known], 20) for r, _, t in part]
                negatives[split] = (heads, tails)
                splits[split].update(head_neg=Array(heads), tail_neg=Array(tails))
        ogb_links.put_split(root, "time", splits, ogb_links.save_legacy)
        return parts, splits, negatives

    def biokg(self):
        """@return relations with their types and what they add, counts of types, and triples, the last 8 of the test"""
        draw, root = random.Random(4), self.work / "biokg"
        counts = {"disease": 30, "drug": 40}
        ogb_links.put_gzip(root / "raw/num-node-dict.csv.gz", "disease,drug\n30,40\n")
        kinds = [(0, "drug", "disease", 3), (1, "drug", "drug", 1)]
        seen = self.triples(draw, 75, [(r, counts[h], counts[t], by) for r, h, t, by in kinds])
        for r, h, t, name in ((0, "drug", "disease", "drug-disease"), (1, "drug", "drug", "drug-drug")):
            folder = root / f"raw/relations/{h}___{name}___{t}"
            ogb_links.put_gzip(folder / "edge_reltype.csv.gz", f"{r}\n")
        splits, known = {}, set(seen)
        for split, part in {"train": seen[:60], "valid": seen[60:67], "test": seen[67:]}.items():
            splits[split] = {"head_type": [kinds[r][1] for r, _, _ in part], "head": Array([h for _, h, _ in part]),
                             "relation": Array([r for r, _, _ in part]),
                             "tail_type": [kinds[r][2] for r, _, _ in part], "tail": Array([t for _, _, t in part])}
            if split != "train":
                splits[split]["tail_neg"] = Array([draw.sample(
                    [v for v in range(counts[kinds[r][2]]) if (r, h, v) not in known], 9) for r, h, _ in part])
                splits[split]["head_neg"] = Array([draw.sample(
                    [v for v in range(40) if (r, v, t) not in known], 9) for r, _, t in part])
        ogb_links.put_split(root, "random", splits, ogb_links.save_zip)
        return kinds, counts, seen

    def put_files(self):
        draw = random.Random(8)
        links = near(draw, 900)
        self.parts = {"edges": links[:700], "valid": links[700:740], "test": links[740:790]}
        self.negatives = unlinked(draw, 260, links)
        for name, part in self.parts.items():
            self.write(name, part)
        for name, part in (("train-neg", self.negatives[:100]), ("valid-neg", self.negatives[100:180]),
                           ("test-neg", self.negatives[180:])):
            self.write(name, part)
        values = [float(x) for row in features_text().split() for x in row.split(",")]
        npy.write(self.work / "x.npy", (NODES, FEATURES), values, "<f4")

    def write(self, name, pairs):
        (self.work / f"{name}.csv").write_text("".join(f"{a},{b}\n" for a, b in pairs))

    def given(self, out, *words, expect=0):
        return self.run_here("salient-prepare", "edges", "--edges", "edges.csv", "--features", "x.npy",
                             "--valid-edges", "valid.csv", "--test-edges", "test.csv", "--out", out, "--force", *words,
                             expect=expect)
