# tests/python/readme_test.py - the examples of python/README.md run as they are printed.
import pathlib
import re

import pytest

README = pathlib.Path(__file__).resolve().parents[2] / "python" / "README.md"


def test_the_examples_run_one_after_another(tmp_path):
    pytest.importorskip("torch_geometric")
    examples = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(examples) == 3
    names = {"DATASET": "synthetic:arxiv:0.02", "FOLDER": tmp_path}
    for example in examples:
        exec(compile(example, str(README), "exec"), names)
    assert names["x"].shape == (names["batch"].batch_size, names["dataset"].num_classes)
    assert names["mine"].num_nodes == 1000
