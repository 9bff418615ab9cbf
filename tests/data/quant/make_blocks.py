#!/usr/bin/env python3
"""Writes blocks.txt: stored blocks of the GGUF formats with the values that the gguf package reads from them.

  python3 make_blocks.py > blocks.txt      needs: pip install gguf numpy

Lines: `read FORMAT HEX HEX`  stored bytes, float32 values (little endian)
       `write FORMAT HEX HEX` float32 values, the bytes that the package stores for them
"""
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import quants

rng = np.random.default_rng(7)


def halves(count, low, high):
    return rng.uniform(low, high, count).astype(np.float16).view(np.uint8).reshape(count, 2)


def blocks(kind, count):
    elements, size = {T.Q4_0: (32, 18), T.Q4_1: (32, 20), T.Q8_0: (32, 34), T.Q4_K: (256, 144), T.Q6_K: (256, 210)}[kind]
    raw = rng.integers(0, 256, (count, size), dtype=np.uint8)
    if kind == T.Q6_K:
        raw[:, 208:210] = halves(count, -0.02, 0.02)
    else:
        raw[:, 0:2] = halves(count, -0.5, 0.5)
    if kind in (T.Q4_1, T.Q4_K):
        raw[:, 2:4] = halves(count, -0.5, 0.5)
    return raw


for kind in (T.Q4_0, T.Q4_1, T.Q8_0, T.Q4_K, T.Q6_K):
    raw = blocks(kind, 3)
    values = quants.dequantize(raw.reshape(1, -1), kind).astype("<f4")
    print("read", kind.name, raw.tobytes().hex(), values.tobytes().hex())
for kind in (T.Q4_0, T.Q4_1, T.Q8_0):
    values = rng.normal(0, 1, (1, 96)).astype("<f4")
    values[0, 64:] = 0  # a block without scale
    print("write", kind.name, values.tobytes().hex(), quants.quantize(values, kind).tobytes().hex())
