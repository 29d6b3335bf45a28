#!/usr/bin/env python3
# scripts/lib/site_pages.py - the pages of the site: those of docs/ and the others, with links that lead inside it.
"""    site_pages.py OUT [--source URL]
    site_pages.py --headers             the public C++ headers, one a line

A link to a file that is no page, such as a source, leads below URL; without URL it becomes plain text.
"""
import argparse
import os
import pathlib
import re
import shutil

import documents

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = """# Python API

The package's functions and classes, from their docstrings. [The package](../PYTHON.md) shows how they are used.

::: salient_gnn
"""
CPP = """# C++ API

The headers that [the library](../LIBRARY.md) keeps, `<salient/...>`, with the contract above each function.

"""


def public_headers():
    """Of the table in docs/LIBRARY.md."""
    rows = re.findall(r"^\| (`[^|]*\.h`) \|", (ROOT / "docs/LIBRARY.md").read_text(), re.M)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def cpp_page(folder):
    """A list of the headers, with links to Doxygen's pages of them where it has made some in `folder`."""
    lines = []
    for name in public_headers():
        page = f"{pathlib.Path(name).stem.replace('_', '__')}_8h.html"
        lines.append(f"- [`{name}`](cpp/{page})" if (folder / page).exists() else f"- `{name}`")
    return CPP + "\n".join(lines) + "\n"


def site_text(file, names, source):
    name = str(file.relative_to(ROOT))
    own = names[name]
    text = file.read_text()
    for link in reversed(documents.links(text)):
        target, _, anchor = link["target"].partition("#")
        if re.match(r"[a-z]+:", target) or not target:
            continue
        path = os.path.relpath((file.parent / target).resolve(), ROOT)
        page = names.get(path) or {"docs/decisions": "decisions/index.md", "docs/log": "log/index.md"}.get(path)
        if page:
            new = os.path.relpath(page, os.path.dirname(own) or ".") + (f"#{anchor}" if anchor else "")
        elif path.startswith("docs/pictures/"):
            new = os.path.relpath(path.removeprefix("docs/"), os.path.dirname(own) or ".")
        else:
            new = f"{source.rstrip('/')}/{path}" if source else None
        replaced = f"[{link['text']}]({new})" if new else link["text"]
        text = text[: link.start()] + replaced + text[link.end() :]
    return re.sub(r'(<img [^>]*src=")docs/', r"\1", text)


def list_of(folder, title, about):
    """The pages of a folder with their headings."""
    lines = [f"# {title}", "", about, ""]
    for file in sorted((ROOT / "docs" / folder).glob("*.md")):
        lines.append(f"- [{file.read_text().splitlines()[0].removeprefix('# ')}]({file.name})")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    parser.add_argument("--source", default="")
    parser.add_argument("--headers", action="store_true")
    options = parser.parse_args()
    if options.headers:
        print("\n".join(public_headers()))
        return
    names = documents.site_names(ROOT)
    texts = {}
    for file in documents.pages(ROOT):
        texts[names[str(file.relative_to(ROOT))]] = site_text(file, names, options.source)
    texts["decisions/index.md"] = list_of("decisions", "Decisions", "What was decided, why, and what was rejected.")
    texts["log/index.md"] = list_of("log", "Log", "Series of measurements, dated reruns, and what was tried.")
    texts["reference/python.md"] = API
    texts["reference/cpp.md"] = cpp_page(options.out / "reference/cpp")
    for name, text in texts.items():
        (options.out / name).parent.mkdir(parents=True, exist_ok=True)
        (options.out / name).write_text(text)
    if (ROOT / "docs/pictures").exists():
        shutil.copytree(ROOT / "docs/pictures", options.out / "pictures", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
