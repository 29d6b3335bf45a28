# tests/apps/reader_rules/text_rules.py - what a text may hold that a reader could lose or invent.
"""A rule is a function: reader -> Case, or the reason why it does not apply. Its documentation is its name in print."""
import dataclasses

MARK = b"\xef\xbb\xbf"


@dataclasses.dataclass
class Case:
    """Right is: refused with the words; or read to the content of the good file (or of `like`), with the words `said`
    if there are some; or either."""
    data: bytes
    refused: str = None  # regex of the message
    is_read: bool = False
    said: str = None  # regex of one line of the output
    like: bytes = None  # a plain file with the same content; None = the good one
    options: tuple = ()


def encode(text):
    return text if isinstance(text, bytes) else text.encode()


def mark_in_front(reader):
    """a byte order mark in front of the text is no part of it"""
    return Case(MARK + encode(reader.text()), is_read=True)


def mark_inside(reader):
    """a byte order mark inside is two files joined"""
    text = encode(reader.text())
    half = text.index(b"\n") + 1
    words = "byte order mark" if reader.name != "config.toml" else "c.toml: line 2: "
    return Case(text[:half] + MARK + text[half:], refused=words)


def nul(reader):
    """a NUL byte is no text"""
    text = encode(reader.text())
    words = "NUL byte" if reader.name != "config.toml" else "c.toml: "
    return Case(text[:-2] + b"\0" + text[-2:], refused=words)


def wide_characters(reader):
    """UTF-16 is named"""
    return Case(reader.text().encode("utf-16"), refused="UTF-16" if reader.name != "config.toml" else "c.toml: ")


def windows_line_ends(reader):
    """lines may end with CR LF"""
    if reader.name == "WordNet":
        return "its lines say at which byte they are"
    return Case(encode(reader.text().replace("\n", "\r\n")), is_read=True)


def old_mac_line_ends(reader):
    """a carriage return alone ends no line"""
    if len(reader.rows) == 1:
        return "one line has one end"
    words = "carriage return" if reader.name != "config.toml" else "c.toml: "
    return Case(encode(reader.text().replace("\n", "\r")), refused=words)


def no_last_line_end(reader):
    """the last line needs no end"""
    return Case(encode(reader.text().removesuffix("\n")), is_read=True)


RULES = [mark_in_front, mark_inside, nul, wide_characters, windows_line_ends, old_mac_line_ends, no_last_line_end]
