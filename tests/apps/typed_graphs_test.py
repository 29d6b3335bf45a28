#!/usr/bin/env python3
"""Typed graphs from files to predictions: training, resuming, ranks, predictions by own ids, and what is refused.

    typed_graphs_test.py BIN_DIRECTORY DATA_DIRECTORY [MPIRUN FLAGS...]

A made-up graph of authors, papers and subjects; the papers are the second type, so that no number of theirs is their
row in the store. With HeCo's ACM graph in DATA_DIRECTORY also a model's accuracy on it.
"""
import csv
import gzip
import json
import os
import pathlib
import random
import shutil
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import npy
import programs
import serving

PROGRAMS = programs.Programs(sys.argv[1], sys.argv[3:])
DATA = pathlib.Path(os.environ.get("SALIENT_TEST_DATA") or sys.argv[2]).resolve()
ACM, AIFB = DATA / "heco-acm", DATA / "aifb"
del sys.argv[1:]
run = PROGRAMS.run
NUM_PAPERS, NUM_AUTHORS, CLASSES = 150, 45, 3
TYPED = ("rgcn", "rsage", "rgat", "hgt")
SMALL = [*programs.SMALL, "--batch-size", 32, "--epochs", 4, "--workers", 1, "--threads", 1]


def own_id(paper):
    return 1000 + 7 * paper


def write_graph(folder):
    """The class of a paper is that of most of its authors; words say little."""
    draw = random.Random(7)
    with open(folder / "papers.csv", "w") as papers:
        papers.write("id,words,pages,label\n")
        for p in range(NUM_PAPERS):
            papers.write(f"{own_id(p)},{draw.gauss(p % CLASSES, 2):.3f},{draw.gauss(0, 1):.3f},{p % CLASSES}\n")
    with open(folder / "written_by.csv", "w") as edges:
        for p in range(NUM_PAPERS):
            for _ in range(3):
                kind = p % CLASSES if draw.random() < 0.8 else draw.randrange(CLASSES)
                edges.write(f"{own_id(p)},{CLASSES * draw.randrange(NUM_AUTHORS // CLASSES) + kind}\n")
    (folder / "subjects.csv").write_text("id\n" + "".join(f"s{s}\n" for s in range(6)))
    with open(folder / "about.csv", "w") as edges:
        for p in range(NUM_PAPERS):
            edges.write(f"{own_id(p)},s{draw.randrange(6)}\n")


def write_many_types(folder):
    """70 types in a ring of 140 relations, of which one type has features and labels, as graph.toml."""
    draw = random.Random(3)
    nodes, edges = ["[nodes]", 't0 = { features = "t0.npy", labels = "y.npy" }'], ["[edges]"]
    npy.write(folder / "t0.npy", (60, 2), [draw.gauss(v % 2, 0.5) for v in range(60) for _ in range(2)], "<f4")
    npy.write(folder / "y.npy", (60,), [v % 2 for v in range(60)], "<i8")
    for t in range(70):
        nodes += [f"t{t} = {{ count = 60 }}"] * (t > 0)
        for name, step in (("next", 1), ("jump", 9)):
            (folder / f"{name}{t}.csv").write_text("".join(f"{draw.randrange(60)},{v}\n" for v in range(60)))
            edges.append(f'"t{t}:{name}:t{(t + step) % 70}" = {{ file = "{name}{t}.csv" }}')
    split = ["[split]", 'of = "t0"', "fractions = [0.6, 0.2, 0.2]"]
    (folder / "graph.toml").write_text("\n".join([*nodes, *edges, *split]) + "\n")


