# tests/python/tensorboard_test.py - TensorBoard reads what salient-train writes, by the command of docs/REPORT.md.
import json
import os
import pathlib
import re
import shlex
import sys
import urllib.request

import pytest
import salient_gnn
from job import LIMIT_S, Job, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("SALIENT_BIN", ""))
TENSORBOARD = pathlib.Path(sys.executable).with_name("tensorboard")


@pytest.mark.skipif(not TENSORBOARD.exists(), reason="this Python has no tensorboard")
@pytest.mark.skipif(not (BIN / "salient-train").exists(), reason="no programs in SALIENT_BIN")
def test_curves_and_embeddings_of_a_run_are_shown(tmp_path):
    page = (ROOT / "docs/REPORT.md").read_text()
    [words] = re.findall(r"^tensorboard (.*)$", page, re.M)
    [embed] = re.findall(r"^salient_gnn\.predict\(run, .*$", page, re.M)
    run = salient_gnn.train("synthetic:arxiv:0.01", out=tmp_path / "runs/mine", quiet=True, device="cpu", hidden=8,
                            layers=2, fanout=[3, 3], epochs=2)  # fmt: skip
    exec(embed, {"salient_gnn": salient_gnn, "run": run})
    command = [TENSORBOARD, *shlex.split(words), "--port", "0", "--load_fast", "false"]
    board = Job(command, cwd=tmp_path)
    try:
        board.wait_for_line(".*http://")
        address = re.search(r"http://[^ ]+", board.printed()[1])[0]

        def tags_of_run():
            with urllib.request.urlopen(f"{address}data/plugin/scalars/tags", timeout=LIMIT_S) as answer:
                return json.load(answer).get("mine")

        tags = wait_until(tags_of_run, "the run's tags")
        assert {"loss", "accuracy/valid"} <= set(tags), tags
        plugin, asked = f"{address}data/plugin/projector/", "run=mine&name=embeddings"
        with urllib.request.urlopen(f"{plugin}tensor?{asked}", timeout=LIMIT_S) as answer:
            assert len(answer.read()) == 1693 * 8 * 4  # nodes, width, bytes of a float
        with urllib.request.urlopen(f"{plugin}metadata?{asked}", timeout=LIMIT_S) as answer:
            assert answer.read().decode().startswith("id\tclass\n0\t")
    finally:
        board.kill()
