#!/usr/bin/env python3
# scripts/check_sizes.py - fails for lines that are too wide and for files, classes, functions and signatures that are
# too long.
"""Run by ctest, on all files of the repository.

A line has at most 120 characters, comments included. Two kinds of lines may have more: rows of a table in Markdown,
which begin with "|", and lines with a word of at least 100 characters (a URL, a pattern).
A file outside tests has at most 350 lines, a class there at most 150, and a function at most 60, heads included. A
function has at most 6 parameters, unless a comment directly above its declaration or definition gives the reason with
the word "parameters".
"""
import pathlib
import re
import sys

MAX_WIDTH, MAX_FILE_LINES, MAX_CLASS_LINES, MAX_FUNCTION_LINES, MAX_PARAMETERS = 120, 350, 150, 60, 6
SOURCE_FOLDERS = ["core", "sampler", "store", "prepare", "loaders", "models", "engine", "apps", "python",
                  "workbench", "benchmarks", "tests"]
# Kernels of the workbench have the parameters that their case gives them.
GIVEN_PARAMETERS = ("workbench/cases/kernels/", "tests/workbench/fixtures/", "tests/workbench/cuda_fixtures/")
TEXT_FOLDERS = [*SOURCE_FOLDERS, "cmake", "examples", "docs", "scripts", "third_party"]
RECORDED = ("workbench/examples/", "workbench/results/")  # recorded runs
LONG_CLASSES = {  # older than the rule, with their lines: they may shrink, not grow
    "apps/serve/http_server.cpp HttpServer::Impl": 214,
    "benchmarks/step_parts.cpp Step": 214,
    "models/exact/exact_forward.cpp ExactForward::Impl": 182,
    "prepare/importers/edges_importer.cpp EdgesImport": 232,
    "workbench/backend/cuda_executor.cpp CudaExecutor": 221,
    "workbench/case/case_parser.cpp CaseParser": 196,
}
CODE = {".h", ".cuh", ".cpp", ".cu"}
TEXT = {*CODE, ".py", ".sh", ".md", ".txt", ".cmake", ".js", ".css"}


def too_wide(path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) <= MAX_WIDTH or (path.suffix == ".md" and line.startswith("|")):
            continue
        if number == 1 or max(map(len, line.split())) < 100:  # line 1 holds a path, which excuses nothing
            yield f"{path}:{number}: {len(line)} characters, at most {MAX_WIDTH}"


