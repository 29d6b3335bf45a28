# tests/apps/reader_rules/text_rules.py - what a text may hold that a reader could lose or invent.
"""A rule is a function: reader -> Case, or the reason why it does not apply. Its documentation is its name in print."""
import bz2
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
    holds: object = None  # instead of a file with the same content: a condition of it
    options: tuple = ()
    becomes: object = None  # function: the good content -> what is wanted


def encode(text):
    return text if isinstance(text, bytes) else text.encode()


def read(text, said=None, **more):
    return Case(encode(text), is_read=True, said=said, **more)


def refuse(text, words, **more):
    return Case(encode(text), refused=words, **more)


def lines_with(reader, line, at):
    """The good file and one line more; at counts rows."""
    lines = reader.text().splitlines(keepends=True)
    lines.insert(len(lines) - len(reader.rows) + at, line + "\n")
    return "".join(lines)


def rows_with(reader, row, column, value):
    rows = [list(fields) for fields in reader.rows]
    rows[row][column] = value
    return reader.text(rows=rows)


def widened(reader, value, name="time"):
    """One more column."""
    header = None if reader.header is None else reader.header + [name]
    return reader.text(header=header, rows=[row + [value] for row in reader.rows])


NOT_A_TABLE = "its lines are no rows of a table"
NAMES = "a line is a name, whatever it holds"
NO_IDS = "it has no ids"


def mark_in_front(reader):
    """a byte order mark in front of the text is no part of it"""
    return read(MARK + encode(reader.text()))


def mark_inside(reader):
    """a byte order mark inside is two files joined"""
    text = encode(reader.text())
    half = text.index(b"\n") + 1
    words = "byte order mark" if reader.name != "config.toml" else "c.toml: line 2: "
    return refuse(text[:half] + MARK + text[half:], words)


def nul(reader):
    """a NUL byte is no text"""
    text = encode(reader.text())
    return refuse(text[:-2] + b"\0" + text[-2:], "NUL byte" if reader.name != "config.toml" else "c.toml: ")


def wide_characters(reader):
    """UTF-16 is named"""
    return refuse(reader.text().encode("utf-16"), "UTF-16" if reader.name != "config.toml" else "c.toml: ")


def windows_line_ends(reader):
    """lines may end with CR LF"""
    if reader.name == "WordNet":
        return "its lines say at which byte they are"
    return read(reader.text().replace("\n", "\r\n"))


def old_mac_line_ends(reader):
    """a carriage return alone ends no line"""
    if len(reader.rows) == 1:
        return "one line has one end"
    return refuse(reader.text().replace("\n", "\r"), "carriage return" if reader.name != "config.toml" else "c.toml: ")


def no_last_line_end(reader):
    """the last line needs no end"""
    return read(reader.text().removesuffix("\n"))


def long_line(reader):
    """a line of 17 MB is refused"""
    return refuse(reader.text() + "x" * (17 << 20) + "\n", "(longer|larger) than")


def packed(name, data):
    def rule(reader):
        return refuse(data, name if reader.name != "config.toml" else "c.toml: ")
    rule.__name__, rule.__doc__ = f"packed_{name}", f"{name} is named"
    return rule


def comment_in_front(reader):
    """a comment in front is no row, and said where it might be one"""
    text = "# a note\n" + reader.text()
    if reader.name == "config.toml":
        return read(text)
    if not reader.is_table:
        return refuse(text, "")
    return read(text, said="'# a note' is a comment in front" if reader.fields == "text" else None)


def comment_below(reader):
    """a comment among rows is counted, or a row like others"""
    text = lines_with(reader, "# a note", 1)
    if reader.name == "config.toml":
        return read(text)
    if not reader.is_table or reader.fields == "text":
        return refuse(text, "")
    return read(text, said="line [0-9]+: '# a note' is a comment among the rows, and no row")


