# workbench/python/lower_triton.py - a candidate in Triton as PTX; see lowering.py.
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lowering  # noqa: E402  the folder above

POINTERS = {"f32": "*fp32", "f16": "*fp16", "bf16": "*bf16", "i32": "*i32", "u32": "*u32"}


def signature_of(kernel, name, types, constants):
    """Types by parameter, and the values of those that are constants."""
    names = kernel.arg_names
    if len(names) < len(types):
        lowering.end(65, f"kernel {name} has {len(names)} parameters, the case gives {len(types)}")
    signature, values = dict(zip(names, types)), {}
    for place, constant in enumerate(names[len(types):], len(types)):
        if constant not in constants:
            lowering.end(65, f"kernel {name}: no param is called {constant}")
        signature[constant], values[(place,)] = "constexpr", constants[constant]
    return signature, values


def compile_kernel(module, launch, question):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    name = launch["kernel"]
    kernel = lowering.kernel_of(module, launch, triton.JITFunction)
    types = [POINTERS.get(one, "i64") for one in question["types"]]
    signature, constants = signature_of(kernel, name, types, question["constants"])
    aligned = {(i,): [["tt.divisibility", 16]] for i, one in enumerate(types) if one.startswith("*")}
    capability = int(re.match(r"sm_(\d+)", question["architecture"]).group(1))
    made = triton.compile(ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned),
                          target=GPUTarget("cuda", capability, 32),
                          options={"num_warps": launch["warps"], "num_stages": launch["stages"]})
    facts = made.metadata
    if facts.global_scratch_size or facts.profile_scratch_size:
        lowering.end(65, f"kernel {name} wants memory of Triton's own, which it has not here")
    return made.asm["ptx"], facts.shared


def lower(module, question):
    made = {name: compile_kernel(module, launch, question) for name, launch in lowering.launches_of(question).items()}
    return {"ptx": lowering.joined([ptx for ptx, _ in made.values()]),
            "shared": {name: shared for name, (_, shared) in made.items()}}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ.update(TRITON_CACHE_DIR=cache, TRITON_DISABLE_LINE_INFO="1")
        lowering.run("triton", "triton", lower, are_constants=False)
