"""Calls exported kernels from Python and compares them with PyTorch's own operators.

    export_check.py KIND FOLDER DEVICE

KIND: gather_mean, matmul_f32, fused_add_rmsnorm, sums (a case of the test), kernels, tvm_ffi. Prints one line, "ok".
"""
import importlib
import importlib.util
import pathlib
import sys

import torch

KIND, FOLDER, DEVICE = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(FOLDER))
torch.manual_seed(1)


def refused(error, says, call, *args, **named):
    try:
        call(*args, **named)
    except error as found:
        assert says in str(found), found
        return
    raise AssertionError(f"{says}: was not refused")


def graph(rows=40, sources=30, edges=170):
    degrees = torch.bincount(torch.randint(0, rows - 1, (edges,)), minlength=rows)  # the last row has none
    indptr = torch.cat([torch.zeros(1, dtype=torch.long), degrees.cumsum(0)]).to(torch.int32)
    return indptr.to(DEVICE), torch.randint(0, sources, (edges,), dtype=torch.int32).to(DEVICE)


def mean_of_neighbours(x, indptr, indices):
    rows = len(indptr) - 1
    of_edge = torch.repeat_interleave(torch.arange(rows, device=x.device), (indptr[1:] - indptr[:-1]).long())
    sums = torch.zeros(rows, x.shape[1], dtype=x.dtype, device=x.device).index_add(0, of_edge, x[indices.long()])
    return sums / (indptr[1:] - indptr[:-1]).clamp(min=1).unsqueeze(1)


def check_gather_mean():
    from gather_mean import gather_mean
    indptr, indices = graph()
    x = torch.randn(30, 12, device=DEVICE, requires_grad=True)
    sizes = {"rows": 40, "sources": 30, "edges": 170, "width": 12}
    out = gather_mean(x, indptr, indices, **sizes)
    want = mean_of_neighbours(x, indptr, indices)
    torch.testing.assert_close(out.view(40, 12), want)
    weights = torch.randn(40, 12, device=DEVICE)
    [found] = torch.autograd.grad((out.view(40, 12) * weights).sum(), x)
    [right] = torch.autograd.grad((want * weights).sum(), x)
    torch.testing.assert_close(found, right)
    arguments = (x, indptr, indices, *sizes.values())
    torch.library.opcheck(gather_mean.op, arguments, test_utils=("test_schema", "test_faketensor",
                                                                 "test_autograd_registration"))
    refused(TypeError, "indices is torch.int64", gather_mean, x, indptr, indices.long(), **sizes)
    refused(ValueError, "x needs 360 elements", gather_mean, x[:-1].contiguous(), indptr, indices, **sizes)
    refused(ValueError, "x needs 360 elements", gather_mean, x.t(), indptr, indices, **sizes)
    refused(TypeError, "width", gather_mean, x, indptr, indices, rows=40, sources=30)
    refused(TypeError, "unknown name", gather_mean, x, indptr, indices, **sizes, depth=1)


def check_matmul_f32():
    from matmul_f32 import matmul_f32
    a, b = torch.randn(33, 65, device=DEVICE), torch.randn(65, 17, device=DEVICE)
    torch.testing.assert_close(matmul_f32(a, b, m=33, n=17, k=65).view(33, 17), a @ b, atol=1e-4, rtol=1e-4)


def check_fused_add_rmsnorm():
    from fused_add_rmsnorm import fused_add_rmsnorm
    x, residual = (torch.randn(5, 33, device=DEVICE).half() for _ in range(2))
    weight = torch.randn(33, device=DEVICE).half()
    total = x.double() + residual.double()
    right = total / (total.square().mean(1, keepdim=True) + 1e-6).sqrt() * weight.double()
    assert fused_add_rmsnorm(x, residual, weight, n=5) is None
    torch.testing.assert_close(residual, total.half())
    torch.testing.assert_close(x, right.half())


def check_sums():
    from sums import sums
    x = torch.randn(1000, dtype=torch.float32, device=DEVICE)
    torch.testing.assert_close(sums(x), x.sum().view(1), atol=1e-3, rtol=1e-4)


def softsign(kernel):
    x = torch.randn(50, 20, device=DEVICE)
    made = kernel(x)
    assert made.shape == x.shape
    torch.testing.assert_close(made, x / (1 + x.abs()))
    if DEVICE == "cpu":
        refused(RuntimeError, "the largest that was tried", kernel, torch.zeros(2**21))


def check_softsign():
    from softsign import softsign as kernel
    softsign(kernel)


def check_kernels():
    try:
        from kernels import get_local_kernel
        module = get_local_kernel(FOLDER, backend="cpu" if DEVICE == "cpu" else None)
        print("by the package kernels")
    except ImportError:  # what it does with such a folder
        variant = FOLDER / f"build/torch-{'cpu' if DEVICE == 'cpu' else 'cuda'}"
        spec = importlib.util.spec_from_file_location("softsign_of_a_repository", variant / "__init__.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    softsign(module.softsign)


def check_tvm_ffi():
    from softsign import softsign as kernel
    x = torch.randn(1000, device=DEVICE)
    out = torch.empty_like(x)
    kernel(x, out, 1000)
    torch.testing.assert_close(out, x / (1 + x.abs()))
    refused(Exception, "needs 1000 elements", kernel, x[:-1], out, 1000)
    refused(Exception, "another type", kernel, x.double(), out, 1000)


globals()[f"check_{KIND}"]()
print("ok")