def sign_of_a_comment(reader):
    """an id or label of text may begin with # or %"""
    if not reader.is_table or reader.fields != "text":
        return "what begins with # or % cannot be a row"
    if reader.kind == "ids":
        return refuse(reader.text() + "#zoe\n", "no node has this id: '#zoe'")
    if reader.kind == "lines":
        return read(rows_with(reader, 3, 0, "#e"), like=encode(rows_with(reader, 3, 0, '"#e"')))
    row = reader.rows[-1][1:] if reader.kind == "nodes" else [reader.rows[0][0]]
    text = "".join(reader.separator.join([name, *row]) + "\n" for name in ("#zoe", "%20x"))
    quoted = text.replace("#zoe", '"#zoe"').replace("%20x", '"%20x"')
    return read(reader.text() + text, like=encode(reader.text() + quoted))


def wide_row(reader):
    """a row with a field too many is refused"""
    if reader.fields == "names":
        return NAMES
    return refuse(lines_with(reader, reader.separator.join(reader.rows[0] + ["7"]), 1),
                  "columns" if reader.is_table else "")


def narrow_row(reader):
    """a row with a field too few is refused"""
    if reader.fields == "names" or len(reader.rows[0]) == 1:
        return NAMES if reader.fields == "names" else "one field less is a blank line"
    text = lines_with(reader, reader.separator.join(reader.rows[0][:-1]), 1)
    return refuse(text, "columns" if reader.is_table else "")


def short_header(reader):
    """a header one name shorter than the rows is refused"""
    if not reader.is_table or reader.header is None or reader.name == "Matrix Market":
        return "it has no header"
    return refuse(reader.text(header=reader.header[:-1]), "columns")


def index(name):
    def rule(reader):
        if not reader.is_table or reader.header is None or reader.name == "Matrix Market":
            return "it has no names of columns"
        rows = [[str(100 + number), *row] for number, row in enumerate(reader.rows)]
        return read(reader.text(header=[name, *reader.header], rows=rows), said=f"'{name}'(, '.*')? (is|are) not used")
    rule.__name__, rule.__doc__ = f"index_{name}", f"pandas' index '{name}' is no id and no feature"
    return rule


def counted_index(name):
    def rule(reader):
        if reader.kind != "nodes" or reader.header is None or len(reader.header) < 2:
            return "it has no table of nodes with names of columns"
        rows = [[str(number), *row] for number, row in enumerate(reader.rows)]
        return read(reader.text(header=[name, *reader.header], rows=rows), said=f"'{name}'(, '.*')? (is|are) not used")
    rule.__name__, rule.__doc__ = f"counted_{name}", f"'{name}' with the numbers of the rows is no id and no feature"
    return rule


def index_alone(reader):
    """an index without a name in place of the id is refused"""
    if reader.kind != "nodes":
        return "it has no column of ids"
    return refuse(reader.text(header=["", *reader.header[1:]]), "no name.*--id-column")


def header_of_numbers(reader):
    """a header of column numbers is refused, or said to be read as a row"""
    if not reader.is_table or len(reader.rows[0]) == 1 or reader.separator == " ":
        return "it has one column, or blanks, where 0 and 1 are usual"
    header = [str(column) for column in range(len(reader.rows[0]))]
    rows = [["5", "7", *row[2:]] for row in reader.rows[:1]] + reader.rows if reader.kind == "edges" else reader.rows
    options = ("--columns", "0,1") if len(header) == 3 and reader.kind == "edges" else ()
    case = read(reader.text(header=header, rows=rows), said="header of column numbers", holds=bool, options=options)
    case.refused = "two lines|is not a node id|node 5|is no number"
    return case


def index_and_numbers(reader):
    """an index and a header of column numbers: refused"""
    if not reader.is_table or reader.kind not in ("edges", "nodes"):
        return "it has no columns to be named"
    header = ["", *(str(column) for column in range(len(reader.rows[0])))]
    rows = [[str(number), *row] for number, row in enumerate(reader.rows)]
    return refuse(reader.text(header=header, rows=rows, separator="," if reader.separator == " " else None),
                  "has no id|columns|an empty id|no number")


def header_again(reader):
    """the header in the middle is two files joined"""
    if reader.header is None or reader.name == "WordNet":
        return "it has no header"
    words = "header again" if reader.is_table else ""
    return refuse(lines_with(reader, reader.separator.join(reader.header), 2),
                  words if reader.name != "Matrix Market" else "columns")


