# tests/python/tensorboard_test.py - TensorBoard reads what salient-train writes, by the command of docs/REPORT.md.
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
import urllib.request

import pytest
import salient_gnn

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SALIENT_BIN", ""))
TENSORBOARD = pathlib.Path(sys.executable).with_name("tensorboard")


@pytest.mark.skipif(not TENSORBOARD.exists(), reason="this Python has no tensorboard")
@pytest.mark.skipif(not (BIN / "salient-train").exists(), reason="no programs in SALIENT_BIN")
def test_curves_of_a_run_are_shown(tmp_path):
    [words] = re.findall(r"^tensorboard (.*)$", (ROOT / "docs/REPORT.md").read_text(), re.M)
    salient_gnn.train("synthetic:arxiv:0.01", out=tmp_path / "runs/mine", quiet=True, device="cpu", hidden=8, layers=2,
                      fanout=[3, 3], epochs=2)  # fmt: skip
    command = [TENSORBOARD, *shlex.split(words), "--port", "0", "--load_fast", "false"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as board:
        try:
            address = next(found[0] for line in board.stderr if (found := re.search(r"http://[^ ]+", line)))
            deadline = time.monotonic() + 120
            tags = {}
            while not tags.get("mine") and time.monotonic() < deadline:
                with urllib.request.urlopen(f"{address}data/plugin/scalars/tags", timeout=300) as answer:
                    tags = json.load(answer)
            assert {"loss", "accuracy/valid"} <= set(tags["mine"]), tags
        finally:
            board.terminate()
