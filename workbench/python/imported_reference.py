"""References of imported problems: their own code on the referee's inputs, in double precision where it can."""
import importlib.util
import json
import pathlib
import re

import torch


def load(path):
    spec = importlib.util.spec_from_file_location("imported_problem", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tuple_of(made):
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def inputs_on_meta(module):
    """get_inputs() without the numbers of its tensors; None where it reads them."""
    try:
        with torch.device("meta"):
            return module.get_inputs()
    except Exception:  # it is called again with numbers, and what is wrong with it shows then
        return None


def module_reference(settings):
    """Of a module with Model, get_inputs() and get_init_inputs(): weights are inputs like others."""
    path = pathlib.Path(settings["path"])
    module = load(path)
    torch.manual_seed(42)
    model = module.Model(*module.get_init_inputs()).double()
    given = inputs_on_meta(module) or module.get_inputs()
    shapes = [one.shape if isinstance(one, torch.Tensor) else None for one in given]
    weights = dict(model.named_parameters())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)

    def reference(**values):
        inputs = [one if name is None else values[name].view(shape).to(device)
                  for name, one, shape in zip(settings["inputs"], given, shapes)]
        state = {theirs: values[mine].view(weights[theirs].shape).to(device)
                 for mine, theirs in settings["weights"].items()}
        with torch.no_grad():
            results = tuple_of(torch.func.functional_call(model, state, tuple(inputs)))
        changed = {name: one for name, one in zip(settings["inputs"], inputs) if name is not None}
        return {**changed, **dict(zip(settings["outputs"], results))}

    return reference


def in_double(code):
    """What a reference narrows on the way stays wide."""
    code = re.sub(r"torch\.(float32|float16|bfloat16)\b", "torch.float64", code)
    return re.sub(r"\.(float|half|bfloat16)\(\)", ".double()", code)


def run_reference(settings):
    """Of a definition with run(): outputs by place, or by name."""
    definition = json.loads(pathlib.Path(settings["path"]).read_text())
    names = {"__name__": "imported_problem"}
    code = definition.get("reference") or settings["code"]
    exec(compile(in_double(code), settings["path"], "exec"), names)
    const = {axis: spec["value"] for axis, spec in settings["axes"].items() if spec["type"] == "const"}
    given = {axis: spec.get("expression", spec.get("expr")) for axis, spec in settings["axes"].items()
             if spec["type"] == "expr"}
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def reference(**values):
        sizes = {**const, **{name: value for name, value in values.items() if isinstance(value, int)}}
        for axis, text in given.items():
            sizes[axis] = eval(text, {"__builtins__": {}}, sizes)
        inputs = [settings["scalars"].get(name, sizes.get(name)) if settings["shapes"][name] is None
                  else values[name].view([sizes[axis] for axis in settings["shapes"][name]]).to(device)
                  for name in settings["inputs"]]
        with torch.no_grad():
            results = names["run"](*inputs)
        return results if isinstance(results, dict) else dict(zip(settings["outputs"], tuple_of(results)))

    return reference
