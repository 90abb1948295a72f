#!/usr/bin/env python3
"""BERT's basic tokenization by Python's own Unicode: python3 basic_tokenizer.py CASES

CASES has {"text", "lower", "words"} a line. Exit 0: equal; 1: not, explained on standard output; 77: another Unicode
version.
"""
import json
import pathlib
import sys
import unicodedata

CJK = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
       (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]


def seen(character):
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category in ("Cc", "Cf") or character == "\ufffd":
        return ""
    if category == "Zs":
        return " "
    ideograph = any(first <= ord(character) <= last for first, last in CJK)
    return f" {character} " if ideograph else character


def is_punctuation(character):
    ascii_symbol = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_symbol or unicodedata.category(character).startswith("P")


def fold(word):
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")


def words(text, lower):
    for word in "".join(map(seen, text)).split():
        if lower:
            word = fold(word)
        yield from "".join(f" {c} " if is_punctuation(c) else c for c in word).split()


def main():
    if unicodedata.unidata_version != "14.0.0":
        return 77
    count = 0
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="ascii").splitlines():
        case = json.loads(line)
        count += 1
        expected = list(words(case["text"], case["lower"]))
        if expected != case["words"]:
            print(f"{case['text']!r}: {case['words']}, not {expected}")
            return 1
    return 0 if count else 1


sys.exit(main())
