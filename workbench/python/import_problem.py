#!/usr/bin/env python3
"""Makes cases of problems of other suites: a case file and a reference, which calls the problem's own code.

    import_problem.py kernelbench FILE.py|FOLDER OUT         modules with Model, get_inputs(), get_init_inputs()
    import_problem.py flashinfer  DEFINITION.json|FOLDER OUT definitions, and workloads/**/NAME.jsonl of that folder
    import_problem.py sol         FOLDER OUT                 folders with definition.json and workload.jsonl

Prints a line of JSON for every problem: {"problem", "case"} or {"problem", "reason"}. Shapes come from a run on torch's
meta device, which computes nothing. The problems' files stay where they are: references name them.
"""
import importlib.util
import json
import pathlib
import re
import sys

try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from imported_reference import inputs_on_meta
except ImportError:
    sys.exit("import_problem.py: this Python has no torch; name one that has, by the option python")

TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int32: "i32", torch.int64: "i32"}
NAMED = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int32": "i32"}
WIDTH = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}
MOST_BYTES = 2**34
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "convolution", "linear")


class Reason(Exception):
    """Why a problem is no case."""


class Watch(TorchDispatchMode):
    """Which operations a problem has."""

    def __init__(self):
        super().__init__()
        self.names, self.is_random = [], False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(function.overloadpacket.__name__)
        self.is_random = self.is_random or torch.Tag.nondeterministic_seeded in function.tags
        return function(*args, **(kwargs or {}))


