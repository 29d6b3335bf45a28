# tests/python/threads_test.py - threads share loaders; a loop ends well by Ctrl-C, in a fork, and with the program.
import pathlib
import random
import signal
import sys
import threading
import time

import pytest
import salient_gnn
from conftest import FANOUTS
from job import Job

MANY = [(workers, num_threads) for workers in (0, 1, 2) for num_threads in (1, 2, 6)]


def in_threads(count, work):
    """Fails instead of waiting for ever."""
    failed = []

    def guarded():
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert not any(thread.is_alive() for thread in threads) and failed == []


@pytest.mark.parametrize("workers, num_threads", MANY)
def test_threads_that_share_a_loader_end(dataset, workers, num_threads):
    loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 128, shuffle=True, workers=workers)
    in_threads(num_threads, lambda: [list(loader) for _ in range(10)])
    assert sum(batch.batch_size for batch in loader) == len(dataset.train), "a loop of its own is whole again"
    assert loader.epoch == 10 * num_threads + 1


@pytest.mark.parametrize("workers, num_threads", MANY)
def test_threads_that_share_an_iteration_have_every_batch_once(dataset, workers, num_threads):
    loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 64, workers=workers)
    alone = {batch.index: batch.nodes.sum().item() for batch in loader}
    for _ in range(4):
        loader.set_epoch(1)
        iterator, seen = iter(loader), []
        in_threads(num_threads, lambda: seen.extend((batch.index, batch.nodes.sum().item()) for batch in iterator))
        assert len(seen) == len(loader) and dict(seen) == alone


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_late_end_and_a_late_next_of_one_iteration_leave_the_next_whole(dataset, workers):
    loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 64, workers=workers)
    old = iter(loader)
    next(old)
    stream, run = loader._stream, old._run
    new = iter(loader)
    assert stream.next(run) is None  # of a thread that was about to call it
    stream.stop(run)
    assert [batch.index for batch in new] == list(range(len(loader)))


@pytest.mark.parametrize("workers", [0, 2])
def test_one_thread_restarts_while_others_take_batches(dataset, workers):
    loader = salient_gnn.NeighborLoader(dataset, "train", FANOUTS, 64, workers=workers)
    over = threading.Event()

    def take():
        while not over.is_set():
            indices = [batch.index for batch in loader]
            assert indices == list(range(len(indices))), "a batch of another iteration"

    def restart():
        draws = random.Random(workers)
        for _ in range(60):
            iterator = iter(loader)
            for _ in range(draws.randrange(3)):
                next(iterator, None)
        over.set()

    works = iter([restart, take, take])
    in_threads(3, lambda: next(works)())


def test_iterations_are_broken_off_by_many_threads_for_long():
    soak = pathlib.Path(__file__).with_name("soak.py")
    done = Job([sys.executable, "-X", "faulthandler", soak, "3"]).end()
    assert done.returncode == 0 and done.stdout.startswith("rounds "), done.stdout + done.stderr


PROGRAM = """
import os, sys, torch, salient_gnn
dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
loader = salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers=2)
"""


def run_program(text):
    """A Job, not a pipe: a forked child that hangs would keep its end of one open, and the reader waiting."""
    return Job([sys.executable, "-X", "faulthandler", "-c", text]).end()


def test_a_forked_child_is_told_so():
    done = run_program(PROGRAM + """
iterator = iter(loader)
next(iterator)
child = os.fork()
if child == 0:
    for use in (lambda: next(iterator), lambda: iter(loader), lambda: salient_gnn.Dataset.open("synthetic:arxiv:0.01")):
        try:
            use()
        except RuntimeError as error:
            print("spawn" in str(error), flush=True)
    del iterator, loader
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sum(map(len, iterator)) > 0)
""")
    assert done.stdout.split() == ["True", "True", "True", "5", "True"], done.stderr


