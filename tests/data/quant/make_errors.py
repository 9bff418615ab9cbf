#!/usr/bin/env python3
"""Writes errors.txt: how far stored rows are from what was stored, as llama.cpp's own quantisers make them without an
importance matrix. A quantiser of ours must not be worse.

  python3 make_errors.py LIBRARY > errors.txt      needs: pip install gguf numpy, and a shared library with llama.cpp's
                                                   ggml_quantize_chunk (that of the package xllamacpp has it)

Lines: FORMAT ROWS sum((w - x)^2) / sum(x^2), over the rows that quantise_test.cpp makes: 64 of 1024 numbers each, from
the 32-bit linear congruence x = 1664525 x + 1013904223 that begins at 1; u = x / 2^32.
  normal  0.03 (u1 + ... + u12 - 6)      heavy  0.03 (u1 + ... + u12 - 6)^3      shifted  0.03 (u1 + u2 - 1) + 0.02
"""
import ctypes
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as T, quants

ROWS, COLS = 64, 1024


def uniform(count):
    values, x = np.empty(count), 1
    for i in range(count):
        x = (1664525 * x + 1013904223) & 0xFFFFFFFF
        values[i] = x / 2**32
    return values


def rows_of(kind):
    count = ROWS * COLS
    if kind == "shifted":
        return (0.03 * (uniform(2 * count).reshape(-1, 2).sum(1) - 1) + 0.02).astype("<f4")
    bell = uniform(12 * count).reshape(-1, 12).sum(1) - 6
    return (0.03 * (bell if kind == "normal" else bell**3)).astype("<f4")


def main():
    quantise = ctypes.CDLL(sys.argv[1]).ggml_quantize_chunk
    quantise.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p] + 3 * [ctypes.c_int64] + [ctypes.c_void_p]
    for rows in ("normal", "heavy", "shifted"):
        x = rows_of(rows)
        for kind in (T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0, T.Q2_K, T.Q3_K, T.Q4_K, T.Q5_K, T.Q6_K):
            elements, size = GGML_QUANT_SIZES[kind]
            stored = np.zeros(x.size // elements * size, dtype=np.uint8)
            quantise(int(kind), x.ctypes.data, stored.ctypes.data, 0, ROWS, COLS, None)
            error = (quants.dequantize(stored, kind).astype(np.float64) - x) ** 2
            print(kind.name, rows, f"{error.sum() / (x.astype(np.float64) ** 2).sum():.6g}")


main()