class TypedGraphs(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_graph(cls.work)
        cls.store = cls.work / "papers"
        run("salient-prepare", "typed", "--nodes", "author=count:45", "--nodes", f"paper={cls.work}/papers.csv",
            "--nodes", f"subject={cls.work}/subjects.csv",
            "--edges", f"paper:written_by:author={cls.work}/written_by.csv",
            "--edges", f"paper:about:subject={cls.work}/about.csv", "--labels", f"paper={cls.work}/papers.csv",
            "--split", "0.5,0.25,0.25", "--name", "papers", "--out", cls.store, "--progress", "none", expect=0)

    def train(self, name, *more, model="rsage", ranks=0, expect=0):
        shutil.rmtree(self.work / name, ignore_errors=True)
        return run("salient-train", "--dataset", self.store, "--model", model, "--out", self.work / name, *SMALL, *more,
                   ranks=ranks, expect=expect)

    def refused(self, code, *words, program="salient-train", args=()):
        self.assert_one_error(run(program, *args), code, *words)

    def write_pairs(self, num_src, num_dst):
        path = self.work / "pairs.csv"
        path.write_text("".join(f"{v},{v % num_dst}\n" for v in range(num_src)))
        return path

    def write_labels(self, count):
        path = self.work / "labels_of_a.csv"
        path.write_text("".join(f"{v},{v % 2}\n" for v in range(count)))
        return path

    def losses(self, name):
        return [epoch["loss"] for epoch in self.metrics(name)]

    def infer(self, name, *more, out="predictions"):
        shutil.rmtree(self.work / out, ignore_errors=True)
        run("salient-infer", "--run", self.work / name, "--out", self.work / out, *programs.QUIET, *more, expect=0)
        return json.loads((self.work / out / "inference.json").read_text())

    def test_models_learn_and_predict_what_training_tested(self):
        for model in TYPED:  # rgat reads a paper's neighbours and not its own words: it learns less
            with self.subTest(model=model):
                self.train(model, "--epochs", 15, "--dropout", 0.1, "--seed", 2, model=model)
                losses = self.losses(model)
                self.assertLess(losses[-1], 0.9 * losses[0])
                report = self.infer(model, "--nodes", "test")
                result = json.loads((self.work / model / "run.json").read_text())["result"]
                self.assertAlmostEqual(report["accuracy"], result["test_accuracy"], 9)
                self.assertGreater(report["accuracy"], 0.6)

    def test_predictions_are_of_papers_by_their_own_ids(self):
        self.train("ids")
        report = self.infer("ids", "--nodes", "all", "--format", "csv")
        self.assertEqual(report["nodes"]["count"], NUM_PAPERS)
        self.assertEqual(sorted(report["splits"]), ["test", "train", "valid"])
        rows = list(csv.DictReader((self.work / "predictions/predictions.csv").read_text().splitlines()))
        self.assertEqual([int(row["node"]) for row in rows], list(range(NUM_PAPERS)))
        self.assertEqual([row["id"] for row in rows], [str(own_id(p)) for p in range(NUM_PAPERS)])
        self.assertEqual([int(row["label"]) for row in rows], [p % CLASSES for p in range(NUM_PAPERS)])
        self.infer("ids", "--nodes", f"{own_id(140)},{own_id(3)}", out="some")
        self.assertEqual(list(npy.read(self.work / "some/ids.npy").values), [140, 3])
        self.infer("ids", "--nodes", "140,3", "--nodes-by", "row", out="rows")
        self.assertEqual((self.work / "some/logits.npy").read_bytes(), (self.work / "rows/logits.npy").read_bytes())
        infer = ["--run", self.work / "ids", *programs.QUIET, "--out", self.work / "none"]
        self.refused(65, "no node has this id", program="salient-infer", args=[*infer, "--nodes", own_id(NUM_PAPERS)])
        self.refused(2, "no such relation", program="salient-infer", args=[*infer, "--fanout-of", "a:b:c=1,1"])

    def logits(self, name, *more, out):
        self.infer(name, "--nodes", "all", *more, out=out)
        return npy.read(self.work / out / "logits.npy").values

    def neighbours(self, out):
        return json.loads((self.work / out / "inference.json").read_text())["neighbours"]

    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-5)

    def test_exact_predictions_are_those_of_all_neighbours(self):
        blocks = ["--block-mb", 1, "--workers", 3, "--threads", 2]
        for model in TYPED:
            with self.subTest(model=model):
                self.train("exact", "--epochs", 1, model=model)
                sampled = self.logits("exact", "--fanout", "-1,-1", out="sampled")
                self.assert_close(self.logits("exact", "--exact", out="layers"), sampled)
                self.assert_close(self.logits("exact", "--exact", *blocks, out="blocks"), sampled)
        self.assertEqual(self.neighbours("blocks"), "all")
        on_ranks = self.work / "ranks"
        if PROGRAMS.launch:
            run("salient-infer", "--run", self.work / "exact", "--nodes", "all", "--exact", "--out", on_ranks,
                *programs.QUIET, ranks=2, expect=0)
            self.assert_close(npy.read(on_ranks / "logits.npy").values, sampled)

    def test_exact_predictions_leave_out_relations_as_training_does(self):
        self.train("left", "--epochs", 1, "--fanout-of", "subject:rev_about:paper=0,0")
        expected = self.logits("left", "--fanout", "-1,-1", out="sampled")
        self.assertEqual(self.neighbours("sampled")["fanout_of"], {"subject:rev_about:paper": [0, 0]})
        self.assert_close(self.logits("left", "--exact", out="layers"), expected)
        self.assertEqual(self.neighbours("layers"), {"all_but": {"subject:rev_about:paper": [1, 2]}})
        self.train("left", "--epochs", 1, "--fanout-of", "subject:rev_about:paper=3,0")
        self.logits("left", "--exact", out="second")
        self.assertEqual(self.neighbours("second"), {"all_but": {"subject:rev_about:paper": [2]}})

    def test_a_server_answers_for_papers_by_their_own_ids(self):
        self.train("served", "--epochs", 1)
        self.infer("served", "--nodes", "all", "--fanout", "-1,-1", "--format", "csv", "--probabilities")
        rows = list(csv.DictReader((self.work / "predictions/predictions.csv").read_text().splitlines()))
        expected = {int(row["id"]): [float(row[name]) for name in row if name.startswith("prob_")] for row in rows}
        with serving.Server(PROGRAMS.folder, self.work / "served", "--fanout", "-1,-1") as server:
            papers = [140, 3, 0]
            for body in ({"nodes": [own_id(p) for p in papers]}, {"nodes": papers, "nodes_by": "row"}):
                found = server.predict({**body, "probabilities": True})
                self.assertEqual([(answer["node"], answer["id"]) for answer in found],
                                 [(p, str(own_id(p))) for p in papers])
                for paper, answer in zip(papers, found):
                    self.assert_close(answer["probabilities"], expected[own_id(paper)])
            embedded = server.predict({"nodes": [own_id(3)], "embeddings": True})[0]["embedding"]
            self.assertGreater(len(embedded), CLASSES)
            for body, rule in (({"nodes": [own_id(NUM_PAPERS)]}, "no node has this id"),
                               ({"nodes": [NUM_PAPERS], "nodes_by": "row"}, "149")):
                status, _, text = server.ask("POST", "/predict", json.dumps(body))
                self.assertEqual(status, 400)
                self.assertIn(rule, text)
            about = json.loads(server.ask("GET", "/v1/model")[2])["dataset"]
            self.assertEqual((about["nodes"], about["node_type"]), (NUM_PAPERS, "paper"))

    def test_types_and_relations_are_shown_before_and_after_training(self):
        dry = self.train("dry", "--dry-run", "--global-batch-size", 32, model="rgat")
        self.assertFalse((self.work / "dry").exists())
        relation = "author:rev_written_by:paper"
        self.assert_told_once(dry.stdout, "paper: 150 nodes, 2 features; target")
        self.assert_told_once(dry.stdout, "author: 45 nodes, learned rows")
        self.assert_told_once(dry.stdout, relation + r": \d{3}; \d+, \d+$")
        self.train("shown", "--epochs", 1, "--global-batch-size", 32, "--fanout-of", relation + "=1,0", model="rgat")
        schema = json.loads((self.work / "shown/schema.json").read_text())
        edges = {f"{r['src']}:{r['name']}:{r['dst']}": r["edges"] for r in schema["relations"]}
        self.assertEqual((schema["target"], schema["batches"], len(edges)), ("paper", 3, 4))
        self.assertAlmostEqual(edges[relation][0], 75 / 3)  # one author of each of the training papers
        self.assertEqual(edges[relation][1], 0)
        self.assertIn('"learned rows"', (self.work / "shown/report.html").read_text())
        doctor = run("salient-doctor", "--dataset", self.store, expect=None)
        self.assert_told_once(doctor.stdout, "epoch of .*papers: at least .* s in 1 steps")
        self.assert_told_once(doctor.stdout, "author:rev_written_by:paper: .* entries")

    def test_a_resumed_run_ends_with_the_same_bits(self):
        self.train("whole")
        self.train("half", "--epochs", 2)
        run("salient-train", "--resume", self.work / "half", "--epochs", 4, expect=0)
        self.assertEqual(self.weights("half"), self.weights("whole"))

    def test_workers_and_ranks_change_no_batch(self):
        self.train("one", "--global-batch-size", 32)
        self.train("workers", "--global-batch-size", 32, "--workers", 3)
        self.assertEqual(self.weights("workers"), self.weights("one"))
        if not PROGRAMS.launch:
            self.skipTest("no mpirun")
        self.train("two", "--global-batch-size", 32, ranks=2)
        for one, two in zip(self.losses("one"), self.losses("two"), strict=True):
            self.assertAlmostEqual(one, two, 4)

    def test_validation_leaves_training_as_it_was(self):
        """dmlc/dgl#3511: the model stayed in evaluation after the first epoch, and dropped nothing from then on."""
        self.train("each", "--dropout", 0.5, "--eval-every", 1, model="rgcn")
        self.train("last", "--dropout", 0.5, "--eval-every", 4, model="rgcn")
        self.assertEqual(self.weights("each"), self.weights("last"))

    def test_features_of_one_type_alone(self):
        """Snapchat/GiGL#704: a type without features that sampling reached hung the loader, on one rank or several."""
        (self.work / "labels.csv").write_text("".join(f"{p},{p % CLASSES}\n" for p in range(NUM_PAPERS)))
        draw = random.Random(5)
        for name, count in (("by", NUM_AUTHORS), ("in", 12)):
            (self.work / f"{name}.csv").write_text("".join(
                f"{p},{CLASSES * draw.randrange(count // CLASSES) + p % CLASSES}\n" for p in range(NUM_PAPERS)))
        (self.work / "venues.csv").write_text("id,kind,size\n" + "".join(f"{v},{v % CLASSES},{v}\n" for v in range(12)))
        store = self.work / "some"
        run("salient-prepare", "typed", "--nodes", f"paper=count:{NUM_PAPERS}", "--nodes", "author=count:45", "--nodes",
            f"venue={self.work}/venues.csv", "--edges", f"paper:by:author={self.work}/by.csv", "--edges",
            f"paper:in:venue={self.work}/in.csv", "--labels", f"paper={self.work}/labels.csv", "--split",
            "0.5,0.25,0.25", "--out", store, "--progress", "none", expect=0)
        for model in TYPED:
            train = ["--dataset", store, "--model", model, *SMALL, "--epochs", 6, "--global-batch-size", 32]
            run("salient-train", *train, "--out", self.work / f"some-{model}", expect=0)
            losses = self.losses(f"some-{model}")
            self.assertLess(losses[-1], losses[0])
            if PROGRAMS.launch:
                run("salient-train", *train, "--out", self.work / f"some2-{model}", ranks=2, expect=0)
                for one, two in zip(losses, self.losses(f"some2-{model}"), strict=True):
                    self.assertAlmostEqual(one, two, 4)

    def test_many_types_and_relations(self):
        """pyg-team/pytorch_geometric#10011: 70 types, 140 relations, batches of 24: backward took two minutes.
        awslabs/graphstorm#1115: answers at an endpoint, of a model with learned rows of most types."""
        (self.work / "many").mkdir()
        write_many_types(self.work / "many")
        store = self.work / "many/store"
        run("salient-prepare", "typed", "--schema", self.work / "many/graph.toml", "--out", store, "--progress", "none",
            expect=0)
        for model in TYPED:
            with self.subTest(model=model):
                run("salient-train", "--dataset", store, "--model", model, "--out", self.work / f"many-{model}", *SMALL,
                    "--epochs", 2, "--batch-size", 24, expect=0)
                epoch = self.metrics(f"many-{model}")[-1]  # of two steps
                self.assertLess(epoch["epoch_seconds"], 4)
        self.infer("many-rgcn", "--nodes", "all", "--fanout", "-1,-1", "--format", "csv", "--probabilities")
        rows = list(csv.DictReader((self.work / "predictions/predictions.csv").read_text().splitlines()))
        with serving.Server(PROGRAMS.folder, self.work / "many-rgcn", "--fanout", "-1,-1") as server:
            for answer in server.predict({"nodes": [0, 59], "probabilities": True}):
                row = rows[answer["node"]]
                self.assert_close(answer["probabilities"], [float(row[name]) for name in row if "prob_" in name])

    def test_fanouts_of_relations(self):
        done = self.train("fanouts", "--fanout-of", "subject:rev_about:paper=0,0", "--fanout-of",
                          "author:rev_written_by:paper=2,-1", "--epochs", 1)
        self.assert_told_once(done.stderr, "'subject' is in no neighbourhood of 'paper' within 2 hops")
        self.assertIn("subject:rev_about:paper=0,0,author:rev_written_by:paper=2,-1",
                      (self.work / "fanouts/config.toml").read_text())
        edges = [epoch["edges"] for epoch in self.metrics("fanouts")]
        self.train("all", "--epochs", 1)
        self.assertLess(edges[0], self.metrics("all")[0]["edges"])
        base = ["--dataset", self.store, "--model", "rgcn", "--out", self.work / "no", *SMALL]
        self.refused(2, "no such relation", "paper:written_by:author, paper:about:subject",
                     args=[*base, "--fanout-of", "paper:by:author=5,5"])
        self.refused(2, "2 numbers, one per layer", args=[*base, "--fanout-of", "paper:about:subject=5"])

    def test_a_generated_graph_is_trained_by_its_name(self):
        twin = ["--dataset", "synthetic:mag:0.001", "--model", "rgcn", *SMALL, "--epochs", 2, "--global-batch-size", 64]
        run("salient-train", *twin, "--out", self.work / "twin", expect=0)
        self.assertLess(self.losses("twin")[-1], self.losses("twin")[0])
        if PROGRAMS.launch:  # one rank makes it, the other maps it
            run("salient-train", *twin, "--out", self.work / "twins", ranks=2, expect=0)
            for one, two in zip(self.losses("twin"), self.losses("twins"), strict=True):
                self.assertAlmostEqual(one, two, 4)
        self.refused(2, "mag or igbh", args=["--dataset", "synthetic:mag:2", "--out", self.work / "no", *SMALL])

    def test_rows_in_parts_train_and_predict_the_same(self):
        """The rows of each type are spread over the ranks, and seeds may be dealt to their owners."""
        if not PROGRAMS.launch:
            self.skipTest("no mpirun")
        batch = ["--global-batch-size", 48, "--cache-gb", 1e-7]  # copies of some papers
        for ranks, method in ((2, "cluster"), (3, "ranges")):
            run("salient-prepare", "partition", self.store, "--parts", ranks, "--method", method, "--force", expect=0)
            self.assertIn(f"parts           {ranks} by {method}", run("salient-prepare", "describe", self.store).stdout)
            run("salient-prepare", "verify", self.store, expect=0)
            self.train("host", *batch[:2], "--features", "host", ranks=ranks)
            self.train("parts", *batch, "--features", "partitioned", ranks=ranks)
            host, parts = self.metrics("host"), self.metrics("parts")
            for key in ("loss", "valid_accuracy", "nodes", "edges"):
                self.assertEqual([m[key] for m in host], [m[key] for m in parts], key)
            self.assertEqual(self.weights("host"), self.weights("parts"))
            self.assertTrue(all(m["remote_rows"] > 0 for m in parts))
            self.train("dealt", *batch, "--features", "partitioned", "--deal", "owner", ranks=ranks)
            for one, other in zip(self.losses("host"), self.losses("dealt"), strict=True):
                self.assertAlmostEqual(one, other, 3)
            for how in (["--fanout", "5,5"], ["--exact"]):
                found = []
                for features in ("host", "partitioned"):
                    out = self.work / f"logits-{features}"
                    shutil.rmtree(out, ignore_errors=True)
                    run("salient-infer", "--run", self.work / "parts", "--nodes", "all", "--features", features, *how,
                        "--out", out, *programs.QUIET, ranks=ranks, expect=0)
                    found.append((out / "logits.npy").read_bytes())
                self.assertEqual(*found)
        self.refused(2, "--write-rows", "node types", program="salient-prepare",
                     args=["partition", self.store, "--parts", 2, "--write-rows", "--force"])

    def test_what_is_not_for_typed_graphs_is_refused(self):
        base = ["--dataset", self.store, "--out", self.work / "no", *SMALL]
        self.refused(2, "sage is a model of plain graphs", "rgcn, rsage, rgat", args=base)
        learned = self.work / "learned"
        run("salient-prepare", "typed", "--nodes", "a=count:30", "--nodes", "b=count:10", "--edges",
            f"a:to:b={self.write_pairs(30, 10)}", "--labels", f"a={self.write_labels(30)}", "--split", "0.5,0.25,0.25",
            "--out", learned, "--progress", "none", expect=0)
        self.refused(2, "partitioned feature rows were asked for", "are sparse, or learned",
                     args=["--dataset", learned, "--out", self.work / "no", *SMALL, "--model", "rgcn", "--features",
                           "partitioned"])
        plain = PROGRAMS.generate(self.work / "plain", nodes=200)
        self.refused(2, "rgcn is a model of typed graphs", "sage",
                     args=["--dataset", plain, "--model", "rgcn", "--out", self.work / "no", *SMALL])
        self.refused(2, "the graph is plain",
                     args=["--dataset", plain, "--out", self.work / "no", *SMALL, "--fanout-of", "a:b:c=1,1"])


