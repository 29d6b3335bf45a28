#!/usr/bin/env python3
"""Answers the referee's questions with a Python function: the right results of a case, in double precision.

    reference_server.py FILE [FUNCTION]        FUNCTION: reference

FILE has `def reference(x, y, n)`: parameters are buffers that are read and sizes, by name, those that it wants. It
returns the output, a tuple of outputs in the case's order, or a dict by name, of any shape. Buffers are flat: torch
tensors of float64 where FILE imports torch, numpy arrays where numpy is there, else lists.

How errors of shorter arithmetic scale is estimated: the function is computed again with random errors of 2^-24 in its
inputs and, in torch, in the result of every operation. `def magnitude(...)`, of the same form, says it instead.
The protocol is in workbench/case/reference_program.h; standard output is the referee's, print() goes to standard error.
"""
import array
import contextlib
import importlib.util
import inspect
import io
import json
import math
import os
import pathlib
import random
import sys

try:
    import numpy
except ImportError:
    numpy = None

UNIT = 2.0**-24  # of f32
REPEATS = 4
ERRORS = 0.5, 1.5  # in units, of either sign: those of equal size would cancel where terms do, and hide what they hide


def load(file):
    path = pathlib.Path(file).resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("case_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Lists:
    """Numbers without any package."""

    def copy(self, values):
        """What the function may change."""
        return values.clone() if hasattr(values, "clone") else values.copy()

    def seed(self, seed):
        random.seed(seed)

    def make(self, values):
        return list(values)

    def noisy(self, values):
        return [value * (1 + UNIT * random.choice((-1, 1)) * random.uniform(*ERRORS)) for value in values]

    def flat(self, values):
        def walk(item):
            if hasattr(item, "__len__"):
                for one in item:
                    yield from walk(one)
            else:
                yield float(item)
        return array.array("d", walk(values))

    def noise(self):
        return contextlib.nullcontext()


class Arrays(Lists):
    def __init__(self, numpy):
        self.numpy = numpy

    def seed(self, seed):
        self.random = self.numpy.random.default_rng(seed)

    def make(self, values):
        return self.numpy.frombuffer(values, dtype=self.numpy.float64).copy()

    def noisy(self, values):
        signs = self.random.integers(0, 2, values.shape) * 2.0 - 1
        return values * (1 + UNIT * signs * self.random.uniform(*ERRORS, values.shape))

    def flat(self, values):
        return array.array("d", self.numpy.asarray(values, dtype=self.numpy.float64).tobytes())


class Tensors(Lists):
    def __init__(self, torch):
        self.torch = torch
        from torch.utils._python_dispatch import TorchDispatchMode
        noisy = self.noisy

        class Noise(TorchDispatchMode):
            """Every result of an operation is a little wrong; views and what writes in place stay as they are."""

            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                made = function(*args, **(kwargs or {}))
                schema = function._schema
                aliases = any(one.alias_info is not None for one in [*schema.arguments, *schema.returns])
                is_number = isinstance(made, torch.Tensor) and made.is_floating_point()
                return noisy(made) if is_number and not aliases else made

        self.noise = Noise

    def seed(self, seed):
        self.torch.manual_seed(seed)

    def make(self, values):
        return self.torch.frombuffer(bytearray(values), dtype=self.torch.float64) if len(values) else \
            self.torch.zeros(0, dtype=self.torch.float64)

    def noisy(self, values):
        signs = self.torch.randint(0, 2, values.shape, device=values.device) * 2 - 1
        sizes = self.torch.empty(values.shape, dtype=values.dtype, device=values.device).uniform_(*ERRORS)
        return values * (1 + UNIT * signs.to(values.dtype) * sizes)

    def flat(self, values):
        tensor = self.torch.as_tensor(values, dtype=self.torch.float64).detach().cpu().contiguous()
        return array.array("d", tensor.numpy().tobytes())


def kind_of(module):
    if "torch" in vars(module):
        return Tensors(module.torch)
    return Lists() if numpy is None else Arrays(numpy)


def larger(errors, wrong, right):
    """Of an error in units of 2^-24 and the next one; never NaN."""
    if numpy is None:
        return [max(error, abs(a - b) / UNIT) for error, a, b in zip(errors, wrong, right)]
    with numpy.errstate(invalid="ignore"):
        return numpy.fmax(errors, numpy.abs(numpy.asarray(wrong) - numpy.asarray(right)) / UNIT)


def scales(errors, right):
    if numpy is None:
        finite = [error for error in errors if math.isfinite(error)]
        usual = math.sqrt(sum(error * error for error in finite) / max(len(finite), 1))
        return array.array("d", (max(error, min(usual, 4 * error + abs(value))) + abs(value)
                                 for error, value in zip(errors, right)))
    errors, right = numpy.asarray(errors), numpy.abs(numpy.asarray(right))
    finite = errors[numpy.isfinite(errors)]
    usual = math.sqrt(float((finite * finite).mean())) if finite.size else 0.0
    return array.array("d", (numpy.maximum(errors, numpy.minimum(usual, 4 * errors + right)) + right).tobytes())


class Server:
    def __init__(self, file, name):
        module = load(file)
        self.kind = kind_of(module)
        self.function = getattr(module, name, None)
        if self.function is None:
            raise ValueError(f"{file} has no function {name}")
        self.magnitude = getattr(module, "magnitude", None)

    def results(self, function, buffers, dims, outputs):
        """name -> flat doubles"""
        known = {**dims, **buffers}
        wanted = inspect.signature(function).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in wanted.values())
        missing = [one.name for one in wanted.values()
                   if one.name not in known and one.default is one.empty and one.kind is not one.VAR_KEYWORD]
        if missing:
            raise ValueError(f"the case has no {', '.join(missing)}")
        given = {key: value for key, value in known.items() if takes_all or key in wanted}
        made = function(**{key: self.kind.copy(value) if key in buffers else value for key, value in given.items()})
        if not isinstance(made, dict):
            made = dict(zip(outputs, made if isinstance(made, tuple) else (made,)))
        flat = {name: self.kind.flat(made[name]) for name in outputs if name in made}
        for name, count in outputs.items():
            if name not in flat or len(flat[name]) != count:
                raise ValueError(f"{name} has {len(flat[name]) if name in flat else 'no'} elements, it needs {count}")
        return flat

    def estimate(self, right, buffers, exact, dims, outputs):
        """The largest change by random errors in units of 2^-24, with each result's own rounding; at least as much as
        is usual in the output, since four errors may all be small by chance."""
        errors = {name: [0.0] * count for name, count in outputs.items()}
        for _ in range(REPEATS):
            noisy = {name: value if name in exact else self.kind.noisy(value) for name, value in buffers.items()}
            with self.kind.noise():
                wrong = self.results(self.function, noisy, dims, outputs)
            errors = {name: larger(errors[name], wrong[name], right[name]) for name in outputs}
        return {name: scales(errors[name], right[name]) for name in outputs}

    def answer(self, question, read):
        buffers, exact, outputs = {}, set(), {}
        for spec in question["buffers"]:
            if spec["role"] != "out":
                values = array.array("d")
                values.frombytes(read(8 * spec["count"]))
                buffers[spec["name"]] = self.kind.make(values)
                if spec["type"] in ("i32", "u32"):
                    exact.add(spec["name"])
                    buffers[spec["name"]] = self.whole(buffers[spec["name"]])
            if spec["role"] != "in":
                outputs[spec["name"]] = spec["count"]
        dims = question["dims"]
        self.kind.seed(question["seed"])
        right = self.results(self.function, buffers, dims, outputs)
        if self.magnitude is not None:
            magnitudes = self.results(self.magnitude, buffers, dims, outputs)
        else:
            magnitudes = self.estimate(right, buffers, exact, dims, outputs)
        head = {"outputs": list(outputs), "magnitudes": list(outputs)}
        return head, [*right.values(), *(magnitudes[name] for name in outputs)]

    def whole(self, values):
        if isinstance(values, list):
            return [int(value) for value in values]
        return values.long() if isinstance(self.kind, Tensors) else values.astype("int64")


def serve(server, source, sink):
    for line in iter(source.readline, b""):
        question = json.loads(line)
        inputs = sum(8 * spec["count"] for spec in question["buffers"] if spec["role"] != "out")
        data = io.BytesIO(source.read(inputs))
        try:
            head, arrays = server(question, data.read)
        except Exception as error:
            head, arrays = {"error": f"{type(error).__name__}: {error}"}, []
        sink.write(json.dumps(head).encode() + b"\n")
        for values in arrays:
            sink.write(values.tobytes())
        sink.flush()


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # print() of the user's file
    try:
        answer = Server(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "reference").answer
    except Exception as error:
        text = f"{type(error).__name__}: {error}"

        def answer(question, read):
            raise ValueError(text)
    serve(answer, sys.stdin.buffer, out)
