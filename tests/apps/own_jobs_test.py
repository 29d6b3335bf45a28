#!/usr/bin/env python3
"""What a suite starts is its own: tests/support/job.py beside programs that somebody else runs from the same folder.

    own_jobs_test.py BIN_DIRECTORY MPIEXEC [FLAGS...]       CPU only; seconds
"""
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import programs
from job import wait_until

PROGRAMS = programs.Programs(sys.argv[1], sys.argv[2:])
LONG = [*programs.SMALL, "--workers", "1", "--threads", "1", "--epochs", 1000000]
# A suite of its own, which says the mark of its job and then waits for its own end.
SUITE = """import signal, sys
sys.path.append(sys.argv[1])
from job import Job
job = Job(sys.argv[2:])
job.wait_for_line("epoch 1:")
print(job.mark.decode(), flush=True)
signal.pause()
"""


def pids_with(mark):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


class OwnJobs(programs.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        PROGRAMS.generate(cls.work / "graph", nodes=500, degree=4)

    def command(self, name, ranks=2):
        return PROGRAMS.command("salient-train", "--dataset", self.work / "graph", "--out", self.work / name, *LONG,
                                ranks=ranks)

    def test_a_training_that_somebody_else_runs_is_neither_seen_nor_ended(self):
        environment = {name: value for name, value in os.environ.items() if name != "JOB_OF_A_TEST"}
        foreign = subprocess.Popen(self.command("foreign"), env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(foreign.wait)
        self.addCleanup(foreign.terminate)
        wait_until((self.work / "foreign/metrics.jsonl").exists, "the foreign training is in its second epoch")
        jobs = [self.start(self.command(name)) for name in ("own-0", "own-1")]
        for job in jobs:
            job.wait_for_line("epoch 1:")
        ranks = [job.ranks() for job in jobs]
        self.assertEqual([sorted(found) for found in ranks], [[0, 1], [0, 1]])
        self.assertEqual(len({pid for found in ranks for pid in found.values()}), 4)
        for found, name in zip(ranks, ("own-0", "own-1")):
            for pid in found.values():
                self.assertIn(str(self.work / name), pathlib.Path(f"/proc/{pid}/cmdline").read_text())
        jobs[0].signal(signal.SIGTERM, rank=1)
        self.finish(jobs[0], 128 + signal.SIGTERM)
        self.assertEqual(jobs[1].ranks(), ranks[1])
        jobs[1].kill()
        self.assertIsNone(foreign.poll())
        epochs = len(self.metrics("foreign"))
        wait_until(lambda: len(self.metrics("foreign")) > epochs, "the foreign training goes on")
        self.assertIsNone(foreign.poll())

    def test_what_lost_its_parent_or_is_stopped_is_still_known_and_ended(self):
        job = self.start(["sh", "-c", "sleep 1000 & sleep 1000 & kill -STOP $!; echo left >&2"])
        job.wait_for_line("left")
        job.end()
        self.assertEqual(len(job.processes()), 2)
        job.kill()
        self.assertEqual(job.processes(), {})

    def test_what_does_not_end_in_time_is_ended_and_named(self):
        with self.assertRaisesRegex(AssertionError, "not ended after 1 s: .*printed .*'said"):
            self.start(["sh", "-c", "echo said; sleep 1000"]).end(limit=1)

    def test_a_line_that_never_comes_is_an_error_as_soon_as_the_command_has_ended(self):
        with self.assertRaisesRegex(AssertionError, "'ready'.*other"):
            self.start(["sh", "-c", "echo other >&2"]).wait_for_line("ready")

    def test_jobs_end_with_a_suite_that_is_killed(self):
        support = pathlib.Path(programs.__file__).parent
        suite = subprocess.Popen([sys.executable, "-c", SUITE, support, *self.command("orphan")], text=True,
                                 stdout=subprocess.PIPE)
        self.addCleanup(suite.wait)
        self.addCleanup(suite.stdout.close)
        self.addCleanup(suite.kill)
        mark = suite.stdout.readline().strip().encode()
        self.assertGreaterEqual(len(pids_with(mark)), 3)  # mpirun and its ranks
        suite.kill()
        wait_until(lambda: not pids_with(mark), "the ranks have ended")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
