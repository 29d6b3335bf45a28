#!/usr/bin/env python3
"""WordNet 3.0 as a typed graph: synsets of four kinds, the words that name them, pointers as relations.

    synsets.py [--source /usr/share/wordnet] [--seed 0] [--out .]     for salient-prepare typed --schema graph.toml
    synsets.py --plain ...                                            for salient-prepare edges: the same without types

Nodes are numbered by kind: noun 0 is the first line of data.noun that is a synset. Words, in lower case, are the lines
of words.txt. Of two pointers that are each other's reverse, as hypernym and hyponym, the first is a relation;
salient-prepare makes the other. Pointers from word to word are of their synsets. Features of a synset are its gloss: of
the 1,024 most frequent words that are in at most a tenth of all glosses, those that it has, with L2 norm 1. Labels are
the lexicographer files of nouns, such as animal; 60, 20 and 20 % of the nouns are for training, validation and test.

--plain writes edges.csv, x.npz, labels.csv and the split. Its nodes are the synsets alone, nouns first, then verbs,
adjectives and adverbs; its edges, the pointers between them.
"""
import argparse
import array
import collections
import math
import pathlib
import random
import re
import sys
import zipfile

KINDS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
POINTERS = {"!": "antonym", "@": "hypernym", "@i": "instance_of", "#m": "member_of", "#s": "substance_of",
            "#p": "part_of", "=": "attribute", "+": "derivation", ";c": "of_topic", ";r": "of_region", ";u": "of_usage",
            "*": "entails", ">": "causes", "^": "also_see", "$": "verb_group", "&": "similar", "<": "participle_of",
            "\\": "pertains_to"}
MUTUAL = {"antonym", "attribute", "derivation"}  # between two kinds each of them lists it
REVERSES = {"~", "~i", "%m", "%s", "%p", "-c", "-r", "-u"}
CLASSES = ("Tops act animal artifact attribute body cognition communication event feeling food group location motive "
           "object person phenomenon plant possession process quantity relation shape state substance time").split()
FIRST_CLASS = 3  # of the nouns' lexicographer files
WORDS, LARGEST_SHARE = 1024, 0.1
PARTS = {"train": 0.6, "valid": 0.2, "test": 0.2}

Synset = collections.namedtuple("Synset", "offset label words pointers gloss")


def synset_of(line):
    """See the man page wndb(5WN)."""
    fields, _, gloss = line.partition("|")
    fields = fields.split()
    words = 4 + 2 * int(fields[3], 16)
    pointers = fields[words + 1:words + 1 + 4 * int(fields[words])]
    return Synset(int(fields[0]), int(fields[1]), [re.sub(r"\(\w+\)$", "", word).lower() for word in fields[4:words:2]],
                  [(pointers[i], pointers[i + 2], int(pointers[i + 1])) for i in range(0, len(pointers), 4)], gloss)


def read(folder):
    """The synsets of each kind."""
    try:
        return {kind: [synset_of(line) for line in (folder / f"data.{kind}").read_text("latin-1").splitlines()
                       if line[:1].isdigit()] for kind in KINDS}
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is missing; apt-get install --no-install-recommends wordnet-base brings it")


def relations_of(synsets):
    """{(kind, pointer, kind): pairs of numbers}, in the order of the kinds and of POINTERS."""
    kinds = list(KINDS)
    kind_of = {part: kind for kind, part in KINDS.items()}
    numbers = {kind: {synset.offset: number for number, synset in enumerate(of)} for kind, of in synsets.items()}
    found = collections.defaultdict(list)
    for kind, of in synsets.items():
        for number, synset in enumerate(of):
            for symbol, part, offset in synset.pointers:
                other = kind_of[part]
                if symbol in REVERSES or (kind, number) == (other, numbers[other][offset]):
                    continue
                if POINTERS[symbol] in MUTUAL and kinds.index(kind) > kinds.index(other):
                    continue
                found[kind, POINTERS[symbol], other].append((number, numbers[other][offset]))
    names = list(POINTERS.values())
    return dict(sorted(found.items(), key=lambda item: (kinds.index(item[0][0]), names.index(item[0][1]), item[0][2])))


def npy(dtype, code, shape, values):
    header = str({"descr": dtype, "fortran_order": False, "shape": shape}).ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.array(code, values).tobytes()


