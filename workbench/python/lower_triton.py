# workbench/python/lower_triton.py - a candidate in Triton as PTX, in a process of its own and without a GPU.
"""Reads one JSON object from standard input, and writes {"ptx": TEXT, "shared": {KERNEL: BYTES}} to its file `out`.
Exit codes: 0; 1: Triton refuses the source; 65: the gate does; 66: this Python has no Triton. The last line of standard
error says why."""
import importlib.util
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import triton_gate  # noqa: E402  the folder above


def end(code, why):
    print(why, file=sys.stderr)
    sys.exit(code)


def judge(path):
    try:
        triton_gate.check(pathlib.Path(path).read_text())
    except triton_gate.Refused as refused:
        end(65, str(refused))
    except (SyntaxError, ValueError, RecursionError) as error:
        end(1, f"the source is no Python: {error}")


def load(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def signature_of(kernel, name, types, constants):
    """Types by parameter, and the values of those that are constants."""
    names = kernel.arg_names
    if len(names) < len(types):
        end(65, f"kernel {name} has {len(names)} parameters, the case gives {len(types)}")
    signature, values = dict(zip(names, types)), {}
    for place, constant in enumerate(names[len(types):], len(types)):
        if constant not in constants:
            end(65, f"kernel {name}: no param is called {constant}")
        signature[constant], values[(place,)] = "constexpr", constants[constant]
    return signature, values


def compile_kernel(module, launch, question):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    name = launch["kernel"]
    kernel = getattr(module, name, None)
    if not isinstance(kernel, triton.JITFunction):
        end(65, f"there is no kernel {name}")
    signature, constants = signature_of(kernel, name, question["types"], question["constants"])
    aligned = {(i,): [["tt.divisibility", 16]] for i, one in enumerate(question["types"]) if one.startswith("*")}
    capability = int(re.match(r"sm_(\d+)", question["architecture"]).group(1))
    made = triton.compile(ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned),
                          target=GPUTarget("cuda", capability, 32),
                          options={"num_warps": launch["warps"], "num_stages": launch["stages"]})
    facts = made.metadata
    if facts.global_scratch_size or facts.profile_scratch_size:
        end(65, f"kernel {name} wants memory of Triton's own, which it has not here")
    return made.asm["ptx"], facts.shared


def joined(modules):
    """Several modules as one: the head of the first, and each line of shared memory once."""
    head = r"^\.(version|target|address_size)\b.*$|^\.extern \.shared\b.*$"
    lines = []
    for ptx in modules:
        lines += [line.group(0) for line in re.finditer(head, ptx, re.M) if line.group(0) not in lines]
    order = [".version", ".target", ".address_size", ".extern"]
    lines.sort(key=lambda line: order.index(line.split()[0]))
    return "\n".join(lines + [re.sub(head, "", ptx, flags=re.M) for ptx in modules])


def main():
    question = json.load(sys.stdin)
    judge(question["source"])
    os.environ.update(TRITON_CACHE_DIR=question["cache"], TRITON_DISABLE_LINE_INFO="1")
    try:
        import triton  # noqa: F401
    except ImportError as error:
        end(66, str(error))
    module = load(question["source"])
    launches = {launch["kernel"]: launch for launch in question["launches"]}
    if any(launch != launches[launch["kernel"]] for launch in question["launches"]):
        end(65, "a kernel has one number of warps and stages")
    made = {name: compile_kernel(module, launch, question) for name, launch in launches.items()}
    answer = {"ptx": joined([ptx for ptx, _ in made.values()]), "shared": {name: made[name][1] for name in made}}
    pathlib.Path(question["out"]).write_text(json.dumps(answer))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # whatever Triton says of a source
        cause = error.__cause__ or error
        end(1, f"{type(error).__name__}: {str(error)}\n{type(cause).__name__}: " + " ".join(str(cause).split())[:300])
