#!/usr/bin/env python3
"""--features partitioned: the results of the replicated run, and every way to end one.

    partitioned_test.py BIN_DIRECTORY MPIEXEC [FLAGS...]       CPU only; about two minutes on 2 cores
"""
import os
import pathlib
import re
import shutil
import signal
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
from job import wait_until

PROGRAMS = programs.Programs(sys.argv[1], sys.argv[2:])
CPU = [*programs.QUIET, "--workers", "1", "--threads", "1"]
SMALL = [*programs.SMALL, "--workers", "1", "--threads", "1", "--eval-batch-size", "300", "--comm-timeout", "20",
         "--global-batch-size", "90"]


class Partitioned(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        PROGRAMS.generate(cls.work / "graph", nodes=2000, degree=8)
        PROGRAMS.run("salient-prepare", "synthetic", "--like", "papers100M", "--scale", "0.0005",
                     "--train-communities", "0.05", "--out", cls.work / "twin", expect=0)
        cls.partition("graph", 2)

    @classmethod
    def partition(cls, graph, num_parts, *args):
        PROGRAMS.run("salient-prepare", "partition", cls.work / graph, "--parts", num_parts, "--force", *args, expect=0)

    def command_of_hosts(self, num_ranks, program, *args):
        """Each rank with a folder of its own, host0, host1, ..."""
        words = []
        for rank in range(num_ranks):
            words += [":"] * (rank > 0) + ["-np", 1, PROGRAMS.folder / program, "--data-root",
                                           self.work / f"host{rank}", *args]
        return [*PROGRAMS.launch, *words]

    def run_all(self, command, expect=0):
        return self.finish(self.start(command), expect)

    def train(self, num_ranks, name, *args, graph="graph", expect=0):
        return PROGRAMS.run("salient-train", "--dataset", self.work / graph, "--out", self.work / name, *SMALL, *args,
                            ranks=num_ranks, expect=expect)

    def infer(self, num_ranks, name, *args, expect=0):
        return PROGRAMS.run("salient-infer", *CPU, "--out", self.work / name, *args, ranks=num_ranks, expect=expect)

    def start_long(self, name, *args):
        """A long run on two ranks, in its second epoch."""
        job = self.start(PROGRAMS.command("salient-train", "--dataset", self.work / "graph", "--out", self.work / name,
                                          *SMALL, "--features", "partitioned", "--epochs", 1000, *args, ranks=2))
        job.wait_for_line("epoch 1:")
        return job

    # --- the same results ---

    def test_losses_and_weights_are_those_of_the_replicated_run(self):
        for num_ranks, method in ((2, "cluster"), (3, "ranges"), (0, "cluster")):
            self.partition("graph", max(1, num_ranks), "--method", method)
            for features in ("host", "partitioned"):
                self.train(num_ranks, f"{features}-{num_ranks}", "--features", features, "--epochs", 3)
            host, parts = self.metrics(f"host-{num_ranks}"), self.metrics(f"partitioned-{num_ranks}")
            for key in ("loss", "train_accuracy", "valid_accuracy", "nodes", "edges"):
                self.assertEqual([m[key] for m in host], [m[key] for m in parts], key)
            self.assertEqual(self.weights(f"host-{num_ranks}"), self.weights(f"partitioned-{num_ranks}"))
            for m in parts:
                self.assertEqual(m["own_rows"] + m["copied_rows"] + m["remote_rows"], m["nodes"])
                self.assertEqual(m["remote_rows"] > 0, num_ranks > 0)
            self.assertIsNone(host[0]["remote_rows"])
        self.partition("graph", 2)

    def test_predictions_are_those_of_the_replicated_run(self):
        self.train(0, "model", "--epochs", "2")
        for neighbours in ([], ["--exact", "--block-mb", "1"]):
            found = []
            for features in ("host", "partitioned"):
                name = f"predicted-{features}{len(neighbours)}"
                self.infer(2, name, "--run", self.work / "model", "--nodes", "all", *neighbours, "--features", features)
                found.append((self.work / name / "logits.npy").read_bytes())
            self.assertEqual(*found)

    def test_copies_by_expected_visits_spare_remote_rows(self):
        self.partition("twin", 4)
        share = {}
        for name, copies in (("none", ["--cache-gb", "1e-6"]), ("tenth", [])):
            self.train(4, f"copies-{name}", "--features", "partitioned", "--epochs", "1", "--eval-every", "1000",
                       *copies, graph="twin")
            m = self.metrics(f"copies-{name}")[0]
            share[name] = m["remote_rows"] / m["nodes"]
        self.assertAlmostEqual(share["none"], 0.75, delta=0.05)  # seeds are dealt evenly, so rows are from anywhere
        self.assertLess(share["tenth"], 0.9 * share["none"], share)

    def test_a_line_says_where_rows_came_from(self):
        errors = self.train(2, "speaks", "--features", "partitioned", "--epochs", 1).stderr
        self.assertRegex(errors, r"feature rows on rank 0: \d+ of its part, \d+ copies of others; of a batch's rows")
        self.assertRegex(errors, r"(?m)^epoch 1: [0-9.]+ % own rows, [0-9.]+ % copies, [0-9.]+ % remote, "
                                 r"[0-9.]+ MB/batch, wait ")

    def test_inference_copies_the_rows_that_its_batches_are_expected_to_meet(self):
        self.train(0, "chooser", "--epochs", 1, graph="twin")
        self.partition("twin", 2)
        share = {}
        for policy in ("vip", "degree"):
            errors = self.infer(2, f"chosen-{policy}", "--run", self.work / "chooser", "--features", "partitioned",
                                "--cache-policy", policy, "--nodes", "train").stderr
            line = re.search(r"rank 0: \d+ of its part, \d+ copies of others; of a batch's rows (\d+) % are", errors)
            share[policy] = int(line[1])
        self.assertGreater(share["vip"], share["degree"])

    def test_hosts_that_have_the_rows_of_their_part_alone_find_the_same(self):
        self.partition("graph", 3, "--write-rows")
        self.train(3, "with-all-rows", "--features", "partitioned", "--epochs", 2)

        def folders(order):
            for rank, part in enumerate(order):
                folder = self.work / f"host{rank}"
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(self.work / "graph", folder / "graph", ignore=shutil.ignore_patterns("features*.npy"))
                shutil.copy(self.work / f"graph/features-part-{part}.npy", folder / "graph")

        def run_of_hosts(program, *args, expect=0):
            return self.run_all(self.command_of_hosts(3, program, *args), expect)

        train = ["--dataset", "graph", "--out", self.work / "with-own-rows", *SMALL, "--epochs", 2]
        folders([0, 1, 2])
        run_of_hosts("salient-train", *train, "--features", "partitioned")
        self.assertEqual(self.weights("with-all-rows"), self.weights("with-own-rows"))
        for program, more in (("verify", ""), ("describe", "parts 1 of 3; no features.npy")):
            checked = PROGRAMS.run("salient-prepare", program, self.work / "host1/graph", expect=0)
            self.assertIn(more, checked.stdout)
        infer = ["--run", self.work / "with-own-rows", "--dataset", "graph", "--nodes", "all"]
        for name, neighbours in (("found", []), ("found-exact", ["--exact"])):
            run_of_hosts("salient-infer", *infer, *neighbours, *CPU, "--features", "partitioned",
                         "--out", self.work / f"{name}-own")
            self.infer(3, name, *infer, *neighbours, "--data-root", self.work)
            self.assertEqual((self.work / name / "logits.npy").read_bytes(),
                             (self.work / f"{name}-own/logits.npy").read_bytes(), name)

        errors = run_of_hosts("salient-train", *train, "--features", "host", expect=66).stderr
        self.assertRegex(errors, "error: .*features.npy is missing")
        folders([0, 2, 1])
        errors = run_of_hosts("salient-train", *train, "--features", "partitioned", expect=66).stderr
        self.assertRegex(errors, "rank 1 .*host1/graph/features-part-1.npy is missing.*parts whose rows are here: 2")
        self.partition("graph", 2)

    # --- what is refused ---

    def test_parts_and_ranks_must_agree(self):
        errors = self.train(3, "refused", "--features", "partitioned", expect=2).stderr
        self.assertRegex(errors, "number of parts 2, of ranks 3; a part for each rank is needed")
        self.assertEqual(len(re.findall("error:", errors)), 1, errors)
        shutil.rmtree(self.work / "whole", ignore_errors=True)
        PROGRAMS.generate(self.work / "whole", nodes=100)
        errors = self.train(2, "refused", "--features", "partitioned", graph="whole", expect=66).stderr
        self.assertRegex(errors, "has no parts.*; salient-prepare partition")

    def test_a_dry_run_says_that_parts_and_ranks_do_not_agree(self):
        PROGRAMS.generate(self.work / "without", nodes=100)
        rows, deal = ["--features", "partitioned", "--dry-run"], ["--deal", "owner", "--dry-run"]
        self.assertIn("number of parts 2, of ranks 3", self.train(3, "dry", *rows, expect=2).stderr)
        self.assertIn("has no parts", self.train(2, "dry", *rows, graph="without", expect=66).stderr)
        self.assertIn("has 2 parts for 3 ranks", self.train(3, "dry", *deal, expect=2).stderr)
        self.assertIn("nothing was trained", self.train(2, "dry", *rows, "--deal", "owner").stdout)

    def test_hosts_whose_parts_differ_are_refused(self):
        self.train(0, "of-one-host", "--epochs", "1")
        for write_rows in ([], ["--write-rows"]):
            for rank, method in enumerate(("cluster", "ranges")):
                self.partition("graph", 2, "--method", method, *write_rows)
                folder = self.work / f"host{rank}"
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(self.work / "graph", folder / "graph")
                if write_rows:
                    (folder / "graph/features.npy").unlink()
            train = ["--dataset", "graph", "--out", self.work / "refused", *SMALL, "--epochs", 1]
            infer = ["--run", self.work / "of-one-host", "--dataset", "graph", "--nodes", "all", *CPU]
            for command in (["salient-train", *train], ["salient-infer", *infer, "--out", self.work / "refused"]):
                result = self.run_all(self.command_of_hosts(2, *command, "--features", "partitioned"), 65)
                self.assertRegex(result.stderr, "error: rank 1 on .*: the checksum of the data set's parts differs")
        self.partition("graph", 2)

    # --- ends ---

    def test_sigterm_on_one_rank_stops_all_and_the_run_goes_on_with_the_same_bits(self):
        job = self.start_long("stopped")
        job.signal(signal.SIGTERM, rank=1)
        self.assertIn("interrupted; continue with", self.finish(job, 128 + signal.SIGTERM).stderr)
        epoch = len(self.metrics("stopped")) + 2
        PROGRAMS.run("salient-train", "--resume", self.work / "stopped", "--epochs", epoch, ranks=2, expect=0)
        self.train(2, "unstopped", "--features", "host", "--epochs", epoch)
        self.assertEqual(self.weights("stopped"), self.weights("unstopped"))

    def test_a_killed_rank_ends_all(self):
        job = self.start_long("killed")
        job.signal(signal.SIGKILL, rank=1)
        self.finish(job, 128 + signal.SIGKILL)

    def test_a_stopped_rank_ends_all_after_the_timeout(self):
        jobs = [self.start_long(f"hangs-{rank}", "--comm-timeout", 8) for rank in (0, 1)]
        for rank, job in enumerate(jobs):
            job.signal(signal.SIGSTOP, rank)
        for rank, job in enumerate(jobs):
            self.assertRegex(self.finish(job, 75, limit=90).stderr, f"error: .*no answer from rank {rank} on ")

    def test_a_slow_rank_is_waited_for(self):
        job = self.start_long("slow", "--comm-timeout", 120)
        pid = job.ranks()[1]
        for _ in range(3):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(pid, signal.SIGCONT)
            epochs = len(self.metrics("slow"))
            wait_until(lambda: job.process.poll() is not None or len(self.metrics("slow")) > epochs, "another epoch")
            self.assertIsNone(job.process.poll(), job.printed())
        os.kill(pid, signal.SIGTERM)
        self.finish(job, 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