def write_aifb(folder):
    """Subjects and objects of all triples are nodes of one type, predicates the relations, of persons the group."""
    nodes, relations = {}, {}
    for line in filter(str.strip, gzip.open(AIFB / "aifb_stripped.nt.gz", "rt")):
        subject, predicate, rest = line.split(" ", 2)
        pair = [nodes.setdefault(name, len(nodes)) for name in (subject, rest.strip().removesuffix(" ."))]
        relations.setdefault(predicate, []).append(pair)
    labels = {}
    for part, name in (("train", "trainingSet.tsv"), ("test", "testSet.tsv")):
        with open(AIFB / name) as table:
            rows = csv.DictReader(table, delimiter="\t")
            of = {nodes[f"<{row['person']}>"]: row["label_affiliation"] for row in rows}
        (folder / f"{part}.csv").write_text("".join(f"{node}\n" for node in of))
        labels |= of
    (folder / "labels.csv").write_text("".join(f"{node},{label}\n" for node, label in labels.items()))
    schema = ["[nodes]", f'entity = {{ count = {len(nodes)}, labels = "labels.csv" }}', "[edges]"]
    for i, (predicate, pairs) in enumerate(relations.items()):
        (folder / f"{i}.csv").write_text("".join(f"{source},{target}\n" for source, target in pairs))
        schema.append(f'"entity:{predicate[1:-1]}:entity" = {{ file = "{i}.csv" }}')
    schema += ["[split]", 'of = "entity"', 'train = "train.csv"', 'test = "test.csv"']
    (folder / "graph.toml").write_text("\n".join(schema) + "\n")