def write_rows(path, rows, width):
    """As scipy.sparse.save_npz() does. @param rows  the columns of each, ascending"""
    begin = [0]
    for row in rows:
        begin.append(begin[-1] + len(row))
    values = [1 / math.sqrt(len(row)) for row in rows for _ in row]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"format": npy("|S3", "B", (), b"csr"), "shape": npy("<i8", "q", (2,), (len(rows), width)),
                              "indptr": npy("<i8", "q", (len(begin),), begin),
                              "indices": npy("<i4", "i", (begin[-1],), [column for row in rows for column in row]),
                              "data": npy("<f4", "f", (begin[-1],), values)}.items():
            archive.writestr(name + ".npy", content)


def glosses_of(synsets):
    """For each kind the columns of each synset, and how many columns there are."""
    texts = {kind: [set(re.findall("[a-z]{2,}", synset.gloss.lower())) for synset in of]
             for kind, of in synsets.items()}
    counts = collections.Counter(word for of in texts.values() for text in of for word in text)
    most = LARGEST_SHARE * sum(map(len, texts.values()))
    words = sorted((word for word, count in counts.items() if count <= most), key=lambda word: (-counts[word], word))
    column_of = {word: column for column, word in enumerate(words[:WORDS])}
    return {kind: [sorted(column_of[word] for word in text if word in column_of) for text in of]
            for kind, of in texts.items()}, len(column_of)


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


def write_typed(out, synsets, relations, features, width):
    words, names = {}, {kind: [] for kind in KINDS}
    for kind, of in synsets.items():
        for number, synset in enumerate(of):
            names[kind] += [(words.setdefault(word, len(words)), number) for word in dict.fromkeys(synset.words)]
    write_lines(out / "words.txt", words)
    relations = {**relations, **{("word", "names", kind): pairs for kind, pairs in names.items()}}
    schema = ["[nodes]"]
    for kind in KINDS:
        write_rows(out / f"{kind}.npz", features[kind], width)
        schema.append(f'{kind} = {{ features = "{kind}.npz"' + (', labels = "labels.csv"' * (kind == "noun")) + " }")
    schema += [f"word = {{ count = {len(words)} }}", "", "[edges]"]
    for relation, pairs in relations.items():
        write_lines(out / f"{'.'.join(relation)}.csv", (f"{source},{target}" for source, target in pairs))
        schema.append(f'"{":".join(relation)}" = {{ file = "{".".join(relation)}.csv" }}')
    schema += ["", "[split]", 'of = "noun"', *(f'{part} = "{part}.csv"' for part in PARTS)]
    write_lines(out / "graph.toml", schema)
    return f"{len(words)} words, {len(relations)} relations"


def write_plain(out, synsets, relations, features, width):
    first, begin = {}, 0
    for kind, of in synsets.items():
        first[kind], begin = begin, begin + len(of)
    write_lines(out / "edges.csv", (f"{first[kind] + source},{first[other] + target}"
                                    for (kind, _, other), pairs in relations.items() for source, target in pairs))
    write_rows(out / "x.npz", [row for kind in KINDS for row in features[kind]], width)
    return f"{sum(map(len, relations.values()))} pointers"


def write(out, synsets, seed, is_plain):
    out.mkdir(parents=True, exist_ok=True)
    written = (write_plain if is_plain else write_typed)(out, synsets, relations_of(synsets), *glosses_of(synsets))
    nouns = synsets["noun"]
    write_lines(out / "labels.csv", (f"{i},{CLASSES[noun.label - FIRST_CLASS]}" for i, noun in enumerate(nouns)))
    order, begin = list(range(len(nouns))), 0
    random.Random(seed).shuffle(order)
    for part, share in PARTS.items():
        end = len(order) if part == "test" else begin + int(share * len(order))
        write_lines(out / f"{part}.csv", order[begin:end])
        begin = end
    print(", ".join(f"{len(of)} {kind}" for kind, of in synsets.items()) + f", {written}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, default="/usr/share/wordnet")
    parser.add_argument("--out", type=pathlib.Path, default=".")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true")
    wanted = parser.parse_args()
    write(wanted.out, read(wanted.source), wanted.seed, wanted.plain)
