# workbench/python/source_gate.py - what a candidate in Python may say, by its syntax tree, before any of it runs.
"""Compilers of kernels in Python call functions and read attributes while they compile, so a source could do anything
that Python can. What passes here is kernels alone: imports of the language, constants, functions with the language's
decorator. Names and attributes are those of a list (language_words.py); everything else is refused with its line.

What compilers are given is the judged tree written anew, since they read the text of functions a second time and by
other rules than Python's: a comment may name an encoding, a text may look like the kernel that holds it."""
import ast
import re

from language_words import WORDS

BUILTINS = {"range", "min", "max", "abs", "int", "float", "bool", "len", "tuple", "isinstance"}
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Pass,
              ast.Break, ast.Continue, ast.Assert)
EXPRESSIONS = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant, ast.Attribute,
               ast.Subscript, ast.Name, ast.Tuple, ast.List, ast.Slice, ast.keyword, ast.expr_context, ast.operator,
               ast.boolop, ast.unaryop, ast.cmpop)
BLOCKS = (ast.With, ast.withitem)  # of languages whose launches are blocks
WORD = re.compile(r"[A-Za-z0-9_.]{1,32}")  # a string that no compiler takes for code


class Refused(Exception):
    pass


def refuse(node, why):
    raise Refused(f"line {getattr(node, 'lineno', 0)}: {why}")


def dotted(node):
    """"tl.constexpr" of such an attribute, else ""."""
    if isinstance(node, ast.Name):
        return node.id
    if not isinstance(node, ast.Attribute):
        return ""
    base = dotted(node.value)
    return base and base + "." + node.attr


def is_text(node):
    """A statement that is a text alone, as a function's description is; it is not written anew."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def written_anew(tree):
    """The tree's own text, without comments and descriptions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef)):
            node.body = [one for one in node.body if not is_text(one)] or [ast.Pass()]
    text = ast.unparse(tree) + "\n"
    if ast.dump(ast.parse(text)) != ast.dump(tree):
        refuse(tree, "a source that cannot be written anew")
    return text


class Gate:
    """The rules of one language, as language_words.py has them."""

    def __init__(self, words, constants):
        self.words = words
        self.modules = {alias or name: words.members.get(alias or name, set()) for name, alias in words.imports}
        self.constants = set(constants)

    def check_import(self, node):
        for one in node.names:
            if (one.name, one.asname) not in self.words.imports:
                refuse(node, "imports are: " + ", ".join("import " + name + (f" as {alias}" if alias else "")
                                                         for name, alias in self.words.imports))

    def check_binding(self, node, name):
        if (name.startswith("_") and name != "_") or name in self.modules or name in BUILTINS:
            refuse(node, f"the name {name}")

    def check_constant(self, node, known):
        """NAME = 3, or what the language has for constants, with words and numbers."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AnnAssign):
            self.check_annotation(node.annotation, known)  # which Python evaluates
        values = [node.value]
        if isinstance(node.value, ast.Call) and dotted(node.value.func) in self.words.constants:
            values = node.value.args if not node.value.keywords else [None]
        values = [one.operand if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub) else one
                  for one in values]
        if len(targets) != 1 or not isinstance(targets[0], ast.Name) or not values or not all(
                isinstance(one, ast.Constant) for one in values):
            refuse(node, "outside of kernels there are numbers alone: NAME = 3")
        for one in values:
            self.check_value(one)
        self.check_binding(targets[0], targets[0].id)
        known.add(targets[0].id)

    def check_value(self, node):
        """What a source may hold as it is: no text that a compiler would hand on as code."""
        value = node.value
        if isinstance(value, str):
            if not self.words.has_assembly and not WORD.fullmatch(value):
                refuse(node, "a text that is no word")
        elif not (value is None or value is ... or isinstance(value, (int, float))):
            refuse(node, "a constant is a number, a word, True, False, None or ...")

    def check_annotation(self, node, names):
        texts = [one for part in ast.walk(node) if not isinstance(part, ast.Call) for one in ast.iter_child_nodes(part)]
        if any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in [node, *texts]):
            refuse(node, "a type is no text")  # which Python would run
        if self.words.annotations is None:
            self.check_node(node, names)
        elif dotted(node) not in self.words.annotations:
            refuse(node, "a type is " + ", ".join(self.words.annotations) + ", or not said")

    def check_arguments(self, function, known):
        arguments = function.args
        if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
            refuse(function, "a kernel has plain parameters")
        for one in arguments.args:
            self.check_binding(one, one.arg)
            if one.annotation is not None:
                self.check_annotation(one.annotation, known)
        for default in arguments.defaults:
            if not isinstance(default, ast.Constant):
                refuse(function, "a default is a number")
            self.check_value(default)
        return {one.arg for one in arguments.args}

    def check_function(self, function, known):
        if len(function.decorator_list) != 1 or dotted(function.decorator_list[0]) not in self.words.decorators:
            refuse(function, "every function has one decorator: @" + " or @".join(self.words.decorators))
        if getattr(function, "type_params", None):
            refuse(function, "a function has no type parameters")
        if function.returns is not None:
            refuse(function, "a function's result has no type")
        names = known | self.check_arguments(function, known)
        for node in ast.walk(ast.Module(function.body, [])):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.check_binding(node, node.id)
                names.add(node.id)
        for statement in function.body:
            if not is_text(statement):
                self.check_node(statement, names)

    def check_attribute(self, node):
        members = self.modules.get(dotted(node.value))
        if not isinstance(node.ctx, ast.Load):
            refuse(node, f"{dotted(node) if members is not None else 'the attribute ' + node.attr} is assigned to")
        if members is not None and node.attr not in members:
            refuse(node, f"{dotted(node)} is not on the list")
        if members is None and node.attr not in self.words.attributes:
            refuse(node, f"the attribute {node.attr}")

    def check_node(self, node, names):
        if isinstance(node, ast.Attribute):
            self.check_attribute(node)
            if dotted(node.value) in self.modules:
                return
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and node.id not in names | BUILTINS:
                refuse(node, f"the name {node.id}")
        elif isinstance(node, ast.Constant):
            self.check_value(node)
        elif isinstance(node, ast.keyword):
            if node.arg is None or node.arg in self.words.denied_keywords:
                refuse(node.value, f"the argument {node.arg or '**'}")
        elif isinstance(node, ast.AnnAssign):
            self.check_annotation(node.annotation, names)
        elif not isinstance(node, STATEMENTS + EXPRESSIONS + (BLOCKS if self.words.has_blocks else ())):
            refuse(node, f"{type(node).__name__} in a kernel")
        for child in ast.iter_child_nodes(node):
            self.check_node(child, names)

    def check_module(self, tree):
        known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} | self.constants
        for name in known:
            self.check_binding(tree, name)
        for node in tree.body:
            if isinstance(node, ast.Import):
                self.check_import(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                self.check_constant(node, known)
            elif isinstance(node, ast.FunctionDef):
                self.check_function(node, known)
            elif not is_text(node):
                refuse(node, f"{type(node).__name__} outside of kernels")


def check(language, source, constants=()):
    """The text to compile, which says what `source` does. Raises Refused with one line, and SyntaxError.

    constants: names of params, where they are constants of the module."""
    tree = ast.parse(source)
    Gate(WORDS[language], constants).check_module(tree)
    return written_anew(tree)
