# workbench/python/lowering.py - what all compilers of candidates in Python share: the question, the gate, the answer.
"""A script lower_LANGUAGE.py reads one JSON object from standard input, and writes {"ptx": TEXT} or {"cubin": BASE64},
"shared": {KERNEL: BYTES} and "block": {KERNEL: THREADS}, where the compiler chose them, to the question's file `out`.
Exit codes: 0; 1: the compiler refuses the source; 65: the gate does; 66: this Python lacks the language, or a program
that the compiler starts. The last line of standard error says why."""
import importlib.util
import json
import pathlib
import re
import sys

import source_gate


def end(code, why):
    print(why, file=sys.stderr)
    sys.exit(code)


def judge(language, path, constants):
    try:
        source_gate.check(language, pathlib.Path(path).read_text(), constants)
    except source_gate.Refused as refused:
        end(65, str(refused))
    except (SyntaxError, ValueError, RecursionError) as error:
        end(1, f"the source is no Python: {error}")


def load(path, constants):
    """The module of a source that was judged, in which params are constants."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(constants)
    spec.loader.exec_module(module)
    return module


def kernel_of(module, launch, kind):
    """The function of a launch line, which is of the language's type `kind`."""
    kernel = getattr(module, launch["kernel"], None)
    if not isinstance(kernel, kind):
        end(65, f"there is no kernel {launch['kernel']}")
    return kernel


def parameters_of(question):
    """Names and types of a kernel's parameters, in their order: the case's buffers, its sizes, scratch."""
    return list(zip(question["names"], question["types"]))


def launches_of(question):
    """Launches by kernel; a kernel is compiled once."""
    launches = {launch["kernel"]: launch for launch in question["launches"]}
    if any(launch != launches[launch["kernel"]] for launch in question["launches"]):
        end(65, "a kernel has one shape of blocks")
    return launches


def joined(modules):
    """Several modules of PTX as one: the head of the first, and each line of shared memory once."""
    head = r"^\.(version|target|address_size)\b.*$|^\.extern \.shared\b.*$"
    lines = []
    for ptx in modules:
        lines += [line.group(0) for line in re.finditer(head, ptx, re.M) if line.group(0) not in lines]
    order = [".version", ".target", ".address_size", ".extern"]
    lines.sort(key=lambda line: order.index(line.split()[0]))
    return "\n".join(lines + [re.sub(head, "", ptx, flags=re.M) for ptx in modules])


def run(language, package, lower, *, are_constants):
    """lower(module, question) gives the answer.

    are_constants: params are constants of the module, not parameters of kernels."""
    question = json.load(sys.stdin)
    constants = question["constants"] if are_constants else {}
    judge(language, question["source"], constants)
    try:
        importlib.import_module(package)
    except ImportError as error:
        end(66, str(error))
    try:
        answer = lower(load(question["source"], constants), question)
    except FileNotFoundError as error:  # a program that the compiler starts; a source names none
        end(66, str(error))
    except Exception as error:  # whatever a compiler says of a source
        cause = error.__cause__ or error
        end(1, f"{type(error).__name__}: {str(error)}\n{type(cause).__name__}: " + " ".join(str(cause).split())[:300])
    pathlib.Path(question["out"]).write_text(json.dumps(answer))
