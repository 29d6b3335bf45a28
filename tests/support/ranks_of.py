# tests/support/ranks_of.py - the processes that mpirun started.
import os
import pathlib


def ranks_of(folder):
    """rank -> pid of the programs in this folder that run now as ranks."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pathlib.Path(os.readlink(f"/proc/{pid}/exe")).parent != folder:
                continue
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for entry in environment:
            if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(entry.split(b"=")[1])] = int(pid)
    return found