def blanked(code):
    """The same text with comments, literals and preprocessor lines blanked; line breaks stay."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|R"(\w+)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"'
                       r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)


def parameters_of(head):
    """How many parameters the function with this head has; None if it is not one."""
    head = re.sub(r"\b(__launch_bounds__|alignas|decltype|explicit|noexcept)\s*\([^()]*\)|\[\[.*?\]\]", " ", head)
    head = re.sub(r"\boperator\s*\(\s*\)|\boperator\s*[^\w\s(]+", "operator_", head)
    group, depth, angles, commas, is_empty = None, 0, 0, 0, True
    for i, c in enumerate(head):
        if c == "<" and re.search(r"[\w:]\s*$", head[:i]):
            angles += 1
        elif c == ">" and angles > 0 and head[i - 1] != "-":
            angles -= 1
        elif c in "([{":
            if c == "(" and group is None and angles == 0:
                if not re.search(r"[\w~]\s*$", head[:i]):
                    return None
                group = depth
            elif group is not None:
                is_empty = False
            depth += 1
        elif c in ")]}":
            depth -= 1
            if group is not None and depth == group:
                return 0 if is_empty else commas + 1
        elif group is not None:
            commas += c == "," and angles == 0 and depth == group + 1
            is_empty = is_empty and c.isspace()
    return None


def name_of(head):
    head = re.sub(r"\b(__launch_bounds__|alignas|decltype|explicit|noexcept)\s*\([^()]*\)", " ", head)
    names = re.findall(r"([\w:~]+)\s*\(", head)
    return names[0] if names else "?"


def functions_of(code):
    """(name, first line, last line or None for a declaration, parameters) of every function outside function bodies."""
    text, scopes, begin = blanked(code), [], 0

    def first_line(head):
        return text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1

    def head_at(end):
        return re.sub(r"^\s*(public|private|protected)\s*:", lambda m: re.sub(r"\S", " ", m.group()), text[begin:end])

    for i, c in enumerate(text):
        in_body = "body" in scopes
        if c == "{":
            head = head_at(i)
            bare = re.sub(r"\btemplate\s*<[^{}]*?>\s*(?=\w|::)", " ", head)
            if in_body:
                scopes.append("nested")
            elif re.search(r"\b(namespace|class|struct|union|enum|extern)\b", bare) and parameters_of(bare) is None:
                scopes.append("scope")
                begin = i + 1
            else:
                scopes.append("body")
                open_line, open_head = first_line(head), bare
        elif c == "}" and scopes:
            scope = scopes.pop()
            if scope == "body":
                count = parameters_of(open_head)
                if count is not None and not open_head.strip().startswith(","):
                    yield name_of(open_head), open_line, text.count("\n", 0, i) + 1, count
            if "body" not in scopes:
                begin = i + 1
        elif c == ";" and not in_body:
            head = head_at(i)
            count = parameters_of(head)
            is_declaration = "=" not in head.split("(")[0] and not re.match(r"\s*(using|typedef|return|friend)\b", head)
            if count is not None and is_declaration:
                yield name_of(head), first_line(head), None, count
            begin = i + 1


def classes_of(code):
    """(name, first line, last line) of every class, struct and union with a body."""
    text, open_braces = blanked(code), []
    heads = {match.end() - 1: match for match in
             re.finditer(r"\b(?:class|struct|union)\s+(?:alignas\([^)]*\)\s*)?([\w:]+)[^;{}()=]*\{", text)}
    for i, c in enumerate(text):
        if c == "{":
            open_braces.append(heads.get(i))
        elif c == "}" and open_braces:
            head = open_braces.pop()
            if head:
                yield head[1], text.count("\n", 0, head.start()) + 1, text.count("\n", 0, i) + 1


def has_reason(lines, first):
    """Whether the comment that ends above line `first` speaks of the parameters."""
    number = first - 1
    while number > 0 and lines[number - 1].lstrip().startswith(("//", "template", "requires")):
        number -= 1
    return any("parameters" in line for line in lines[number:first - 1] if line.lstrip().startswith("//"))


def too_long(path, code, signatures):
    lines = code.splitlines()
    if path.parts[0] != "tests" and len(lines) > MAX_FILE_LINES:
        yield f"{path}: {len(lines)} lines, at most {MAX_FILE_LINES}"
    for name, first, last in classes_of(code) if path.parts[0] != "tests" else ():
        limit = LONG_CLASSES.get(f"{path} {name}", MAX_CLASS_LINES)
        if last - first + 1 > limit:
            yield f"{path}:{first}: {name} has {last - first + 1} lines, at most {limit}"
    for name, first, last, count in functions_of(code):
        if last is not None and last - first + 1 > MAX_FUNCTION_LINES:
            yield f"{path}:{first}: {name} has {last - first + 1} lines, at most {MAX_FUNCTION_LINES}"
        if count > MAX_PARAMETERS and not path.as_posix().startswith(GIVEN_PARAMETERS):
            signatures.setdefault((name.split("::")[-1], count), []).append((path, first, has_reason(lines, first)))


def problems_in(files):
    signatures = {}  # (name, parameters) -> places; the reason may be above any of them
    for path in files:
        code = path.read_text()
        yield from too_wide(path, code.splitlines())
        if path.suffix in CODE:
            yield from too_long(path, code, signatures)
    for (name, count), places in signatures.items():
        if not any(reason for _, _, reason in places):
            path, line, _ = places[0]
            yield f"{path}:{line}: {name} has {count} parameters, more than {MAX_PARAMETERS} need a reason above"


paths = [p for folder in TEXT_FOLDERS for p in sorted(pathlib.Path(folder).rglob("*")) if p.suffix in TEXT]
paths += [p for p in sorted(pathlib.Path().glob("*")) if p.suffix in TEXT]
paths = [p for p in paths if not p.as_posix().startswith(RECORDED)]
found = list(problems_in(paths))
print("\n".join(found) or f"{len(paths)} files keep to the sizes")
sys.exit(bool(found))
