#!/usr/bin/env python3
"""salient-doctor as a user runs it, on this machine and with what it looks at changed.

    salient_doctor_test.py PROGRAM [MPIEXEC FLAG...]
"""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
MPIEXEC = sys.argv[2:]
PARTS = ["processor", "memory", "pinned memory", "/dev/shm", "huge pages", "disk"]


def doctor(*args, start=(), **options):
    return subprocess.run([*start, PROGRAM, *args], text=True, capture_output=True, timeout=600, **options)


def cpu_seconds_of(call):
    """@return of the processes that call() starts, and what it returns"""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    result = call()
    return used() - before, result


class SalientDoctor(unittest.TestCase):
    def read(self, *args, **options):
        result = doctor("--json", *args, **options)
        self.assertEqual(result.stderr, "")
        found = json.loads(result.stdout)
        missing = [f for f in found["findings"] if f["state"] == "missing"]
        self.assertEqual(result.returncode, 1 if missing else 0)
        return found

    def test_it_looks_and_measures_with_less_than_a_minute_of_work(self):
        seconds, found = cpu_seconds_of(self.read)
        self.assertLess(seconds, 60)
        self.assertEqual([f["part"] for f in found["findings"]][:6], PARTS)
        for finding in found["findings"]:
            self.assertIn(finding["state"], ("fine", "slow", "missing"))
            self.assertEqual(finding["advice"] == "", finding["state"] == "fine", finding)
        ceilings = found["ceilings"]
        self.assertGreater(ceilings["copied_bytes_per_second"], 1e8)
        self.assertLess(ceilings["copied_bytes_per_second"], 1e13)
        for name in ("random_row_bytes_per_second", "random_reads_per_second", "operations_per_second"):
            self.assertGreater(ceilings[name], 1e6)
        self.assertNotIn("all_reduced_bytes_per_second", ceilings)
        self.assertNotIn("epoch", found)

    def test_lines_say_the_same_as_json(self):
        lines = doctor("--measure=false").stdout.splitlines()
        found = self.read("--measure=false")
        self.assertNotIn("ceilings", found)
        self.assertEqual([(line[:8].strip(), line[9:23].strip()) for line in lines],
                         [(f["state"], f["part"]) for f in found["findings"]])

    def test_an_epoch_is_the_sum_of_its_parts(self):
        epoch = self.read("--dataset", "synthetic:arxiv:0.01", "--batch-size", "100", "--fanout", "3,2")["epoch"]
        if "transfer_seconds" not in epoch:
            parts = sum(epoch[name] for name in ("sampling_seconds", "gathering_seconds", "computing_seconds"))
            self.assertAlmostEqual(epoch["seconds"], parts, delta=1e-9 + 1e-6 * parts)
        self.assertGreater(epoch["steps"], 1)

    def test_a_folder_without_room_for_runs_is_not_fine(self):
        disk = next(f for f in self.read("--measure=false", cwd="/proc")["findings"] if f["part"] == "disk")
        self.assertIn(disk["state"], ("slow", "missing"))  # no room; to others than root, no access

    def test_bad_calls_end_with_one_line_and_their_exit_code(self):
        with tempfile.TemporaryDirectory() as empty:
            for args, code, word in ((["--what"], 2, "--what"), (["--fanout", "0"], 2, "--fanout"),
                                     (["--batch-size", "0"], 2, "--batch-size"), (["--hidden", "0"], 2, "--hidden"),
                                     (["--comm-timeout", "0"], 2, "--comm-timeout"),
                                     (["--dataset", "x", "--measure=false"], 2, "--dataset"),
                                     (["--data-root="], 2, "--data-root"),
                                     (["--ranks", "8"], 2, "--run"), (["--run", empty, "--ranks", "0"], 2, "--ranks"),
                                     (["--run", empty, "--ranks", "8", "--hosts", "3"], 2, "--hosts"),
                                     (["--run", empty, "--network-gbits", "0"], 2, "--network-gbits"),
                                     (["--run", empty, "--ranks", "8"], 66, "run.json"),
                                     (["--dataset", f"{empty}/absent"], 66, "absent")):
                with self.subTest(args=args):
                    result = doctor(*args)
                    self.assertEqual(result.returncode, code, result.stderr)
                    self.assertEqual(len(result.stderr.splitlines()), 1)
                    self.assertIn(word, result.stderr)

    def test_a_data_set_that_is_missing_is_said_before_anything_is_measured(self):
        refused, result = cpu_seconds_of(lambda: doctor("--dataset", "/absent"))
        self.assertEqual(result.returncode, 66)
        self.assertLess(refused, cpu_seconds_of(doctor)[0] / 2)

    def test_help_version_and_output_that_is_closed(self):
        self.assertIn("--dataset", doctor("--help").stdout)
        self.assertRegex(doctor("--version").stdout, r"^salient-doctor \d")
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "--measure=false"], stdout=full, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual(result.returncode, 74)
        closed = subprocess.run(["bash", "-c", f"'{PROGRAM}' --measure=false >&-"], capture_output=True, timeout=300)
        self.assertIn(closed.returncode, (0, 1))

    def test_epochs_on_more_ranks_are_computed_from_a_run_on_one(self):
        run = {"resolved": {"batch_size": 10, "step": "eager", "features": "device", "sampler": "device"},
               "model": {"parameters": 2500}, "placement": [{"device": "NVIDIA H200 #0"}]}
        epochs = [{"epoch": i, "epoch_seconds": s, "seeds": 800, "step_spread_seconds": 1e-3}
                  for i, s in ((1, 9.0), (2, 0.8))]
        with tempfile.TemporaryDirectory() as folder:
            def write():
                pathlib.Path(folder, "run.json").write_text(json.dumps(run))
                pathlib.Path(folder, "metrics.jsonl").write_text("".join(json.dumps(e) + "\n" for e in epochs))
            write()
            call = ["--run", folder, "--ranks", "8", "--hosts", "2", "--nvlink-gbytes", "100", "--network-gbits", "80",
                    "--network-us", "50"]
            rows = json.loads(doctor("--json", *call).stdout)["computed"]
            self.assertEqual([(r["ranks"], r["hosts"], r["steps"]) for r in rows],
                             [(1, 1, 80), (2, 1, 40), (4, 1, 20), (8, 2, 10)])
            last = rows[-1]
            exchange = 9e-6 + 2 * 2.4e-6 + 1.5 * 1e4 / 1e11 + 2 * 5e-5 + 1e4 / 1e10
            self.assertAlmostEqual(last["exchange_seconds_per_step"], exchange, delta=1e-9)
            self.assertAlmostEqual(last["waiting_seconds_per_step"], 1.4236e-3, delta=1e-7)
            seconds = 10 * (1e-2 + last["waiting_seconds_per_step"] + exchange)
            self.assertAlmostEqual(last["epoch_seconds"], seconds, delta=1e-9)
            self.assertAlmostEqual(last["efficiency"], 0.8 / 8 / seconds, delta=1e-9)
            lines = doctor(*call).stdout.splitlines()
            self.assertIn("0.8 s an epoch of 80 steps", lines[0])
            self.assertEqual(lines[1], "computed, not measured:")
            self.assertEqual(len(lines), 3 + len(rows))

            run["placement"][0]["device"] = "cpu"
            write()
            refused = doctor(*call)
            self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (2, 1), refused.stderr)
            self.assertEqual(doctor("--run", folder, "--ranks", "4", "--hosts", "4").returncode, 0)
            for broken in ("[]", "{", '{"resolved": 1, "placement": 2}'):
                pathlib.Path(folder, "run.json").write_text(broken)
                refused = doctor(*call)
                self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (65, 1), refused.stderr)

    def test_ranks_measure_their_all_reduce(self):
        if not MPIEXEC:
            self.skipTest("a build without MPI")
        found = self.read("--dataset", "synthetic:arxiv:0.01", start=[MPIEXEC[0], "-n", "2", *MPIEXEC[1:]])
        self.assertGreater(found["ceilings"]["all_reduced_bytes_per_second"], 1e6)
        self.assertGreater(found["epoch"]["exchange_seconds"], 0)
        self.assertIn("2 ranks on 1 host", [f["found"] for f in found["findings"]])

    def test_ranks_wait_for_rank_0_as_long_as_they_are_told(self):
        if not MPIEXEC:
            self.skipTest("a build without MPI")
        result = doctor("--dataset", "synthetic:products:1.0", "--comm-timeout", "1",
                        start=[MPIEXEC[0], "-n", "2", *MPIEXEC[1:]])
        self.assertEqual(result.returncode, 75, result.stderr)
        [line] = [line for line in result.stderr.splitlines() if "no answer from rank 0" in line]
        [advised] = re.findall(r"--[a-z-]+", line)
        self.assertIn(f"  {advised} ", doctor("--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
