# workbench/python/lower_cute_dsl.py - a candidate in CuTe's Python (nvidia-cutlass-dsl) as PTX; see lowering.py.
import importlib.util
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lowering  # noqa: E402  the folder above

POINTERS = {"f32": "Float32", "f16": "Float16", "bf16": "BFloat16", "i32": "Int32", "u32": "Uint32"}
# CuTe compiles a function of the host that launches a kernel; the referee's own launch takes its place.
LAUNCHER = """import cutlass.cute as cute

def launcher(kernel):
    @cute.jit
    def launch({names}):
        kernel({names}).launch(grid=(1, 1, 1), block=({block}, {block_y}, 1), smem={smem})
    return launch
"""


def launcher_of(kernel, launch, names, folder):
    """CuTe reads the text of the functions that it compiles, so this one is a file, too."""
    path = pathlib.Path(folder) / f"launch_{launch['kernel']}.py"
    path.write_text(LAUNCHER.format(names=", ".join(names), **launch))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.launcher(kernel)


def compile_kernel(module, launch, question):
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr

    name = launch["kernel"]
    kernel = getattr(module, name, None)
    if not callable(kernel):
        lowering.end(65, f"there is no kernel {name}")
    names = [f"p{place}" for place, _ in enumerate(question["types"])]
    arguments = [make_ptr(getattr(cutlass, POINTERS[one]), 16, cute.AddressSpace.gmem, assumed_align=16)
                 if one in POINTERS else cutlass.Int64(1) for one in question["types"]]
    folder = pathlib.Path(question["out"]).parent
    made = cute.compile(launcher_of(kernel, launch, names, folder), *arguments,
                        options=f"--gpu-arch={question['architecture']} --keep-ptx --dump-dir={folder}")
    entries = re.findall(r"\.entry\s+([\w$]+)", made.__ptx__ or "")
    if len(entries) != 1:
        lowering.end(65, f"kernel {name} makes {len(entries)} kernels")
    return re.sub(rf"\b{re.escape(entries[0])}\b", name, made.__ptx__)


def lower(module, question):
    return {"ptx": lowering.joined([compile_kernel(module, launch, question)
                                    for launch in lowering.launches_of(question).values()])}


if __name__ == "__main__":
    os.environ.update(CUTE_DSL_NO_CACHE="1")
    lowering.run("cute-dsl", "cutlass.cute", lower, are_constants=True)
