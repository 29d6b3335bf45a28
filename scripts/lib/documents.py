# scripts/lib/documents.py - the Markdown pages of the repository: their links, their headings, their names in the site.
import pathlib
import re

# Pages that are not in docs/, and what the site calls them.
OTHERS = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md",
          "SECURITY.md": "SECURITY.md", "python/README.md": "PYTHON.md", "third_party/README.md": "DEPENDENCIES.md"}
LINK = re.compile(r"(?<!`)\[(?P<text>(?:[^\]`]|`[^`]*`)*)\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.M | re.S)
SPAN = re.compile(r"`[^`\n]+`")


def pages(root):
    return [root / name for name in OTHERS] + sorted((root / "docs").rglob("*.md"))


def site_names(root):
    """{path in the repository: path in the site}"""
    found = {name: name.removeprefix("docs/") for name in (str(p.relative_to(root)) for p in pages(root))}
    return {**found, **OTHERS}


def without_code(text):
    """As long as `text`, with blanks in the place of blocks of code; spans of code may be a link's text."""
    return CODE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)


def links(text):
    """Matches of LINK outside code."""
    plain = without_code(text)
    spans = [span.span() for span in SPAN.finditer(plain)]
    return [m for m in LINK.finditer(plain) if not any(a <= m.start() and m.end() <= b for a, b in spans)]


def slug(heading):
    """As GitHub makes it: letters, digits, - and _ are kept, blanks become -."""
    text = LINK.sub(lambda m: m["text"], heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    found, times = set(), {}
    for heading in re.findall(r"^#{1,6} +(.+?)\s*$", without_code(text), re.M):
        name = slug(heading)
        times[name] = times.get(name, -1) + 1
        found.add(f"{name}-{times[name]}" if times[name] else name)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def problems_of(file, root):
    """["docs/X.md:12: Y.md is not there", ...]"""
    text, name = file.read_text(), file.relative_to(root)
    found = []
    for link in links(text):
        target, _, anchor = link["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = f"{name}:{text.count(chr(10), 0, link.start()) + 1}"
        path = pathlib.Path(*(file.parent / target).parts) if target else file
        if root not in (path.resolve(), *path.resolve().parents):
            found.append(f"{place}: {target} is outside the repository")
        elif not path.exists():
            found.append(f"{place}: {target} is not there")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
            found.append(f"{place}: {target or name} has no heading #{anchor}")
    return found
