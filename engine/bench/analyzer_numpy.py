"""Length and vocabulary rarity of packed samples with NumPy, batch by batch: what a Python analyzer's map step computes,
without the files that it writes.

Usage: analyzer_numpy.py TOKENS.bin TOKENS SEQLEN VOCAB. Prints {"seconds": ..., "version": ...}.
"""

import json
import sys
import time

import numpy

BATCH = 64  # samples, whose tokens and logarithms stay in the cache


def batches(tokens, samples, seqlen):
    for first in range(0, samples, BATCH):
        rows = range(first, min(first + BATCH, samples))
        yield numpy.stack([tokens[row * seqlen : row * seqlen + seqlen + 1] for row in rows])


def main():
    path, count, seqlen, vocab = sys.argv[1], *map(int, sys.argv[2:5])
    tokens = numpy.memmap(path, dtype="<u2", mode="r", shape=(count,))
    int(tokens.sum(dtype=numpy.uint64))  # pages are mapped
    samples = (count - 1) // seqlen
    start = time.perf_counter()
    frequency = numpy.zeros(vocab, dtype=numpy.int64)
    for batch in batches(tokens, samples, seqlen):
        frequency += numpy.bincount(batch.ravel(), minlength=vocab)
    frequency[frequency == 0] = 1
    nats = -numpy.log(frequency / frequency.sum())
    rarity, length = [], []
    for batch in batches(tokens, samples, seqlen):
        rarity.append(nats[batch].sum(axis=1).astype(numpy.int64))
        length.append(numpy.full(len(batch), batch.shape[1]))
    numpy.concatenate(rarity), numpy.concatenate(length)
    print(json.dumps({"seconds": time.perf_counter() - start, "version": numpy.__version__}))


main()
