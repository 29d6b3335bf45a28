# tests/support/memory_limit.py - a control group that bounds the memory of the commands that are started in it.
import contextlib
import os
import pathlib

MOUNTS = (("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("", "/sys/fs/cgroup", "memory.max"))


def own_groups():
    """Folder and limit's file of this process' group, of version 1 and 2, where they are mounted."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller, mount, limit in MOUNTS:
            if controller == controllers:
                named = pathlib.Path(mount + path)
                yield (named if named.is_dir() else pathlib.Path(mount)), limit  # containers may see theirs as the root


@contextlib.contextmanager
def memory_limit(num_bytes):
    """Words to put before a command, or None where no control group can be made here."""
    for parent, limit in own_groups():
        group = parent / f"salient-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / limit).exists():
                (group / limit).write_text(str(num_bytes))
                yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
                return
        except OSError:
            pass  # mounted read-only in part
        finally:
            group.rmdir()
    yield None
