# workbench/python/lower_tilelang.py - a candidate in TileLang as PTX, by way of its CUDA C++; see lowering.py.
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lowering  # noqa: E402  the folder above

POINTERS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "u32": "uint32"}
# TileLang orders and types a kernel's parameters by itself; this one has the case's.
WRAPPER = """
extern "C" __global__ void __launch_bounds__({threads}) {name}({parameters}) {{
  {function}({arguments});
}}
"""
HEAD = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)')


def arguments_of(name, parameters, question):
    """TileLang's parameters, by name, of those of the case, which are pointers and 64-bit integers."""
    types = dict(lowering.parameters_of(question))
    arguments = []
    for parameter in parameters.split(","):
        words = parameter.replace("*", " * ").split()
        if words[-1] not in types or ("*" in words) != (types[words[-1]] in POINTERS):
            lowering.end(65, f"kernel {name}: {words[-1]} is no parameter of the case")
        kind = " ".join(word for word in words[:-1] if word not in ("__restrict__", "__grid_constant__"))
        arguments.append(f"({kind})p_{words[-1]}")
    return ", ".join(arguments)


def source_of(kernel, launch, question):
    """CUDA C++ with the launch's kernel, and its bytes of shared memory that the launch must give."""
    import tilelang
    from tvm.target import Target

    name = launch["kernel"]
    target = Target({"kind": "cuda", "arch": question["architecture"]})
    # Descriptors of bulk copies are made by the host, which a candidate has not.
    options = {"tl.disable_tma_lower": True, "tl.disable_warp_specialized": True}
    with target, tilelang.transform.PassContext(config=options):
        made = tilelang.lower(kernel, target=target)
    functions = list(made.device_mod.functions.values())
    if len(functions) != 1:
        lowering.end(65, f"kernel {name} makes {len(functions)} kernels")
    facts = functions[0].attrs
    extent = {str(axis): size for axis, size in facts["thread_extent"].items()}
    if any(int(extent.get(f"threadIdx.{axis}", 1)) != want
           for axis, want in (("x", launch["block"]), ("y", launch["block_y"]), ("z", 1))):
        lowering.end(65, f"kernel {name} has other threads than its launch line: {extent}")
    heads = HEAD.findall(made.kernel_source)
    if not heads or len({head[0] for head in heads}) != 1:
        lowering.end(65, f"kernel {name} cannot be found in the text that TileLang makes")
    function, parameters = heads[-1]
    text = HEAD.sub(lambda head: f"static __device__ __forceinline__ void tl_{name}({head.group(2)})",
                    made.kernel_source)
    wrapper = WRAPPER.format(
        threads=launch["block"] * launch["block_y"], name=name, function=f"tl_{name}",
        parameters=", ".join(("void* " if kind in POINTERS else "long long ") + "p_" + one
                             for one, kind in lowering.parameters_of(question)),
        arguments=arguments_of(name, parameters, question))
    return text + wrapper, int(facts.get("dyn_shared_memory_buf", 0))


def includes_of():
    import tilelang

    root = pathlib.Path(tilelang.__file__).parent
    return [f"-I{root / folder}" for folder in ("src", "3rdparty/cutlass/include")]


def lower(module, question):
    folder = pathlib.Path(question["out"]).parent
    modules, shared = [], {}
    for name, launch in lowering.launches_of(question).items():
        text, shared[name] = source_of(getattr(module, name, None), launch, question)
        source, ptx = folder / f"{name}.cu", folder / f"{name}.ptx"
        source.write_text(text)
        made = subprocess.run([question["nvcc"], "-ptx", "-std=c++17", "-O3", "-w", "--expt-relaxed-constexpr",
                               f"-arch={question['architecture']}", *includes_of(), source, "-o", ptx],
                              text=True, capture_output=True)
        if made.returncode != 0:
            print(made.stderr, file=sys.stderr)
            lowering.end(1, "nvcc refuses the text that TileLang makes: " + (made.stderr.splitlines() or [""])[0])
        modules.append(ptx.read_text())
    return {"ptx": lowering.joined(modules), "shared": shared}


if __name__ == "__main__":
    os.environ.update(TILELANG_DISABLE_CACHE="1")
    lowering.run("tilelang", "tilelang", lower, are_constants=True)
