#!/usr/bin/env python3
"""Writes the .inc files beside it: python3 unicode_tables.py

What BERT's tokenizer asks of Unicode: general categories, lower case, canonical decomposition. The tables decide ids,
so they are pinned: only a Python whose unicodedata is of that version (3.11 has it) may write them.
"""
import pathlib
import sys
import unicodedata

UNICODE = "14.0.0"
SURROGATES = range(0xD800, 0xE000)
CODE_POINTS = [c for c in range(sys.maxunicode + 1) if c not in SURROGATES]
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)  # decomposed by arithmetic (Unicode 14, section 3.12)
DOTTED_I = 0x130  # the only one whose lower case is two code points; the reader knows


def text_class(c):
    category = unicodedata.category(chr(c))
    names = {"Zs": "space", "Cc": "control", "Cf": "control", "Co": "private_use", "Cn": "unassigned",
             "Mn": "mark"}
    return names.get(category, "punctuation" if category[0] == "P" else None)


def casing(c):
    """The casing class, as the lower case of a capital sigma after the character shows it."""
    if (chr(c) + "\u03a3").lower().endswith("\u03c2"):
        return "cased"
    return "ignorable" if ("A" + chr(c) + "\u03a3").lower().endswith("\u03c2") else None


def ranges(value_of):
    """(first, last, value) of the runs of equal values that are not None nor 0."""
    first, current = 0, value_of(0)
    for c in range(1, sys.maxunicode + 2):
        following = None if c > sys.maxunicode or c in SURROGATES else value_of(c)
        if following != current:
            if current:
                yield first, c - 1, current
            first, current = c, following


def lower_case():
    """(first, last, stride, what is added): every stride-th code point of first .. last."""
    pairs = []
    for c in CODE_POINTS:
        lower = chr(c).lower()
        if len(lower) > 1:
            assert c == DOTTED_I, hex(c)
        elif lower != chr(c):
            pairs.append((c, ord(lower) - c))
    rows = []
    for c, delta in pairs:
        if rows and rows[-1][3] == delta and rows[-1][2] in (0, c - rows[-1][1]) and c - rows[-1][1] <= 2:
            rows[-1] = (rows[-1][0], c, c - rows[-1][1], delta)
        else:
            rows.append((c, c, 0, delta))
    return [(first, last, stride or 1, delta) for first, last, stride, delta in rows]


def decompositions():
    for c in CODE_POINTS:
        parts = unicodedata.normalize("NFD", chr(c))
        if parts != chr(c) and c not in HANGUL_SYLLABLES:
            assert len(parts) <= 4
            yield c, parts


def write(name, about, rows):
    lines, line = [f"// Written by unicode_tables.py: {about}."], ""
    for row in rows:
        if line and len(line) + 1 + len(row) > 120:
            lines.append(line)
            line = ""
        line += (" " if line else "") + row
    text = "\n".join([*lines, line]) + "\n"
    (pathlib.Path(__file__).parent / name).write_text(text, encoding="ascii")


def main():
    if unicodedata.unidata_version != UNICODE:
        sys.exit(f"this Python knows Unicode {unicodedata.unidata_version}; the tables are of {UNICODE}")
    write("text_classes.inc", "(first, last, class), both ends included; what is not here is other",
          (f"{{0x{first:X}, 0x{last:X}, TextClass::{name}}}," for first, last, name in ranges(text_class)))
    write("casing.inc", "(first, last, casing), both ends included; what is not here has none",
          (f"{{0x{first:X}, 0x{last:X}, Casing::{name}}}," for first, last, name in ranges(casing)))
    write("lower_case.inc", "(first, last, stride, what is added to every stride-th code point)",
          (f"{{0x{first:X}, 0x{last:X}, {stride}, {delta}}}," for first, last, stride, delta in lower_case()))
    write("decompositions.inc", "(code point, its canonical decomposition), Hangul syllables left out",
          (f"{{0x{c:X}, {{{', '.join(f'0x{ord(part):X}' for part in parts)}}}}}," for c, parts in decompositions()))
    write("combining_classes.inc", "(first, last, canonical combining class), both ends included; elsewhere 0",
          (f"{{0x{first:X}, 0x{last:X}, {value}}}," for first, last, value
           in ranges(lambda c: unicodedata.combining(chr(c)))))


main()