def blank_line(reader):
    """a blank line is nothing, or refused where the line is the row"""
    text = lines_with(reader, "", 1)
    harmless = reader.name == "config.toml" or (reader.is_table and reader.kind != "lines")
    return read(text) if harmless else refuse(text, "blank" if reader.is_table else "")


def blank_end(reader):
    """blank lines at the end are nothing, or refused"""
    harmless = reader.name == "config.toml" or reader.is_table
    return read(reader.text() + "\n\n") if harmless else refuse(reader.text() + "\n\n", "")


def missing(word):
    def rule(reader):
        if reader.fields == "names":
            return NAMES
        if reader.kind == "lines" and reader.fields != "numbers":
            return "a label may be missing, and so may a value"
        if reader.name == "OGB node-label":
            return "nan is no label"
        if not word and len(reader.rows[0]) == 1:
            return "it would be a blank line"
        return refuse(rows_with(reader, -1, 0, word), "missing|empty id|columns" if reader.is_table else "")
    rule.__name__ = f"missing_{word or 'empty'}"
    rule.__doc__ = f"'{word}' in place of an id is no node"
    return rule


def missing_in_quotes(reader):
    """'NA' in quotes is an id"""
    if not reader.is_table or reader.fields != "text" or reader.kind == "lines":
        return "it has no ids of text"
    if reader.kind == "ids":
        return refuse(reader.text() + '"NA"\n', "no node has this id: 'NA'")
    row = reader.rows[-1][1:] if reader.kind == "nodes" else [reader.rows[0][0]]
    return read(reader.text() + reader.separator.join(['"NA"', *row]) + "\n",
                holds=lambda content: "NA" in content["nodes"] and len(content["nodes"]) == 5)


def columns_in_a_list(reader):
    """a list of ids with several columns says which one it is"""
    if reader.kind != "ids":
        return "it is no list of ids"
    text = reader.text(rows=[row * 2 for row in reader.rows], separator=",")
    return refuse(text, "columns" if reader.is_table else "")


def named_column_in_a_list(reader):
    """a list of ids may be a table with a column id"""
    if reader.kind != "ids" or not reader.is_table:
        return "it is no list of ids, or has no header"
    return read(reader.text(header=["id", "time"], rows=[row + ["7"] for row in reader.rows], separator=","),
                said="'time' is not used")


def one_as(text, said, **refused_by):
    """The id 1 in another form."""
    def rule(reader):
        if reader.fields != "numbers" or reader.kind == "lines" and reader.name != "parts":
            return NO_IDS if reader.fields != "text" else "ids are any text"
        row = next((number for number, fields in enumerate(reader.rows) if fields[0] == "1"), None)
        if row is None:
            return "id 1 is not there"
        data = rows_with(reader, row, 0, text)
        if said is None or (not reader.is_table and reader.kind != "lines" and "e" in text):
            return refuse(data, "")
        return read(data, said=said if reader.is_table else None)
    rule.__name__, rule.__doc__ = f"one_as_{text}", refused_by["doc"]
    return rule


def text_ids_keep_their_form(reader):
    """1, 01 and 1.0 are three ids of text"""
    if reader.kind != "edges" or reader.fields != "text":
        return "ids are numbers, or of other files"
    rows = reader.rows + [["1", "01"], ["1.0", "+1"]]
    return read(reader.text(rows=rows), holds=lambda content: {"1", "01", "1.0", "+1"} <= set(content["nodes"]))


def number_hint(value):
    def rule(reader):
        if not reader.name.startswith("features"):
            return "it has no features"
        return refuse(rows_with(reader, 1, 1, value).replace(",", ";").replace("~", ","), "decimal point")
    rule.__name__, rule.__doc__ = f"number_{value}", f"{value.replace('~', ',')} as a number is refused with a hint"
    return rule


