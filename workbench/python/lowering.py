# workbench/python/lowering.py - what all compilers of candidates in Python share: the question, the gate, the answer.
"""A script lower_LANGUAGE.py reads one JSON object from standard input, and writes {"ptx": TEXT} or {"cubin": BASE64},
and "shared": {KERNEL: BYTES}, where the compiler chose them, to the question's file `out`. Of a question with
"judge_only" the source is judged alone, for which no package is needed, and nothing is written.
Exit codes: 0; 1: the compiler refuses the source; 65: the gate does; 66: this Python lacks the language; 72: a program
that the compiler starts is missing. The last line of standard error says why."""
import importlib
import io
import json
import linecache
import pathlib
import re
import sys
import tokenize
import types

import source_gate


def end(code, why):
    print(why, file=sys.stderr)
    sys.exit(code)


def judge(language, path, constants):
    """The text that is compiled in place of the source at `path`; see source_gate.py."""
    given = pathlib.Path(path).read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(given).readline)
        if encoding != "utf-8":
            end(65, f"line 1: the encoding {encoding}: sources are UTF-8")
        return source_gate.check(language, given.decode("utf-8"), constants)
    except source_gate.Refused as refused:
        end(65, str(refused))
    except (SyntaxError, ValueError, RecursionError) as error:
        end(1, f"the source is no Python: {error}")


def load(text, path, constants):
    """The module of a judged text, in which params are constants. Compilers read it at `path`, too."""
    pathlib.Path(path).write_text(text, encoding="utf-8")
    linecache.checkcache(str(path))
    module = types.ModuleType(pathlib.Path(path).stem)
    module.__dict__.update(constants, __file__=str(path))
    exec(compile(text, str(path), "exec"), module.__dict__)  # judged before
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
    judged = judge(language, question["source"], constants)
    if question.get("judge_only"):
        return
    try:
        importlib.import_module(package)
    except ImportError as error:
        end(66, str(error))
    try:
        answer = lower(load(judged, pathlib.Path(question["out"]).with_name("judged.py"), constants), question)
    except FileNotFoundError as error:  # a program, or what a compiler did not write; a source names no file
        is_own = str(error.filename or "").startswith(str(pathlib.Path(question["out"]).parent))
        end(1 if is_own else 72, f"FileNotFoundError: {error}")
    except Exception as error:  # whatever a compiler says of a source
        cause = error.__cause__ or error
        end(1, f"{type(error).__name__}: {str(error)}\n{type(cause).__name__}: " + " ".join(str(cause).split())[:300])
    pathlib.Path(question["out"]).write_text(json.dumps(answer))
