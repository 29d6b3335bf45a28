# workbench/python/triton_gate.py - what a candidate in Triton may say, by its syntax tree, before any of it runs.
"""Triton's compiler calls functions and reads attributes while it compiles, so a source could do anything that Python
can. What passes here is kernels alone: imports of triton and triton.language, constants, functions with @triton.jit.
Names and attributes are those of a list; everything else is refused with its line."""
import ast

BUILTINS = {"range", "min", "max", "abs", "int", "float", "bool", "len", "tuple", "isinstance"}
LANGUAGE = set("""
    constexpr static_assert static_range range program_id num_programs cdiv arange zeros full zeros_like cat join split
    interleave broadcast broadcast_to expand_dims permute trans reshape ravel view flip gather where load store
    make_block_ptr advance dot dot_scaled abs cdiv ceil clamp cos div_rn erf exp exp2 fdiv floor fma log log2 maximum
    minimum rsqrt sigmoid sin softmax sqrt sqrt_rn umulhi argmax argmin max min reduce sum xor_sum associative_scan
    cumprod cumsum histogram sort topk swizzle2d cast atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or
    atomic_xchg atomic_xor debug_barrier max_constancy max_contiguous multiple_of assume inline_asm_elementwise
    rand randn randint pointer_type tensor
    int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 float8e4nv float8e5
    """.split())
ATTRIBUTES = LANGUAGE - {"static_range", "constexpr"} | set("""
    to dtype element_ty shape type T numel primitive_bitwidth value logical_and logical_or
    """.split())
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Pass,
              ast.Break, ast.Continue, ast.Assert)
EXPRESSIONS = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant, ast.Attribute,
               ast.Subscript, ast.Name, ast.Tuple, ast.List, ast.Slice, ast.keyword, ast.expr_context, ast.operator,
               ast.boolop, ast.unaryop, ast.cmpop)


class Refused(Exception):
    pass


def refuse(node, why):
    raise Refused(f"line {getattr(node, 'lineno', 0)}: {why}")


def is_attribute(node, module, name):
    return isinstance(node, ast.Attribute) and node.attr == name and is_name(node.value, module)


def is_name(node, name):
    return isinstance(node, ast.Name) and node.id == name


def check_import(node):
    for one in node.names:
        if (one.name, one.asname) not in (("triton", None), ("triton.language", "tl")):
            refuse(node, "imports are: import triton, import triton.language as tl")


def check_constant(node, known):
    """NAME = 3, or NAME: tl.constexpr = 3, or NAME = tl.constexpr(3)"""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    value = node.value
    if isinstance(value, ast.Call) and is_attribute(value.func, "tl", "constexpr"):
        value = value.args[0] if len(value.args) == 1 and not value.keywords else None
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or not isinstance(value, ast.Constant):
        refuse(node, "outside of kernels there are numbers alone: NAME = 3")
    check_binding(targets[0], targets[0].id)
    known.add(targets[0].id)


def check_binding(node, name):
    if name.startswith("_") or name in ("tl", "triton") or name in BUILTINS:
        refuse(node, f"the name {name}")


def check_arguments(function):
    arguments = function.args
    if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        refuse(function, "a kernel has plain parameters")
    for one in arguments.args:
        check_binding(one, one.arg)
        if one.annotation is not None and not is_attribute(one.annotation, "tl", "constexpr"):
            refuse(one, "a parameter's type is tl.constexpr, or not said")
    for default in arguments.defaults:
        if not isinstance(default, ast.Constant):
            refuse(function, "a default is a number")
    return {one.arg for one in arguments.args}


def check_function(function, known):
    if len(function.decorator_list) != 1 or not is_attribute(function.decorator_list[0], "triton", "jit"):
        refuse(function, "every function has the decorator @triton.jit alone")
    if function.returns is not None:
        refuse(function, "a function's result has no type")
    names = known | check_arguments(function)
    for node in ast.walk(ast.Module(function.body, [])):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            check_binding(node, node.id)
            names.add(node.id)
    for statement in function.body:
        check_node(statement, names)


def check_node(node, names):
    if isinstance(node, ast.Attribute):
        if is_name(node.value, "tl"):
            if node.attr not in LANGUAGE or not isinstance(node.ctx, ast.Load):
                refuse(node, f"tl.{node.attr} is not on the list, or is assigned to")
            return
        if node.attr not in ATTRIBUTES or not isinstance(node.ctx, ast.Load):
            refuse(node, f"the attribute {node.attr}")
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in names | BUILTINS:
            refuse(node, f"the name {node.id}")
    elif isinstance(node, ast.AnnAssign):
        if not is_attribute(node.annotation, "tl", "constexpr"):
            refuse(node, "a variable's type is tl.constexpr, or not said")
    elif not isinstance(node, STATEMENTS + EXPRESSIONS):
        refuse(node, f"{type(node).__name__} in a kernel")
    for child in ast.iter_child_nodes(node):
        check_node(child, names)


def check(source):
    """Raises Refused with one line, and SyntaxError."""
    tree = ast.parse(source)
    known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in known:
        check_binding(tree, name)
    for node in tree.body:
        if isinstance(node, ast.Import):
            check_import(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            check_constant(node, known)
        elif isinstance(node, ast.FunctionDef):
            check_function(node, known)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            refuse(node, f"{type(node).__name__} outside of kernels")
