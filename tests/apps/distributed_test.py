#!/usr/bin/env python3
"""salient-train as several ranks on one machine: equal curves, resume, signals, and every way to fail.

    distributed_test.py BIN_DIRECTORY MPIEXEC [FLAGS...]       CPU only; about two minutes on 2 cores
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
from job import wait_until

PROGRAMS = programs.Programs(sys.argv[1], sys.argv[2:])
SMALL = [*programs.SMALL, "--eval-batch-size", "300", "--workers", "1", "--threads", "1", "--comm-timeout", "20"]
LIMIT_FILE_SIZE = """import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))  # MPI's own shared files fit
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that write() fails as on a full disk
os.environ["OMPI_MCA_btl_sm_segment_size"] = "4194304"  # OpenMPI 5's would not
os.execv(sys.argv[1], sys.argv[1:])"""

# The last argument is more arguments, for rank 1. Not mpirun's `program : program`, on which OpenMPI 5.0.7 crashes.
MORE_ON_RANK_1 = """import os, sys
more = sys.argv[-1].split() if os.environ["OMPI_COMM_WORLD_RANK"] == "1" else []
os.execv(sys.argv[1], sys.argv[1:-1] + more)"""

IN_FOLDER_OF_RANK = """import os, sys
os.chdir(sys.argv[int(os.environ["OMPI_COMM_WORLD_RANK"]) + 1])
os.execv(sys.argv[3], sys.argv[3:])"""

# As srun --mpi=pmix starts a rank: PMIx's variables and Slurm's, none of mpirun's own.
AS_OF_SRUN = """import os, sys
rank = os.environ["PMIX_RANK"]
for name in [name for name in os.environ if name.startswith("OMPI_COMM_WORLD_")]:
    del os.environ[name]
os.environ |= {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2", "SLURM_PROCID": rank,
               "SLURM_LOCALID": rank, "SLURM_NODEID": "0"}