def unused_column(reader):
    """a column that is not used is named"""
    if not reader.is_table or reader.kind not in ("edges", "nodes") or reader.name.startswith("features"):
        return "it has no columns beside those that are read"
    text = widened(reader, "7")
    if len(reader.rows[0]) == 2 and reader.header is None:
        return refuse(text, "3 columns; an edge has two.*--columns")
    return read(text, said="(column|, )( ?'time'| ?3) (is|are) not used")


def values_of_a_matrix(reader):
    """values of a matrix are said not to be used"""
    if reader.name != "Matrix Market":
        return "it is no matrix"
    return read(widened(reader, "0.5").replace("pattern", "real").replace("4 4 3 time", "4 4 3").replace("time", ""),
                said="values of the entries are not used")


def data_in_braces(reader):
    """the data of networkx's edges is one column"""
    if reader.kind != "edges" or not reader.is_table or reader.header is not None or len(reader.rows[0]) > 2:
        return "it is no list of two columns"
    text = reader.text(rows=[row + ["{'weight': 1.0, 'kind': {2: \"a b\"}}"] for row in reader.rows])
    return read(text, said="column 2 is not used", options=("--columns", "0,1"))


def data_in_braces_without_columns(reader):
    """the data of networkx's edges: --columns is advised"""
    case = data_in_braces(reader)
    return case if isinstance(case, str) else refuse(case.data, "3 columns; an edge has two.*--columns")


def format_of(name, text):
    def rule(reader):
        if not reader.is_table:
            return NOT_A_TABLE
        return refuse(text, name, options=("--ids", "text") if reader.kind == "edges" else ())
    rule.__name__, rule.__doc__ = f"format_{name}", f"{name} is named"
    return rule


def adjacency(reader):
    """an adjacency list is no list of edges"""
    if reader.kind != "edges" or not reader.is_table or reader.header is not None:
        return "it is no list of edges, or has a header"
    return refuse("0 1 2 3\n1 2\n2 3\n3 0 1\n", "adjacency|columns")


def metis_ring(reader):
    """a METIS graph of a ring is no list of edges"""
    if reader.kind != "edges" or reader.fields != "numbers" or not reader.is_table or reader.header is not None:
        return "it is no list of edges, or has a header"
    return refuse("4 4\n2 4\n1 3\n2 4\n1 3\n", "METIS|columns|count from 1")


def two_kinds(reader):
    """columns of two kinds of nodes: equal ids are said to be one node"""
    if reader.name not in ("edges of numbers", "edges of numbers, tabs"):
        return "it is no table of numbers in two columns"
    return read(reader.text(header=["user_id", "item_id"]), said="equal ids in 'user_id' and 'item_id' are one node")


def comments_alone(reader):
    """a file of comments alone is no empty file without a word"""
    if reader.kind != "edges" or not reader.is_table:
        return "it needs a row"
    return read("#a,#b\n#b,#c\n", said="'#a,#b' is the first of 2 comments", holds=bool) if reader.name.endswith(
        "arrays") else refuse("#a,#b\n#b,#c\n", "no edge")


def count_from_one(reader):
    """ids that probably count from 1 beside rows from 0: said"""
    if reader.name != "edges beside arrays":
        return "it has no rows that count from 0"
    return read("1,2\n2,3\n", said="no edge has node 0.*count from 1", holds=bool)


def beyond_the_last(reader):
    """the number of nodes as an id: a hint"""
    if reader.name != "edges beside arrays":
        return "it has no rows that count from 0"
    return refuse("1,2\n3,4\n", "node 4, the graph has 4.*count from 1")


def twice(reader):
    """an id that has two rows is refused; a repeated edge is counted"""
    text = reader.text(rows=reader.rows + reader.rows[:1])
    if reader.kind == "edges" and reader.is_table:
        return read(text, said="1 repeated entries")
    if reader.kind in ("nodes", "ids") or reader.name in ("WordNet", "Matrix Market", "names of classes"):
        return refuse(text, "")
    return "a line is a row, or the number of rows is known"


def late_word(reader):
    """a word where all else are numbers is refused"""
    if reader.fields == "names" or (reader.fields == "text" and not reader.name.startswith("features")):
        return "it may be any text"
    if reader.name.startswith("labels"):
        return "labels may be words, and others ids"
    return refuse(rows_with(reader, -1, -1 if reader.name.startswith("features") else 0, "word"), "")


