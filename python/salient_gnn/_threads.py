# python/salient_gnn/_threads.py - threads survive neither a fork nor the end of the program, and are told so in time.
from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from typing import Any

from salient_gnn import _core

_GRACE_S = 0.5  #: at the end of the program, for a thread that computes with a batch

_has_threads = False
_is_forked_too_late = False
_is_ending = False
_never = threading.Lock()
_never.acquire()
_users: set[int] = set()  # threads that have called use_threads()
_waiting: set[int] = set()  # of these the ones that wait for the end of the process
_open: set[weakref.ref[Any]] = set()


def _after_fork() -> None:
    global _is_forked_too_late
    if _has_threads and not _is_forked_too_late:
        _core.skip_exit_handlers()
    _is_forked_too_late = _is_forked_too_late or _has_threads


os.register_at_fork(after_in_child=_after_fork)


def is_forked() -> bool:
    """Whether this process has copies of its parent's loaders, whose threads are not there."""
    return _is_forked_too_late


def use_threads() -> None:
    """To be called before anything that starts threads, or waits for them. At the end of the program it does not return
    to a daemon thread, which would meet its end at a place that is not made for it, and take the process along."""
    global _has_threads
    if _is_forked_too_late:
        raise RuntimeError(
            "this process was forked after its parent had used salient_gnn, and threads do not survive a fork; "
            "start processes with multiprocessing's 'spawn', or fork before the first data set is opened"
        )
    _has_threads = True
    thread = threading.get_ident()
    _users.add(thread)
    if _is_ending and thread != threading.main_thread().ident:
        _waiting.add(thread)
        _never.acquire()


def close_at_exit(iteration: Any) -> None:
    """Its close() is called at the end of the program, unless it has gone before."""
    _open.add(weakref.ref(iteration, _open.discard))


def _at_exit() -> None:
    global _is_ending
    if _is_forked_too_late:
        return
    _is_ending = True
    for iteration in [reference() for reference in list(_open)]:
        if iteration is not None:
            iteration.close()
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline and any(
        thread.daemon and thread.is_alive() and thread.ident in _users - _waiting for thread in threading.enumerate()
    ):
        time.sleep(0.002)


atexit.register(_at_exit)