os.execv(sys.argv[1], sys.argv[1:])"""

STOP_RANK_1 = """import os, signal, sys
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    os.kill(os.getpid(), signal.SIGSTOP)
os.execv(sys.argv[1], sys.argv[1:])"""


class Distributed(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        PROGRAMS.generate(cls.work / "data/graph", nodes=2000, degree=8)

    def command(self, num_ranks, name, *args, through=()):
        out = [] if name is None else ["--out", self.work / name]
        return PROGRAMS.command("salient-train", "--dataset", "graph", "--data-root", self.work / "data", *out, *SMALL,
                                *args, ranks=num_ranks, through=through)

    def run_all(self, command, expect, env=None):
        """Runs to the end: the exit code must be `expect`, and nothing may be left running."""
        return self.finish(self.start(command, env=env), expect)

    def train(self, num_ranks, name, *args, expect=0, **how):
        return self.run_all(self.command(num_ranks, name, *args, **how), expect)

    def resume(self, num_ranks, name, *args):
        return PROGRAMS.run("salient-train", "--resume", self.work / name, *args, ranks=num_ranks, expect=0)

    def start_long(self, num_ranks, name, *args):
        """A long run in its second epoch."""
        job = self.start(self.command(num_ranks, name, "--epochs", 1000, "--global-batch-size", 30, *args))
        job.wait_for_line("epoch 1:")
        return job

    def assert_same_curve(self, a, b, tolerance):
        for x, y in zip(self.metrics(a), self.metrics(b), strict=True):
            self.assertLess(abs(x["loss"] - y["loss"]), tolerance * abs(x["loss"]), (x, y))
            self.assertEqual((x["seeds"], x["step"]), (y["seeds"], y["step"]))

    # --- the same training on any number of ranks ---

    def test_ranks_start_in_four_ways_with_the_same_losses(self):
        self.train(2, "by-mpirun", "--epochs", 1)
        self.train(2, "by-srun", "--epochs", 1, through=[sys.executable, "-c", AS_OF_SRUN])
        self.train(0, "by-option", "--epochs", 1, "--ranks", 2)
        for rank in ("1", "0"):  # the first one ends at once, and leaves the run to the other
            self.assertFalse((self.work / "by-torchrun").exists())
            self.run_all(self.command(0, "by-torchrun", "--epochs", 1), 0, env={
                "RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"})
        expected = [row["loss"] for row in self.metrics("by-mpirun")]
        for name in ("by-srun", "by-option", "by-torchrun"):
            self.assertEqual([row["loss"] for row in self.metrics(name)], expected)
        without = self.run_all(self.command(0, "without", "--ranks", 2), 66, env={"PATH": "/nowhere"})
        self.assertIn("mpirun, which starts ranks, is not on PATH", without.stderr)
        self.assertIn("--ranks: mpirun or srun", self.train(2, "twice", "--ranks", 2, expect=2).stderr)

    def test_the_curve_is_the_same_on_1_2_and_4_ranks(self):
        for dropout in ("0", "0.5"):
            for num_ranks in (0, 2, 4):
                self.train(num_ranks, f"curve-{dropout}-{num_ranks}", "--global-batch-size", 250, "--epochs", 5,
                           "--dropout", dropout)
            self.assertGreaterEqual(self.metrics(f"curve-{dropout}-0")[-1]["step"], 20)
            for num_ranks in (2, 4):
                self.assert_same_curve(f"curve-{dropout}-0", f"curve-{dropout}-{num_ranks}", 1e-5)

    def test_seeds_dealt_to_their_owners_train_the_same_on_fewer_rows(self):
        missing = self.train(2, "no-parts", "--epochs", 1, "--deal", "owner", expect=66)
        self.assertIn("salient-prepare partition", missing.stderr)
        PROGRAMS.run("salient-prepare", "partition", self.work / "data/graph", "--parts", 2, expect=0)
        batch = ["--epochs", 3, "--dropout", 0, "--global-batch-size", 256]
        for deal in ("even", "owner"):
            self.train(2, f"dealt-{deal}", *batch, "--deal", deal)
        self.assert_same_curve("dealt-even", "dealt-owner", 1e-4)
        rows = {deal: [int(m["nodes"]) for m in self.metrics(f"dealt-{deal}")] for deal in ("even", "owner")}
        self.assertNotEqual(rows["even"], rows["owner"])
        refused = self.train(4, "too-few-parts", *batch, "--deal", "owner", expect=2)
        self.assertIn("has 2 parts for 4 ranks", refused.stderr)

    def test_roc_auc_is_over_the_nodes_of_all_ranks(self):
        PROGRAMS.generate(self.work / "data/binary", nodes=2000, degree=8, classes=2)
        for num_ranks in (0, 2, 4):  # weights that do not move, so that the scores are the same
            self.train(num_ranks, f"auc-{num_ranks}", "--dataset", "binary", "--global-batch-size", 600, "--epochs", 1,
                       "--lr", "1e-12", "--eval-batch-size", 70)
        rocauc = [self.metrics(f"auc-{num_ranks}")[0]["valid_rocauc"] for num_ranks in (0, 2, 4)]
        self.assertAlmostEqual(rocauc[0], rocauc[1], places=5)
        self.assertAlmostEqual(rocauc[0], rocauc[2], places=5)

    def test_ranks_without_seeds_take_every_step(self):
        self.train(0, "count", "--global-batch-size", 250, "--epochs", 1)
        all_but_one = self.metrics("count")[0]["seeds"] - 1  # the second step of an epoch has one seed
        for num_ranks in (0, 4):
            self.train(num_ranks, f"few-{num_ranks}", "--global-batch-size", all_but_one, "--epochs", 2)
        self.assert_same_curve("few-0", "few-4", 1e-5)

    def test_accuracies_are_exactly_those_of_one_rank(self):
        self.train(0, "exact", "--global-batch-size", 250, "--epochs", 2)
        alone = self.resume(0, "exact").stdout.splitlines()  # the run is over: only the test is repeated
        confusion = (self.work / "exact/confusion.json").read_text()
        for num_ranks in (2, 3):
            self.assertEqual(self.resume(num_ranks, "exact").stdout.splitlines()[:2], alone[:2])
            self.assertEqual((self.work / "exact/confusion.json").read_text(), confusion)

    def test_running_statistics_are_those_of_rank_0(self):
        run = self.train(2, "statistics", "--model", "gin", "--global-batch-size", 250, "--epochs", 2)
        again = self.resume(0, "statistics")  # one rank, from the checkpoint: only the test is repeated
        self.assertEqual(run.stdout.splitlines()[:2], again.stdout.splitlines()[:2])

    def test_the_scaling_benchmark_trains_the_same_on_1_and_2_ranks(self):
        found = self.work / "scaling.json"
        result = PROGRAMS.run("salient-bench", "scaling", "--dataset", self.work / "data/graph", *SMALL, "--layers", 2,
                              "--global-batch-size", 250, "--epochs", 3, "--json", found, ranks=2, expect=0)
        self.assertIn("x bare", result.stdout)
        one, two = json.loads(found.read_text())["rows"]
        self.assertEqual((one["name"], two["name"], one["efficiency"]), ("1 rank", "2 ranks", 1.0))
        self.assertLess(abs(one["loss"] - two["loss"]), 1e-5 * one["loss"])
        for key in ("epoch_seconds_median", "allreduce_seconds_per_step", "exchange_seconds", "bare_exchange_seconds"):
            self.assertGreater(two[key], 0, key)

    def test_one_rank_speaks_for_all(self):
        result = self.train(2, "speaks", "--global-batch-size", 250, "--epochs", 1)
        for line in (r"^test accuracy ", r"^run directory "):
            self.assert_told_once(result.stdout, line)
        for line in (r"^epoch 1:", r"^communication: mpi between 2 ranks on 1 host", r"^   1  .* cpu "):
            self.assert_told_once(result.stderr, line)
        metrics = self.metrics("speaks")[0]
        self.assertIsNotNone(metrics["allreduce_seconds"])
        self.assertEqual((metrics["hop_nodes"][-1], sum(metrics["hop_edges"])), (metrics["nodes"], metrics["edges"]))
        placement = json.loads((self.work / "speaks/run.json").read_text())["placement"]
        self.assertEqual([rank["rank"] for rank in placement], ["0", "1"])

    def test_ranks_share_a_generated_graph_that_a_kill_leaves_nothing_of(self):
        generated = ["--dataset", "synthetic:arxiv:0.02", "--global-batch-size", "500", "--eval-every", "1000"]
        for num_ranks in (0, 2):
            self.train(num_ranks, f"generated-{num_ranks}", *generated, "--epochs", 2)
        self.assert_same_curve("generated-0", "generated-2", 1e-5)
        job = self.start_long(2, "shared", *generated)
        ranks = job.ranks()
        shared = [set(re.findall(r"(\d+) +/memfd:salient",
                                 pathlib.Path(f"/proc/{pid}/maps").read_text())) for pid in ranks.values()]
        self.assertTrue(shared[0])
        self.assertEqual(shared[0], shared[1])  # the same inodes
        for pid in ranks.values():
            os.kill(pid, signal.SIGKILL)
        self.finish(job, 128 + signal.SIGKILL)
        self.assertEqual([f for f in os.listdir("/dev/shm") if "salient" in f], [])

    # --- resume and signals ---

    def test_resume_continues_with_the_same_bits(self):
        self.train(2, "whole", "--epochs", 3, "--batch-size", 100)
        self.train(2, "part", "--epochs", 1, "--batch-size", 100)
        self.resume(2, "part", "--epochs", 3)
        self.assertEqual([m["loss"] for m in self.metrics("whole")], [m["loss"] for m in self.metrics("part")])
        self.assertEqual(self.weights("whole"), self.weights("part"))
        changed = self.resume(4, "part", "--epochs", 4)
        self.assert_told_once(changed.stderr, "not with the same bits")

    def test_a_run_that_rank_0_alone_sees_is_resumed(self):
        self.train(2, "of-rank-0", "--epochs", 1)
        (self.work / "elsewhere").mkdir()
        through = [sys.executable, "-c", IN_FOLDER_OF_RANK, self.work, self.work / "elsewhere"]
        PROGRAMS.run("salient-train", "--resume", "of-rank-0", "--epochs", 2, ranks=2, through=through, expect=0)
        self.assertEqual(len(self.metrics("of-rank-0")), 2)
        self.assertEqual(list((self.work / "elsewhere").iterdir()), [])

    def test_sigterm_on_one_rank_stops_all_at_the_same_step(self):
        job = self.start_long(2, "stopped")
        job.signal(signal.SIGTERM, rank=1)
        self.assert_told_once(self.finish(job, 128 + signal.SIGTERM).stderr, "interrupted; continue with")
        self.assertEqual(json.loads((self.work / "stopped/run.json").read_text())["status"], "interrupted")
        epoch = len(self.metrics("stopped")) + 2
        self.resume(2, "stopped", "--epochs", epoch)
        self.train(2, "unstopped", "--global-batch-size", 30, "--epochs", epoch)
        self.assertEqual(self.weights("stopped"), self.weights("unstopped"))

    def test_sigusr1_on_one_rank_leaves_a_checkpoint(self):
        job = self.start_long(2, "usr1", "--checkpoint-every", 0, "--eval-every", 1000)
        latest = self.work / "usr1/checkpoints/latest/state.json"
        self.assertFalse(latest.exists())
        job.signal(signal.SIGUSR1, rank=1)
        wait_until(latest.exists, "a checkpoint")
        job.signal(signal.SIGINT, rank=0)
        self.finish(job, 128 + signal.SIGINT)

    # --- failures: all ranks gone, the reason once, the right exit code, the last checkpoint good ---

    def test_a_killed_rank_ends_all(self):
        job = self.start_long(2, "killed")
        job.signal(signal.SIGKILL, rank=1)
        self.finish(job, 128 + signal.SIGKILL)
        self.resume(2, "killed", "--epochs", len(self.metrics("killed")) + 1)

    def test_a_stopped_rank_ends_all_after_the_timeout(self):
        jobs = [self.start_long(2, f"hangs-{rank}", "--comm-timeout", 8) for rank in (0, 1)]
        for rank, job in enumerate(jobs):
            job.signal(signal.SIGSTOP, rank)
        for rank, job in enumerate(jobs):
            self.assert_told_once(self.finish(job, 75, limit=90).stderr, f"error: .*no answer from rank {rank} on ")
        self.resume(2, "hangs-1", "--epochs", len(self.metrics("hangs-1")) + 1)

    def test_a_rank_that_is_stopped_before_mpi_starts_ends_all_after_the_timeout(self):
        result = self.train(2, "asleep", "--comm-timeout", 8, through=[sys.executable, "-c", STOP_RANK_1], expect=75)
        self.assert_told_once(result.stderr, "error: rank 0 on .*: the start of MPI takes more than 8 s: .* stopped")

    def test_a_signal_while_a_graph_is_generated_ends_all_at_once(self):
        """Generation takes seconds on one core; the table of ranks comes before it, the line of the graph after it."""
        for rank in (0, 1):
            job = self.start(["taskset", "--cpu-list", min(os.sched_getaffinity(0)),
                              *self.command(2, f"early-{rank}", "--dataset", "synthetic:products:0.5")])
            job.wait_for_line(" +1 .* cpu ")  # the table's last line
            job.signal(signal.SIGTERM, rank)
            errors = self.finish(job, 128 + signal.SIGTERM).stderr
            self.assertNotIn("opened in", errors)  # the signal came before the graph was there
            self.assertFalse((self.work / f"early-{rank}").exists())

    def test_shared_memory_of_a_killed_run_is_named(self):
        left = pathlib.Path(f"/dev/shm/vader_segment.{socket.gethostname()}.{os.getuid()}.5a11e47.0")
        left.write_bytes(bytes(1500000))
        self.addCleanup(left.unlink)
        os.utime(left, (time.time() - 60, time.time() - 60))
        result = self.train(2, "named", "--epochs", 1)
        self.assert_told_once(result.stderr, rf"1 segment .* 1\.5 MB, .*rm {left.parent}/\S+5a11e47\.\* frees")
        self.assertNotIn("segment", self.train(0, "alone", "--epochs", 1).stderr)  # which needs no such memory

    def test_a_loss_that_is_not_a_number_names_step_and_rank(self):
        result = self.train(2, "diverged", "--epochs", 3, "--batch-size", 100, "--lr", "1e30", expect=1)
        self.assert_told_once(result.stderr, r"error: the loss is not a number at epoch \d+, step \d+, rank \d")

    def train_with_more_on_rank_1(self, name, more, expect):
        return self.train(2, name, more, through=[sys.executable, "-c", MORE_ON_RANK_1], expect=expect)

    def test_a_rank_with_a_corrupt_store_ends_all(self):
        shutil.copytree(self.work / "data", self.work / "broken")
        indices = self.work / "broken/graph/indices.npy"
        indices.write_bytes(indices.read_bytes()[:-4] + b"\xff\xff\xff\x7f")
        result = self.train_with_more_on_rank_1("corrupt", f"--data-root {self.work / 'broken'}", 65)
        self.assert_told_once(result.stderr, r"error: rank 1 on .*indices\.npy")
        self.assertFalse((self.work / "corrupt").exists())

    def test_ranks_with_different_options_are_refused(self):
        result = self.train_with_more_on_rank_1("different", "--lr 0.5", 2)
        self.assert_told_once(result.stderr,
                              r"error: rank 1 on .* the configuration differs .*'lr = 0.5', not 'lr = 0.01'")

    def test_a_full_disk_on_rank_0_ends_all(self):
        result = self.train(2, "full", "--epochs", 2, "--batch-size", 1000, "--hidden", 1100, "--fanout", "3,3,3",
                            "--eval-fanout", "3,3,3",  # 9.7 MB of weights
                            through=[sys.executable, "-c", LIMIT_FILE_SIZE], expect=74)
        self.assert_told_once(result.stderr, r"error: rank 0 on .*model\.safetensors: cannot write")
        self.assertIn("failed", json.loads((self.work / "full/run.json").read_text())["status"])

    def test_lone_processes_that_should_be_ranks_are_refused(self):
        for variable in ("WORLD_SIZE", "SLURM_NTASKS"):
            result = self.run_all(self.command(0, "lone"), 2, env={variable: "4"})
            self.assert_told_once(result.stderr, f"error: {variable} is 4 but MPI knows one rank")

    def test_a_bad_option_is_told_once(self):
        result = self.train(2, "bad", "--fanot", "3", expect=2)
        self.assert_told_once(result.stderr, "error: .*--fanout")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