class RealGraph(programs.ProgramTest):
    """The figures are below those of docs/TYPED_GRAPHS.md by what a seed makes of them."""

    def accuracy(self, store, *options):
        run("salient-train", "--dataset", store, "--model", "rgcn", "--out", f"{store}-run", "--batch-size", 32,
            *programs.QUIET, *options, expect=0)
        return json.loads(pathlib.Path(f"{store}-run/run.json").read_text())["result"]["test_accuracy"]

    @unittest.skipUnless(AIFB.is_dir(), f"no {AIFB}")
    def test_aifb(self):
        write_aifb(self.work)
        store = self.work / "aifb"
        run("salient-prepare", "typed", "--schema", self.work / "graph.toml", "--out", store, "--progress", "none",
            expect=0)
        for fanout in ("-1,-1", "20,20"):
            found = self.accuracy(store, "--fanout", fanout, "--eval-fanout", fanout, "--hidden", 32, "--epochs", 10,
                                  "--lr", 0.01, "--weight-decay", 0.0005, "--dropout", 0)
            self.assertGreater(found, 0.88)
            shutil.rmtree(f"{store}-run")

    @unittest.skipUnless(ACM.is_dir(), f"no {ACM}")
    def test_acm(self):
        store = self.work / "acm"
        run("salient-prepare", "typed", "--nodes", f"paper={ACM}/p_feat.npz", "--nodes", f"author={ACM}/a_feat.npz",
            "--nodes", "subject=count:60", "--edges", f"paper:written_by:author={ACM}/pa.txt", "--edges",
            f"paper:about:subject={ACM}/ps.txt", "--labels", f"paper={ACM}/labels.npy", "--train",
            ACM / "train_60.npy", "--valid", ACM / "val_60.npy", "--test", ACM / "test_60.npy", "--name", "acm",
            "--out", store, "--progress", "none", expect=0)
        self.assertGreater(self.accuracy(store, "--fanout", "-1,-1", "--eval-fanout", "-1,-1", "--hidden", 64,
                                         "--norm", "layer", "--epochs", 15, "--lr", 0.005), 0.87)


if __name__ == "__main__":
    unittest.main(verbosity=2)
