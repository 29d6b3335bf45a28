# tests/support/python_of_tests.py - the Python that has torch: of SALIENT_TEST_PYTHON, or of scripts/setup.sh --python.
import importlib.util
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def python_of_tests():
    """A path to start; None where there is neither."""
    named = os.environ.get("SALIENT_TEST_PYTHON")
    if named:
        return named
    found = subprocess.run([SOURCE / "scripts/lib/python.sh"], capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"error: scripts/lib/python.sh: {(found.stderr.strip().splitlines() or ['it failed'])[-1]}")
    environment = pathlib.Path(found.stdout)
    if not environment.exists():
        return None
    if not (environment / ".complete").exists():
        print(f"error: {environment} is half made; scripts/setup.sh --python makes it")
        sys.exit(1)
    return str(environment / "bin" / "python3")


def restart_where(*modules):
    """Goes on in a Python that has these modules: this one, else python_of_tests(), else none (77, skipped)."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if not missing:
        return
    is_restarted = os.environ.get("SALIENT_RESTARTED") == "1"
    python = None if is_restarted else python_of_tests()
    if python:
        os.execve(python, [python, *sys.argv], {**os.environ, "SALIENT_RESTARTED": "1"})
    reason = f"{sys.executable} has no {', '.join(missing)}; scripts/setup.sh --python makes an environment"
    print(f"{'error' if is_restarted else 'skipped'}: {reason}")
    sys.exit(1 if is_restarted else 77)