def load(path, name="problem"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def identifier(text):
    name = re.sub(r"\W+", "_", text).strip("_").lower()
    return name if name[:1].isalpha() else f"p{name}"


def tuple_of(made):
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


class Buffer:
    def __init__(self, name, type_word, role, count, fill=""):
        self.name, self.type, self.role, self.count, self.fill = name, type_word, role, count, fill

    def line(self):
        return f"buffer {self.name} {self.type} {self.role} {self.count}{' ' if self.fill else ''}{self.fill}"


def buffer_of_tensor(name, tensor, role):
    if tensor.dtype not in TYPES:
        raise Reason(f"{name} is of {str(tensor.dtype).replace('torch.', '')}")
    fill = ""
    if role != "out" and not tensor.is_floating_point():
        fill = f"index {int(tensor.max()) + 1 if tensor.numel() else 1}"
    return Buffer(name, TYPES[tensor.dtype], role, str(tensor.numel()), fill)


def case_text(name, source, task, buffers, dims, shapes, has_product, flops):
    bytes_of = "+".join(f"{WIDTH[one.type] * (2 if one.role == 'inout' else 1)}*({one.count})" for one in buffers)
    outputs = "+".join(f"({one.count})" for one in buffers if one.role != "in")
    lines = [f"# {name}.case - made by salient-kernels import from {source}.", f"case {name}", "class any",
             *(f"| {line}" for line in task), f"reference python {name}.py", "dims " + " ".join(dims),
             *(one.line() for one in buffers), "bound 64", f"bytes {bytes_of}", f"flops {flops or outputs}",
             f"ceiling {'tf32_tensor' if has_product else 'f32'}", "exponents -20 20"]
    lines += ["public " + " ".join(f"{dim}={size}" for dim, size in shape.items()) for shape in shapes]
    return "\n".join(lines) + "\n"


# KernelBench


def inputs_of(module):
    """get_inputs(), where all tensors are of floats without their numbers: a case does not need them, and they may have
    gigabytes. Of others the numbers say where indices point to."""
    inputs = inputs_on_meta(module)
    tensors = [one for one in inputs or () if isinstance(one, torch.Tensor)]
    unknown = next((one for one in tensors if one.dtype not in TYPES), None)
    if unknown is not None:
        raise Reason(f"an input is of {str(unknown.dtype).replace('torch.', '')}")
    if inputs is not None and all(one.is_floating_point() for one in tensors):
        return inputs
    torch.manual_seed(42)
    with torch.device("cpu"):
        return module.get_inputs()


def import_module(path, out):
    module = load(path)
    for needed in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(module, needed):
            raise Reason(f"it has no {needed}")
    inputs = inputs_of(module)
    init_inputs = module.get_init_inputs()
    if isinstance(init_inputs, dict):
        raise Reason("its initial inputs are no list")
    if any(isinstance(one, (list, tuple, dict)) for one in inputs):
        raise Reason("an input is a list")
    with torch.device("meta"):
        model = module.Model(*init_inputs)
    check_state(model)
    tensors = [(f"x{i}", one) for i, one in enumerate(inputs) if isinstance(one, torch.Tensor)]
    weights = [(identifier(f"w_{name}"), name, one) for name, one in model.named_parameters()]
    total = sum(one.numel() * one.element_size() for _, one in tensors) + sum(4 * one.numel() for _, _, one in weights)
    if total > MOST_BYTES:
        raise Reason(f"its inputs have {total / 2**30:.1f} GiB, a case has 16 at most")
    on_meta = [one.to("meta") if isinstance(one, torch.Tensor) else one for one in inputs]
    versions = [one._version for one in on_meta if isinstance(one, torch.Tensor)]
    with torch.no_grad(), Watch() as watch:
        results = tuple_of(model(*on_meta))
    if watch.is_random:
        raise Reason("its result is random")
    if not all(isinstance(one, torch.Tensor) for one in results):
        raise Reason("a result is no tensor")
    changed = [one._version != before for one, before in
               zip((one for one in on_meta if isinstance(one, torch.Tensor)), versions)]
    buffers = [buffer_of_tensor(name, one, "inout" if is_changed else "in")
               for (name, one), is_changed in zip(tensors, changed)]
    buffers += [buffer_of_tensor(name, one, "in") for name, _, one in weights]
    places = result_places(results, on_meta, buffers)
    size = sum(int(one.count) * WIDTH[one.type] for one in buffers)
    if size > MOST_BYTES:
        raise Reason(f"its buffers have {size / 2**30:.1f} GiB, a case has 16 at most")
    name = identifier(path.stem)
    task = [f"What Model.forward of {path.name} computes, of its shapes alone:",
            *(f"{one.name}: {list(tensor.shape)}" for one, tensor in
              zip(buffers, [*(one for _, one in tensors), *(one for _, _, one in weights), *results]))]
    task += ["", *path.read_text().splitlines()]
    n = max(int(one.count) for one in buffers if one.role != "in")
    has_product = any(word in PRODUCTS for word in watch.names)
    text = case_text(name, path.name, task, buffers, ["n"], [{"n": n}], has_product, flops_of(watch, model, on_meta))
    settings = {"path": str(path.resolve()), "weights": {mine: theirs for mine, theirs, _ in weights},
                "inputs": [name if isinstance(one, torch.Tensor) else None for name, one in named(inputs)],
                "outputs": places}
    return write(out, name, text, "module_reference", settings)


def named(inputs):
    return [(f"x{i}", one) for i, one in enumerate(inputs)]


def check_state(model):
    for module in model.modules():
        own = [name for name, one in module.named_buffers(recurse=False) if one.is_floating_point()]
        is_norm = isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.training
        if own and not is_norm:
            raise Reason(f"{type(module).__name__} has a state of its own, {own[0]}")


def result_places(results, inputs, buffers):
    """Buffers of the results: an input that was changed and is returned is no further one."""
    places = []
    for i, one in enumerate(results):
        same = [f"x{k}" for k, given in enumerate(inputs) if given is one]
        if same and any(buffer.name == same[0] and buffer.role == "inout" for buffer in buffers):
            places.append(same[0])
            continue
        buffers.append(buffer_of_tensor(f"y{i}", one, "out"))
        places.append(f"y{i}")
    return places


def flops_of(watch, model, inputs):
    """The operations of one product; of several, or of one whose factor is made on the way, fewer may do."""
    moves = ("t", "transpose", "permute", "view", "_unsafe_view", "reshape", "expand", "detach", "unsqueeze", "squeeze")
    if [name for name in watch.names if name not in moves] not in ([word] for word in PRODUCTS):
        return None
    from torch.utils.flop_counter import FlopCounterMode
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops() or None


# FlashInfer-Bench and SOL-ExecBench


def import_definition(path, workloads, out, reference=None):
    definition = json.loads(path.read_text())
    name = identifier(definition["name"])
    axes = with_derived(definition["axes"], definition.get("constraints") or [])
    const = {axis: spec["value"] for axis, spec in axes.items() if spec["type"] == "const"}
    dims = [axis for axis, spec in axes.items() if spec["type"] == "var"]
    if not workloads:
        raise Reason("it has no workload")
    if definition.get("custom_inputs_entrypoint"):
        raise Reason("its inputs are made by code of its own")
    given = {axis: spec.get("expression", spec.get("expr")) for axis, spec in axes.items() if spec["type"] == "expr"}
    if any(text is None or not re.fullmatch(r"[\w\s+*/()-]+", text.replace("//", "/")) for text in given.values()):
        raise Reason("an axis is no expression of the others")
    known = {**{axis: str(value) for axis, value in const.items()},
             **{axis: f"({text.replace('//', '/').replace(' ', '')})" for axis, text in given.items()}}

    def count_of(shape):
        text = "*".join(known.get(axis, axis) for axis in shape) or "1"
        for _ in given:
            text = re.sub(r"[A-Za-z_]\w*", lambda found: known.get(found[0], found[0]), text)
        return text

    scalars, buffers = {}, []
    for role, specs in (("in", definition["inputs"]), ("out", definition["outputs"])):
        for key, spec in specs.items():
            if spec["shape"] is None:
                if key not in dims:
                    scalars[key] = scalar_of(key, workloads)
                continue
            if spec["dtype"] not in NAMED:
                raise Reason(f"{key} is of {spec['dtype']}")
            fill = fill_of(key, spec, definition, count_of) if role == "in" and spec["dtype"] == "int32" else ""
            buffers.append(Buffer(key, NAMED[spec["dtype"]], role, count_of(spec["shape"]), fill))
    if not dims:
        dims, workloads = ["n"], [{"axes": {"n": 1}}]
    shapes = []
    for workload in workloads:
        shape = {dim: workload["axes"][dim] for dim in dims}
        if shape not in shapes and len(shapes) < 4:
            shapes.append(shape)
    task = [f"What run() of the definition {definition['name']} computes.",
            *(f"{key}: {spec['shape']}" for key, spec in {**definition["inputs"], **definition["outputs"]}.items())]
    task += [f"{key} = {value}" for key, value in {**const, **scalars}.items()]
    code = definition.get("reference") or reference or ""
    task += ["", *code.splitlines()]
    settings = {"path": str(path.resolve()), "scalars": scalars, "axes": axes,
                "code": None if definition.get("reference") else reference,
                "inputs": list(definition["inputs"]), "outputs": list(definition["outputs"]),
                "shapes": {key: spec["shape"] for key, spec in definition["inputs"].items()}}
    has_product = bool(re.search(r"matmul|einsum|@|linear|conv", code))
    return write(out, name, case_text(name, path.name, task, buffers, dims, shapes, has_product, None), "run_reference",
                 settings)


def with_derived(axes, constraints):
    """Axes of which a constraint says that they follow from others, as `len_indptr == rows + 1`."""
    derived = {}
    for text in constraints:
        said = re.fullmatch(r"(\w+)\s*==\s*([\w\s+*()-]+)", text)
        is_of_axes = said and set(re.findall(r"[A-Za-z_]\w*", said[2])) <= set(axes)
        if is_of_axes and axes.get(said[1], {}).get("type") == "var":
            derived[said[1]] = {"type": "expr", "expression": said[2]}
    return {**axes, **derived}


def scalar_of(key, workloads):
    values = {json.dumps(one.get("inputs", {}).get(key, {}).get("value")) for one in workloads}
    if len(values) != 1 or values == {"null"}:
        raise Reason(f"the number {key} differs between workloads")
    return json.loads(values.pop())


def fill_of(key, spec, definition, count_of):
    """As a constraint says it; else offsets point into the list of indices that has their name."""
    for text in definition.get("constraints") or []:
        limit = re.fullmatch(rf"0\s*<=\s*{key}\s*<\s*([\w\s+*()-]+)", text)
        last = re.fullmatch(rf"{key}\[-1\](?:\.item\(\))?\s*==\s*([\w\s+*()-]+)", text) or re.fullmatch(
            rf"([\w\s+*()-]+?)\s*==\s*{key}\[-1\](?:\.item\(\))?", text)
        if limit or last:
            return f"{'index' if limit else 'indptr'} {count_of([(limit or last)[1].replace(' ', '')])}"
    if key.endswith("indptr"):
        twin = definition["inputs"].get(key.replace("indptr", "indices"))
        if twin is not None:
            return f"indptr {count_of(twin['shape'])}"
    raise Reason(f"{key}: it is not said what its numbers point into")


def write(out, name, text, function, settings):
    out.mkdir(parents=True, exist_ok=True)
    if (out / f"{name}.case").exists():
        raise Reason(f"{out / name}.case is there already")
    (out / f"{name}.case").write_text(text)
    here = str(pathlib.Path(__file__).resolve().parent)
    (out / f"{name}.py").write_text(
        f'"""The reference of {name}.case: the problem\'s own code, in double precision."""\nimport sys\n\n'
        f"import torch  # noqa: F401\n\nsys.path.insert(0, {here!r})\n"
        f"from imported_reference import {function}  # noqa: E402\n\n"
        f"reference = {function}({settings!r})\n")
    return str(out / f"{name}.case")


def workloads_in(text):
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [line.get("workload", line) for line in lines]


def problems(kind, path):
    """(name, how it is imported)"""
    if kind == "kernelbench":
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            yield str(file), lambda out, file=file: import_module(file, out)
    elif kind == "flashinfer":
        above = [path, *path.parents]
        root = next((one for one in above if (one / "workloads").is_dir()), path if path.is_dir() else path.parent)
        found = {file.stem: workloads_in(file.read_text()) for file in root.glob("workloads/**/*.jsonl")}
        folder = path / "definitions" if (path / "definitions").is_dir() else path
        for file in [path] if path.is_file() else sorted(folder.rglob("*.json")):
            yield str(file), lambda out, file=file: import_definition(file, found.get(file.stem, []), out)
    else:
        for file in sorted(path.rglob("definition.json")):
            code = file.with_name("reference.py")
            workloads = file.with_name("workload.jsonl")
            yield str(file.parent), lambda out, file=file, code=code, workloads=workloads: import_definition(
                file, workloads_in(workloads.read_text()) if workloads.exists() else [], out,
                code.read_text() if code.exists() else None)


def main():
    kind, path, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    for name, make in problems(kind, path):
        try:
            told = {"problem": name, "case": make(out)}
        except Reason as reason:
            told = {"problem": name, "reason": str(reason)}
        except Exception as error:
            text = str(error).strip().splitlines() or [""]
            told = {"problem": name, "reason": f"its code fails: {type(error).__name__}: {text[0][:200]}"}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
