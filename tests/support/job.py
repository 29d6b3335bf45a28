# tests/support/job.py - a program that a test starts, alone or as ranks, and the processes that are its own.
import contextlib
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
import weakref

LIMIT_S = 240  # for what takes seconds on an idle machine
RANK = b"OMPI_COMM_WORLD_RANK"
NUMBERS = itertools.count()
SUITE = uuid.uuid4().hex
PR_SET_PDEATHSIG = 1


def wait_until(holds, what, limit=LIMIT_S):
    """Waits until holds() is true; after `limit` seconds an AssertionError with `what`. @return its value"""
    deadline = time.monotonic() + limit
    while not (found := holds()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {limit} s not yet: {what}")
        time.sleep(0.02)
    return found


class Job:
    """A started command: one program, or mpirun and its ranks, in a session of its own.

    Its processes are those with its mark in their environment. They inherit it, whoever becomes their parent, so that
    programs that somebody else runs from the same folder meanwhile are never seen. Ends with the suite, however that
    ends. What it prints goes to files: nothing waits for a reader. Its temporary files have a folder of their own:
    of two mpirun that share one, the first to end can remove it while the other makes it.
    """

    def __init__(self, command, env=None, **options):
        self.mark = f"JOB_OF_A_TEST={SUITE}.{next(NUMBERS)}".encode()
        name, value = self.mark.decode().split("=")
        self.streams = [tempfile.TemporaryFile() for _ in range(2)]
        folder = tempfile.mkdtemp(prefix="job-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        prctl = ctypes.CDLL(None).prctl
        self.process = subprocess.Popen(
            [str(word) for word in command], env={**os.environ, "TMPDIR": folder, **(env or {}), name: value},
            stdin=subprocess.DEVNULL, stdout=self.streams[0], stderr=self.streams[1], start_new_session=True,
            preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGTERM), **options)

    def processes(self):
        """pid -> environment, of those that run now."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:  # of another user, or gone
                continue
            if self.mark in entries:
                found[int(pid)] = dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)
        return found

    def ranks(self):
        """rank -> pid; not of what a rank has started."""
        ranks = {pid: int(environment[RANK]) for pid, environment in self.processes().items() if RANK in environment}
        return {rank: pid for pid, rank in ranks.items() if parent_of(pid) not in ranks}

    def signal(self, number, rank=None):
        """Sends a signal to a rank, or to the command itself."""
        os.kill(self.process.pid if rank is None else self.ranks()[rank], number)

    def printed(self):
        """What it has printed so far: stdout and stderr."""
        return [os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0).decode(errors="replace")
                for stream in self.streams]

    def wait_for_line(self, pattern, limit=LIMIT_S):
        """Until a line of stderr begins so; what ends without it is an error."""
        def is_there():
            has_ended = self.process.poll() is not None
            found = re.search(rf"(?m)^(?:{pattern})", self.printed()[1])
            assert found or not has_ended, (pattern, self.process.returncode, self.printed())
            return found

        wait_until(is_there, f"a line {pattern!r}", limit)

    def end(self, limit=LIMIT_S):
        """Waits for the end. @return as subprocess.run(); what takes longer is killed, an AssertionError"""
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            running = list(self.processes())
            for pid in running:  # Python with -X faulthandler prints where its threads are
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGABRT)
            time.sleep(1)
            report = f"not ended after {limit} s: {running} run, printed {self.printed()}"
            self.kill()
            raise AssertionError(report) from None
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, *self.printed())

    def wait_for_last(self):
        """Until no process of it runs. mpirun may end a moment before those that it killed."""
        wait_until(lambda: not self.processes(), f"every process of {self.process.args} has ended")

    def kill(self):
        """Ends every process of it, also those that are stopped; and forgets what they printed."""
        if self.process.poll() is None:
            self.process.terminate()  # mpirun then removes its ranks' shared memory, which a SIGKILL would leave
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
        while running := self.processes():
            for pid in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.process.wait()
        for stream in self.streams:
            stream.close()


def parent_of(pid):
    """None of a process that is gone."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
