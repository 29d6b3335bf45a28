"""An exported kernel as an operator of PyTorch: salient-kernels export put this file beside the kernel.

`operator(folder)` builds the library of the kernel in `folder` where it is not built yet, registers it with
torch.library, with a fake kernel for torch.compile and, where folder/backward has the kernel of its gradients, with
autograd, and returns a Python function with the case's parameters.
"""
import ctypes
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile

import torch

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "u32": torch.uint32}


def ceil(a, b):
    return -(-a // b)


class Kernel:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.case = json.loads((self.folder / "case.json").read_text())
        self.name, self.dims, self.buffers = self.case["name"], self.case["dims"], self.case["buffers"]
        self.device = "cpu" if self.case["backend"] == "host" else "cuda"
        self.given = [one for one in self.buffers if one["role"] != "out"]
        self.made = [one for one in self.buffers if one["role"] == "out"]
        self.library = None

    def count(self, buffer, sizes):
        known = {"__builtins__": {}, "min": min, "max": max, "ceil": ceil}
        return eval(buffer["count"].replace("/", "//"), known, sizes)

    def function(self):
        if self.library is None:
            self.library = ctypes.CDLL(str(self.build()))
        return getattr(self.library, f"salient_{self.name}")

    def build(self):
        """Where a prebuilt library is, or one of this machine's in the folder, or in the user's cache if that is not
        writable."""
        built = self.folder / f"{self.name}.so"
        if built.exists():
            return built
        words = list(self.case["build"])
        if self.device == "cuda":
            major, minor = torch.cuda.get_device_capability()
            words[words.index("-arch=native")] = f"-arch=sm_{major}{minor}" + ("a" if major >= 9 else "")
        text = b"".join(path.read_bytes() for path in sorted(self.folder.glob("*")) if path.is_file())
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "salient/exported"
        elsewhere = cache / hashlib.sha256(text).hexdigest()[:24] / built.name
        target = built if os.access(self.folder, os.W_OK) else elsewhere
        if target.exists():
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            words[words.index("-o") + 1] = str(pathlib.Path(work) / built.name)
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{words[0]} cannot build {self.name}:\n{done.stderr}")
            os.replace(pathlib.Path(work) / built.name, target)
        return target

    def run(self, *arguments):
        """Tensors that are read, in the case's order, then sizes. @return tensors that were made"""
        tensors = dict(zip((one["name"] for one in self.given), arguments))
        sizes = dict(zip(self.dims, arguments[len(self.given):]))
        device = next(iter(tensors.values())).device
        for one in self.given:
            self.check(one, tensors[one["name"]], sizes)
        for one in self.made:
            tensors[one["name"]] = torch.empty(self.shape(one, tensors, sizes), dtype=TYPES[one["type"]], device=device)
        pointers = (ctypes.c_void_p * len(self.buffers))(*(tensors[one["name"]].data_ptr() for one in self.buffers))
        numbers = (ctypes.c_int64 * len(self.dims))(*(int(sizes[dim]) for dim in self.dims))
        message, stream = ctypes.create_string_buffer(256), None
        if self.device == "cuda":
            with torch.cuda.device(device):
                stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                failed = self.function()(pointers, numbers, stream, message)
        else:
            failed = self.function()(pointers, numbers, stream, message)
        if failed:
            raise RuntimeError(message.value.decode())
        return self.results(tensors)

    def check(self, buffer, tensor, sizes):
        name, needs = buffer["name"], self.count(buffer, sizes)
        if tensor.dtype != TYPES[buffer["type"]]:
            raise TypeError(f"{name} is {tensor.dtype}, it needs {TYPES[buffer['type']]}")
        if tensor.device.type != self.device:
            raise ValueError(f"{name} is on {tensor.device}, this kernel is for {self.device}")
        if tensor.numel() != needs or not tensor.is_contiguous():
            raise ValueError(f"{name} needs {needs} elements side by side, it has {tensor.numel()}")

    def shape(self, buffer, tensors, sizes):
        """That of a tensor which is read and has as many elements by the same expression, else flat."""
        for one in self.given:
            if one["count"] == buffer["count"]:
                return tuple(tensors[one["name"]].shape)
        return (self.count(buffer, sizes),)

    def results(self, tensors):
        made = tuple(tensors[one["name"]] for one in self.made)
        return made[0] if len(made) == 1 else made or None

    def fake(self, *arguments):
        tensors = dict(zip((one["name"] for one in self.given), arguments))
        sizes = dict(zip(self.dims, arguments[len(self.given):]))
        first = next(iter(tensors.values()))
        for one in self.made:
            tensors[one["name"]] = first.new_empty(self.shape(one, tensors, sizes), dtype=TYPES[one["type"]])
        return self.results(tensors)

    def schema(self):
        marks = [f"(a{i}!)" if one["role"] == "inout" else "" for i, one in enumerate(self.given)]
        reads = [f"Tensor{mark} {one['name']}" for mark, one in zip(marks, self.given)]
        made = ", ".join(["Tensor"] * len(self.made))
        result = "()" if not self.made else made if len(self.made) == 1 else f"({made})"
        return f"({', '.join(reads + [f'SymInt {dim}' for dim in self.dims])}) -> {result}"

    def register(self):
        """The name has a hash of the folder, so that two versions of one kernel can be loaded."""
        mark = hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()[:8]
        changed = [one["name"] for one in self.given if one["role"] == "inout"]
        made = torch.library.custom_op(f"salient::{self.name}_{mark}", self.run, mutates_args=changed,
                                       device_types=self.device, schema=self.schema())
        made.register_fake(self.fake)
        return made


def with_gradients(kernel, op, twin, twin_op):
    """The twin reads grad_OUT for every output and inputs by their names, and makes grad_NAME of inputs."""
    names = [one["name"] for one in kernel.given]
    outputs = [one["name"] for one in kernel.made]
    saved = [one["name"] for one in twin.given if one["name"] in names]

    def keep(ctx, inputs, output):
        by_name = dict(zip(names, inputs))
        ctx.save_for_backward(*(by_name[name] for name in saved))
        ctx.sizes = dict(zip(kernel.dims, inputs[len(names):]))
        ctx.shapes = {name: by_name[name].shape for name in names}

    def backward(ctx, *gradients):
        known = dict(zip(saved, ctx.saved_tensors))
        known.update({f"grad_{name}": gradient.contiguous() for name, gradient in zip(outputs, gradients)})
        found = twin_op(*(known[one["name"]] for one in twin.given), *(ctx.sizes[dim] for dim in twin.dims))
        found = dict(zip((one["name"] for one in twin.made), found if isinstance(found, tuple) else (found,)))
        of_inputs = [found[f"grad_{name}"].reshape(ctx.shapes[name]) if f"grad_{name}" in found else None
                     for name in names]
        return (*of_inputs, *[None] * len(kernel.dims))

    op.register_autograd(backward, setup_context=keep)


def operator(folder):
    kernel = Kernel(folder)
    op = kernel.register()
    if (kernel.folder / "backward/case.json").exists():
        twin = Kernel(kernel.folder / "backward")
        with_gradients(kernel, op, twin, twin.register())
    names = [one["name"] for one in kernel.given]

    def call(*tensors, **named):
        """Tensors that are read by place or name, then sizes by name: those that a tensor's number of elements says
        may be left out."""
        values = dict(zip([*names, *kernel.dims], tensors)) | named
        for one in kernel.given:
            if one["count"] in kernel.dims and one["name"] in values:
                values.setdefault(one["count"], values[one["name"]].numel())
        missing = [name for name in [*names, *kernel.dims] if name not in values]
        if missing or set(values) - {*names, *kernel.dims}:
            why = ", ".join(missing) or "unknown name"
            raise TypeError(f"{kernel.name}({', '.join([*names, *kernel.dims])}): {why}")
        return op(*(values[name] for name in names), *(values[dim] for dim in kernel.dims))

    call.__name__ = call.__qualname__ = kernel.name
    call.__doc__ = kernel.case["task"]
    call.op = op
    return call