def of_labels(doc, labels, said, *options, **more):
    def rule(reader):
        if not reader.name.startswith("labels"):
            return "it has no labels that are words"
        rows = [[*row[:-1], label] for row, label in zip(reader.rows, labels)]
        return read(reader.text(rows=rows), said=said, options=options, holds=more.get("holds", bool))
    rule.__name__, rule.__doc__ = f"labels_{'_'.join(labels)}", doc
    return rule


def in_quotes(reader):
    """fields may be in quotes"""
    if not reader.is_table:
        return NOT_A_TABLE
    header = None if reader.header is None else reader.header
    return read(reader.text(header=header, rows=[[f'"{field}"' for field in row] for row in reader.rows]))


def open_quote(reader):
    """a quote without an end is refused"""
    if reader.fields == "names":
        return NAMES
    return refuse(rows_with(reader, 1 if len(reader.rows) > 1 else 0, 0, '"1'), "quoted" if reader.is_table else "")


GML = "graph [\n  directed 0\n  node [\n    id 0\n  ]\n  edge [\n    source 0\n    target 0\n  ]\n]\n"
PAJEK = "*Vertices 3\n1 \"a\"\n*Edges\n1 2\n"
TGF = "1 10\n2 20\n#\n1 2\n"
XML = '<?xml version="1.0"?>\n<graphml>\n<graph/>\n</graphml>\n'
RULES = [
    mark_in_front, mark_inside, nul, wide_characters, windows_line_ends, old_mac_line_ends, no_last_line_end, long_line,
    packed("bzip2", bz2.compress(b"1,2\n", 1)), packed("Excel", b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml"),
    packed("MATLAB", b"MATLAB 5.0 MAT-file, Platform: GLNXA64\n"),
    comment_in_front, comment_below, sign_of_a_comment, wide_row, narrow_row, short_header, index(""),
    index("Unnamed: 0"), index("__index_level_0__"), counted_index("index"), counted_index("level_0"), index_alone,
    header_of_numbers, index_and_numbers, header_again, blank_line, blank_end,
    missing("NA"), missing("null"), missing("?"), missing(""), missing_in_quotes, columns_in_a_list,
    named_column_in_a_list,
    one_as("1e0", "is read as the number 1", doc="an id with an exponent is said"),
    one_as("01", "is read as the number 1, without the zeros", doc="zeros in front of an id are said"),
    one_as("+1", None, doc="a sign in front of an id is refused"),
    one_as("1.00000000000000000001", None, doc="an id near a whole number is refused"),
    one_as("1.5", None, doc="a fraction is no id"),
    one_as("9007199254740993.0", None, doc="an id that is not exact is refused"),
    text_ids_keep_their_form, number_hint("0~5"), number_hint("1~234~567"), unused_column, values_of_a_matrix,
    data_in_braces, data_in_braces_without_columns, format_of("GML", GML), format_of("GraphML", XML),
    format_of("Pajek", PAJEK), format_of("TGF", TGF), format_of("JSON", '{"nodes": [{"id": 0}]}\n'),
    format_of("DOT", "digraph G {\n  a -> b;\n}\n"), format_of("KONECT", "% bip unweighted\n% 1 1 1\n1 1\n"), adjacency,
    metis_ring, two_kinds, comments_alone, count_from_one, beyond_the_last, twice, late_word, in_quotes, open_quote,
    of_labels("a word for none makes nodes unlabelled by an option", ["cat", "dog", "unknown", "unknown"],
              "'unknown' is no label", "--unlabelled", "unknown",
              holds=lambda content: sorted(map(str, content["labels"].values())) == ["-1", "-1", "cat", "dog"]),
    of_labels("a word that may mean none is said", ["cat", "cat", "dog", "Unknown"], "--unlabelled Unknown"),
    of_labels("classes that differ in letter case alone are said", ["True", "TRUE", "False", "False"],
              "'TRUE' and 'True' are two"),
    of_labels("a class of its own for each node is said", ["ann", "bob", "cid", "dan"], "--label-column"),
]
