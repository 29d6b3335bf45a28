# python/salient_gnn/_forks.py - threads do not survive a fork: a child is told so instead of waiting for them for ever.
from __future__ import annotations

import os

_has_threads = False
_is_forked_too_late = False


def _after_fork() -> None:
    global _is_forked_too_late
    _is_forked_too_late = _is_forked_too_late or _has_threads


os.register_at_fork(after_in_child=_after_fork)


def use_threads() -> None:
    """To be called before anything that starts threads, or waits for them."""
    global _has_threads
    if _is_forked_too_late:
        raise RuntimeError(
            "this process was forked after its parent had used salient_gnn, and threads do not survive a fork; "
            "start processes with multiprocessing's 'spawn', or fork before the first data set is opened"
        )
    _has_threads = True
