#!/usr/bin/env python3
"""Compares with Hugging Face's `tokenizers`. Exit 0: equal; 1: not, see standard output; 77: it is not installed.

huggingface_tokenizers.py encode FOLDER CASES   vocab.json, merges.txt and tokenizer.json against {"text", "ids"} a line
huggingface_tokenizers.py train TEXT FOLDER     learns from TEXT, one document, and compares merges with FOLDER's
huggingface_tokenizers.py wordpiece FOLDER CASES   vocab.txt against {"text", "lower", "ids", "decoded"} a line
"""
import json
import pathlib
import sys
import unicodedata

try:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError:
    sys.exit(77)


def byte_level(model):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def check_encoding(folder, cases):
    readers = [byte_level(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))]
    if (folder / "tokenizer.json").exists():
        readers.append(Tokenizer.from_file(str(folder / "tokenizer.json")))
    count = 0
    for line in cases.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        count += 1
        for reader in readers:
            found = reader.encode(case["text"]).ids
            if found != case["ids"]:
                print(f"{case['text']!r}: {found}, not {case['ids']}")
                return 1
    return 0 if count else 1


def check_training(text, folder):
    size = len(json.loads((folder / "vocab.json").read_text(encoding="utf-8")))
    tokenizer = byte_level(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|endoftext|>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([text.read_bytes().decode("utf-8")], trainer)
    theirs = [pair if isinstance(pair, str) else " ".join(pair)
              for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    ours = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")[1:-1]
    for rank, (one, other) in enumerate(zip(ours, theirs)):
        if one != other:
            print(f"merge {rank}: {one!r}, not {other!r}")
            return 1
    if len(ours) != len(theirs):
        print(f"{len(ours)} merges, not {len(theirs)}")
        return 1
    return 0


def wordpiece(folder, lower):
    tokenizer = Tokenizer(models.WordPiece.from_file(str(folder / "vocab.txt"), unk_token="[UNK]",
                                                     max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    return tokenizer


def is_old(character):
    """Unchanged since Unicode 3.2: the package's tables are older than ours."""
    return unicodedata.category(character) == unicodedata.ucd_3_2_0.category(character)


def check_wordpiece(folder, cases):
    readers = {lower: wordpiece(folder, lower) for lower in (False, True)}
    count = 0
    for line in cases.read_text(encoding="ascii").splitlines():
        case = json.loads(line)
        if not all(map(is_old, case["text"])):
            continue
        count += 1
        reader = readers[case["lower"]]
        found = reader.encode(case["text"]).ids
        if found != case["ids"]:
            print(f"{case['text']!r}: {found}, not {case['ids']}")
            return 1
        if (decoded := reader.decode(found)) != case["decoded"]:
            print(f"{found}: {decoded!r}, not {case['decoded']!r}")
            return 1
    print(f"{count} texts of old characters")
    return 0 if count >= 500 else 1


def main():
    command, first, second = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    return {"encode": check_encoding, "train": check_training, "wordpiece": check_wordpiece}[command](first, second)


sys.exit(main())
