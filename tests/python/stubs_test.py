# tests/python/stubs_test.py - the stubs of the extension module say what it has: names, parameters, properties.
import ast
import enum
import inspect
import pathlib
import re
import subprocess
import sys

import pytest
import salient_gnn
from salient_gnn import _core

STUBS = ast.parse(pathlib.Path(salient_gnn.__file__).with_name("_core.pyi").read_text()).body


def names_of(body):
    for node in body:
        if isinstance(node, ast.AnnAssign):
            yield node.target.id, node
        elif isinstance(node, ast.Assign):
            yield node.targets[0].id, node
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node


def parameters(node):
    return [argument.arg for argument in node.args.args if argument.arg != "self"]


def real_parameters(function):
    """Of a nanobind function; one whose arguments have no names has arg, arg0, ... instead."""
    signature = re.sub(r"ndarray\[[^\]]*\]|\\", "", function.__nb_signature__[0][0].split(" -> ")[0])
    signature = re.sub(r": (?=[,)])", "", signature)
    arguments = ast.parse(f"{signature}: ...").body[0].args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args) if a.arg != "self"]


def same_parameters(stub, function):
    real, said = real_parameters(function), parameters(stub)
    assert len(real) == len(said), f"{stub.name}: {said} in the stub, {real} in the module"
    assert all(a == b or a.startswith("arg") for a, b in zip(real, said)), f"{stub.name}: {said}, not {real}"


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_module_has_the_names_of_its_stub():
    stubs = dict(names_of(STUBS))
    assert public(_core) | {"__version__"} == set(stubs)
    for name, node in stubs.items():
        if isinstance(node, ast.FunctionDef):
            same_parameters(node, getattr(_core, name))


@pytest.mark.parametrize("name", [n for n, node in names_of(STUBS) if isinstance(node, ast.ClassDef) and n != "Error"])
def test_a_class_has_the_members_of_its_stub(name):
    stubs = dict(names_of(dict(names_of(STUBS))[name].body))
    real = getattr(_core, name)
    if issubclass(real, enum.Enum):
        assert list(real.__members__) == list(stubs)
        return
    assert public(real) == {member for member in stubs if member != "__init__"}
    for member, node in stubs.items():
        if member == "__init__":
            continue
        found = inspect.getattr_static(real, member)
        is_property = isinstance(node, ast.AnnAssign) or bool(node.decorator_list)
        assert isinstance(found, property) == is_property, member
        if not is_property:
            same_parameters(node, found)


def test_the_module_comes_after_torch_which_has_the_cuda_runtime():
    program = """import sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "salient_gnn._core":
            print("torch" in sys.modules)
sys.meta_path.insert(0, Watch())
import salient_gnn"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"], done.stdout
