#!/usr/bin/env python3
# workbench/python/write_suite.py - case files as definitions and workloads in the form of FlashInfer-Bench.
"""    write_suite.py CASES SUITE [host|cuda] [OUT]

SUITE/references.py has a function for each case of the suite. Written are OUT/definitions/NAME.json and
OUT/workloads/NAME.jsonl, OUT = SUITE if it is not said; workloads have the public shapes of the GPU, or of the host.
What shapes cannot say is in `constraints`: lengths, what numbers point into, and that offsets ascend."""
import ast
import json
import pathlib
import re
import sys

TYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "u32": "int32"}


class Case:
    def __init__(self, file):
        self.task, self.dims, self.buffers, self.shapes = [], [], [], {"host": [], "cuda": []}
        for line in file.read_text().splitlines():
            word, *rest = line.split()[:1] + line.split()[1:] or [""]
            if word == "|":
                self.task.append(line[2:])
            elif word == "dims":
                self.dims = rest
            elif word == "buffer":
                self.buffers.append(rest)
            elif word == "class":
                self.kind = rest[0]
            elif word == "public":
                backends = [rest.pop(0)] if rest[0] in self.shapes else list(self.shapes)
                for backend in backends:
                    self.shapes[backend].append({key: int(value) for key, value in (one.split("=") for one in rest)})


def factors_of(count):
    """The factors of a product, split outside of parentheses."""
    factors, depth, begin = [], 0, 0
    for at, letter in enumerate(count + "*"):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "*" and depth == 0:
            factors.append(count[begin:at])
            begin = at + 1
    return [factor[1:-1] if factor[0] == "(" and factor[-1] == ")" else factor for factor in factors]


def axis_of(factor, case, derived):
    """A sum such as rows+1 is an axis of its own."""
    if factor in case.dims:
        return factor
    if factor == "1":
        name = "one"
    elif "*" in factor:  # rows*relations+1
        name = "length_of_" + re.sub(r"\W+", "_", factor)
    else:
        name = factor.replace("+", "_plus_")
    derived[name] = factor
    return name


def sources_of(name, functions):
    """A function's text, behind those of the functions that it calls."""
    order = []

    def visit(one):
        for node in ast.walk(functions[one][1]):
            if isinstance(node, ast.Name) and node.id in functions and node.id != one and node.id not in order:
                visit(node.id)
        if one not in order:
            order.append(one)

    visit(name)
    return "import torch\n\n\n" + "\n\n\n".join(functions[one][0] for one in order).replace(
        f"def {name}(", "def run(") + "\n"


def definition_of(name, case, reference, parameters):
    derived, specs, constraints = {}, {"in": {}, "out": {}}, []
    for buffer, word, role, count, *fill in case.buffers:
        factors = factors_of(count)
        if len(factors) > 1 and "+1" in factors[-1]:
            factors = [count]
        shape = [axis_of(factor, case, derived) for factor in factors]
        specs[role][buffer] = {"shape": shape, "dtype": TYPES[word]}
        if fill[:1] == ["index"]:
            constraints.append(f"0 <= {buffer} < {fill[1]}")
        if fill[:1] == ["indptr"]:
            constraints += [f"{buffer}[0] == 0", f"{buffer}[-1] == {fill[1]}", f"{buffer} ascends"]
    scalars = parameters[len(specs["in"]):]
    if parameters[:len(specs["in"])] != list(specs["in"]) or not set(scalars) <= set(case.dims):
        raise SystemExit(f"write_suite: {name}: the reference reads {parameters}, the case has {list(specs['in'])}")
    specs["in"].update({one: {"shape": None, "dtype": "int64"} for one in scalars})
    axes = {axis: {"type": "var"} for axis in [*case.dims, *derived]}
    return {"name": name, "op_type": case.kind, "description": " ".join(case.task), "tags": ["graph"], "axes": axes,
            "constraints": [f"{axis} == {text}" for axis, text in derived.items()] + constraints,
            "inputs": specs["in"], "outputs": specs["out"], "reference": reference}, derived, scalars


def workload_of(name, number, shape, derived, scalars, inputs):
    axes = {**shape, **{axis: eval(text, {"__builtins__": {}}, shape) for axis, text in derived.items()}}
    return {"definition": name, "solution": None, "workload": {
        "uuid": f"{name}-{number}", "axes": axes,
        "inputs": {one: {"type": "scalar", "value": shape[one]} if one in scalars else {"type": "random"}
                   for one in inputs}}, "evaluation": None}


def main():
    cases, suite = map(pathlib.Path, sys.argv[1:3])
    backend = sys.argv[3] if len(sys.argv) > 3 else "cuda"
    out = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else suite
    text = (suite / "references.py").read_text()
    functions = {node.name: (ast.get_source_segment(text, node), node) for node in ast.parse(text).body
                 if isinstance(node, ast.FunctionDef)}
    for folder in ("definitions", "workloads"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name, (_, node) in functions.items():
        if not (cases / f"{name}.case").exists():
            continue  # a function that others call
        case = Case(cases / f"{name}.case")
        definition, derived, scalars = definition_of(name, case, sources_of(name, functions),
                                                     [one.arg for one in node.args.args])
        (out / "definitions" / f"{name}.json").write_text(json.dumps(definition, indent=2) + "\n")
        lines = [json.dumps(workload_of(name, number, shape, derived, scalars, definition["inputs"]))
                 for number, shape in enumerate(case.shapes[backend])]
        (out / "workloads" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
