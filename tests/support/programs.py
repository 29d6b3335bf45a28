# tests/support/programs.py - what suites share that run the programs of a folder: how they start them, and on what.
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from job import Job

QUIET = ["--device", "cpu", "--progress", "none"]
SMALL = [*QUIET, "--hidden", "16", "--fanout", "5,4", "--eval-fanout", "8,8", "--lr", "0.01"]  # a training of a second


def version():
    """What programs call themselves: that of the sources beside the tests."""
    lists = pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt"
    return re.search(r"project\(salient VERSION (\S+)", lists.read_text())[1]


class Programs:
    """The programs of a folder, and how ranks of them are started."""

    def __init__(self, folder, launch=()):
        """@param launch  mpirun and its flags; none: what takes ranks cannot run"""
        self.folder, self.launch = pathlib.Path(folder).resolve(), [str(word) for word in launch]

    def command(self, program, *args, ranks=0, through=()):
        """@param ranks    0: without mpirun   @param through  words before the program, of what then becomes it"""
        started = [*self.launch, "-np", ranks] if ranks else []
        return [str(word) for word in (*started, *through, self.folder / program, *args)]

    def run(self, program, *args, expect=None, env=None, cwd=None, **how):
        """To the end, of every process. @param expect  the exit code; None: any  @return as subprocess.run()"""
        job = Job(self.command(program, *args, **how), env, cwd=cwd)
        try:
            done = job.end()
            job.wait_for_last()
        finally:
            job.kill()
        assert expect in (None, done.returncode), (done.returncode, done.args, done.stdout + done.stderr)
        return done

    def generate(self, out, *more, nodes=4000, degree=10, features=12, classes=5):
        """A generated data set. @return its folder"""
        self.run("salient-prepare", "synthetic", "--nodes", nodes, "--mean-degree", degree, "--features", features,
                 "--classes", classes, "--out", out, *more, expect=0)
        return out


class ProgramTest(unittest.TestCase):
    """A suite with a folder of its own, `work`, in which runs have names."""

    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix=f"salient-{cls.__name__}-")).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.work)

    def start(self, command, **options):
        """A job that ends with the test. See Job."""
        job = Job(command, **options)
        self.addCleanup(job.kill)
        return job

    def finish(self, job, expect, limit=None):
        """Waits until all of a job has ended, with this exit code. @return as subprocess.run()"""
        done = job.end(*([limit] if limit else []))
        self.assertEqual(done.returncode, expect, done.stderr + done.stdout)
        job.wait_for_last()
        return done

    def metrics(self, name):
        """The rows of a run's epochs."""
        return [json.loads(line) for line in (self.work / name / "metrics.jsonl").read_text().splitlines()]

    def weights(self, name):
        return (self.work / name / "checkpoints/latest/model.safetensors").read_bytes()

    def assert_told_once(self, output, reason):
        lines = [line for line in output.splitlines() if re.search(reason, line)]
        self.assertEqual(len(lines), 1, output)

    def assert_one_error(self, done, code, *words):
        """It ended so, with one line of an error, which has these words."""
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, done.stderr)
        for word in words:
            self.assertIn(str(word), errors[0])
