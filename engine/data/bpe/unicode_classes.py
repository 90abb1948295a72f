#!/usr/bin/env python3
"""Writes unicode_ranges.inc: python3 unicode_classes.py > unicode_ranges.h

The class of a character decides how text splits into pieces, so the table is pinned: only a Python whose
unicodedata is of that version (3.11 has it) may write it.
"""
import sys
import unicodedata

UNICODE = "14.0.0"
# White_Space of PropList.txt, which unicodedata lacks.
SPACES = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def character_class(code_point):
    if code_point in SPACES:
        return "space"
    return {"L": "letter", "N": "number"}.get(unicodedata.category(chr(code_point))[0], "other")


def ranges():
    first, current = 0, character_class(0)
    for code_point in range(1, sys.maxunicode + 2):
        following = character_class(code_point) if code_point <= sys.maxunicode else None
        if following != current:
            if current != "other":
                yield first, code_point - 1, current
            first, current = code_point, following


def main():
    if unicodedata.unidata_version != UNICODE:
        sys.exit(f"this Python knows Unicode {unicodedata.unidata_version}; the table is of {UNICODE}")
    rows = [f"{{0x{first:X}, 0x{last:X}, CharacterClass::{name}}}," for first, last, name in ranges()]
    print("// Written by unicode_classes.py. (first, last, class), both ends included; what is not here is other.")
    line = ""
    for row in rows:
        if len(line) + 1 + len(row) > 120:
            print(line)
            line = ""
        line += (" " if line else "") + row
    print(line)


main()