def test_a_forked_child_ends_without_the_locks_of_its_parents_threads():
    # The handler stands for oneTBB's, which may wait for ever.
    done = run_program("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.on_exit(libc.abort, None)\n" + PROGRAM + """
child = os.fork()
if child == 0:
    print("child")
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
""")
    assert done.stdout.split() == ["child", "5"], done.stderr


def test_processes_may_fork_before_the_first_data_set():
    done = run_program("""
import os, sys, salient_gnn
child = os.fork()
dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
count = sum(map(len, salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers=2)))
if child == 0:
    os._exit(count == len(dataset.train))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), count == len(dataset.train))
""")
    assert done.stdout == "1 True\n", done.stderr


def test_a_loader_goes_to_a_spawned_process(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text("""
import multiprocessing, salient_gnn
def total(loader):
    return sum(int(batch.nodes.long().sum()) for batch in loader)
if __name__ == "__main__":
    dataset = salient_gnn.Dataset.open("synthetic:arxiv:0.01")
    loader = salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers=1, shuffle=True)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(total, [loader, loader]) == [total(loader)] * 2)
""")
    done = Job([sys.executable, "-X", "faulthandler", script]).end()
    assert done.stdout.strip() == "True", done.stderr


def test_control_c_ends_a_loop_at_once():
    process = Job([sys.executable, "-c", PROGRAM + """
print("go", file=sys.stderr, flush=True)
while True:
    for batch in loader: batch.x
"""])
    process.wait_for_line("go$")
    time.sleep(0.3)
    process.signal(signal.SIGINT)
    done = process.end()
    assert done.returncode == -signal.SIGINT and done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_after_control_c_the_next_loop_is_whole():
    done = run_program(PROGRAM + """
import signal
try:
    for batch in loader:
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print(sum(map(len, loader)) == len(dataset.train))
""")
    assert done.stdout == "True\n", done.stderr


PINNED = """
import time
from salient_gnn import _core
options = _core.StreamOptions()
options.rule, options.num_workers = _core.SamplingRule([4, 3], "uniform"), 2
"""


def test_a_stream_may_go_while_its_workers_pin_memory():
    done = run_program(PROGRAM + PINNED + """
stream = _core.make_stream(dataset._core, None, options, lambda *_: time.sleep(0.2), lambda _: None)
stream.start(loader._order, 1, 0)
time.sleep(0.1)
del stream  # a worker waits for Python's lock, which this line holds
print("gone")
""")
    assert done.stdout == "gone\n", done.stderr


def test_what_fails_in_a_worker_is_raised_in_the_loop():
    done = run_program(PROGRAM + PINNED + """
def pin(address, size):
    raise RuntimeError("no more of it")
stream = _core.make_stream(dataset._core, None, options, pin, lambda _: None)
run = stream.start(loader._order, 1, 0)
try:
    stream.next(run)
except salient_gnn.Error as error:
    print(error.code, "no more of it" in str(error))
""")
    assert done.stdout == "71 True\n", done.stderr


def test_a_program_may_end_in_the_middle_of_an_epoch():
    done = run_program(PROGRAM + "iterator = iter(loader)\nnext(iterator)\nprint('end')\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_program_may_end_while_daemon_threads_iterate(workers):
    done = run_program(PROGRAM + f"""
import threading, time
torch.set_num_threads(1)
weights = torch.randn(dataset.num_features, 64)
def use(loader):
    while True:
        for batch in loader:
            (batch.x @ weights).relu().sum()
for _ in range(3):
    loader = salient_gnn.NeighborLoader(dataset, "train", [4, 3], 64, workers={workers})
    threading.Thread(target=use, args=(loader,), daemon=True).start()
time.sleep(0.1)
print("end")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_daemon_thread_may_return_to_a_program_that_has_ended():
    done = run_program(PROGRAM + PINNED + """
import threading
def use(stream):  # the core alone: the package stops it before the end, if it can
    while True:
        stream.next(stream.start(loader._order, 1, 0))
for _ in range(3):
    stream = _core.make_stream(dataset._core, None, options, None, None)
    threading.Thread(target=use, args=(stream,), daemon=True).start()
time.sleep(0.1)
print("end")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
