# python/salient_programs/__init__.py - the programs of a wheel: commands of the shell, and where Python finds them.
"""salient-train and the others as `pip install` puts them on PATH. Imports no torch, which would take seconds.

scripts/build_wheel.sh puts a bundle of the programs into this folder: bin/, libexec/, lib/. A package that was
installed from the sources has none, and takes programs from elsewhere.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import sys
from typing import NoReturn

BUNDLE = pathlib.Path(__file__).resolve().parent


def find(name: str) -> str:
    """The program's path: in the folder SALIENT_BIN if that is set, else in this package, else on PATH.

    @throws FileNotFoundError
    """
    folder = os.environ.get("SALIENT_BIN")
    if folder:
        found = shutil.which(name, path=folder)
        if found is None:
            raise FileNotFoundError(f"{name} is not in SALIENT_BIN={folder}")
        return found
    for place in (str(BUNDLE / "bin"), *os.get_exec_path()):
        found = shutil.which(name, path=place or os.curdir)
        if found and not _is_of_pip(found):
            return found
    raise FileNotFoundError(
        f"{name} is not in this installation, which was made without the programs, nor on PATH; install a wheel of "
        "scripts/build_wheel.sh, or set SALIENT_BIN to the folder of the programs"
    )


def environment() -> dict[str, str]:
    """What the programs of this package start with: LibTorch is the torch of this Python."""
    spec = importlib.util.find_spec("torch")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return {**({"SALIENT_TORCH_DIR": folders[0]} if folders else {}), **os.environ}


def main() -> NoReturn:
    """Becomes the program whose name this command has."""
    name = os.path.basename(sys.argv[0])
    try:
        program = find(name)
        os.execve(program, [name, *sys.argv[1:]], environment())
    except OSError as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        sys.exit(66)


def _is_of_pip(path: str) -> bool:
    """Whether it is a command that pip made for main()."""
    with open(path, "rb") as file:
        return b"salient_programs" in file.read(1000)
