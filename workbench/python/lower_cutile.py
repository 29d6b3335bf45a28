# workbench/python/lower_cutile.py - a candidate in cuTile (cuda-tile) as a cubin; see lowering.py.
"""A buffer becomes an array: a pointer, then its extents and strides, all of 64 bits. No PTX is between."""
import base64
import io
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lowering  # noqa: E402  the folder above

ELEMENTS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "u32": "uint32"}


def signature_of(launch, question):
    import cuda.tile as ct
    from cuda.tile import compilation

    parameters = []
    for kind, rank in zip(question["types"], question["ranks"]):
        if kind not in ELEMENTS:
            parameters.append(compilation.ScalarConstraint(ct.int64))
            continue
        parameters.append(compilation.ArrayConstraint(
            getattr(ct, ELEMENTS[kind]), rank, index_dtype=ct.int64, stride_lower_bound_incl=0, alias_groups=(),
            may_alias_internally=False, stride_constant=[None] * (rank - 1) + [1], base_addr_divisible_by=16))
    return compilation.KernelSignature(parameters, compilation.CallingConvention.cutile_python_v2(), launch["kernel"])


def lower(module, question):
    import cuda.tile as ct
    from cuda.tile import compilation

    launches = lowering.launches_of(question)
    if len(launches) != 1:
        lowering.end(65, "a candidate in cuTile has one kernel, which may be launched several times")
    (launch,) = launches.values()
    made = io.BytesIO()
    compilation.export_kernel(lowering.kernel_of(module, launch, ct.kernel), [signature_of(launch, question)], made,
                              gpu_code=re.match(r"sm_\d+", question["architecture"]).group(0), output_format="cubin")
    return {"cubin": base64.b64encode(made.getvalue()).decode()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ.update(CUDA_TILE_CACHE_DIR=cache, CUDA_TILE_TEMP_DIR=cache)
        lowering.run("cutile", "cuda.tile", lower, are_constants=True)
