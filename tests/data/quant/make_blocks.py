#!/usr/bin/env python3
"""Writes blocks.txt: stored blocks of the GGUF formats with the values that the gguf package reads from them, and
all 256 codes of the 8-bit floats with the values that PyTorch gives them.

  python3 make_blocks.py > blocks.txt      needs: pip install gguf numpy torch

Lines: `read FORMAT HEX HEX`  stored bytes, float32 values (little endian)
       `write FORMAT HEX HEX` float32 values, the bytes that the package stores for them
"""
import numpy as np
import torch
from gguf import GGMLQuantizationType as T
from gguf import GGML_QUANT_SIZES, quants

rng = np.random.default_rng(7)

# Where the float16 numbers d (a small one for k-quants with large scales) and m lie.
HALVES = {
    T.Q4_0: ((0, 0.5),), T.Q4_1: ((0, 0.5), (2, 0.5)), T.Q8_0: ((0, 0.5),), T.Q4_K: ((0, 0.5), (2, 0.5)),
    T.Q6_K: ((208, 0.02),), T.Q5_0: ((0, 0.5),), T.Q5_1: ((0, 0.5), (2, 0.5)), T.Q2_K: ((80, 0.5), (82, 0.5)),
    T.Q3_K: ((108, 0.02),), T.Q5_K: ((0, 0.5), (2, 0.5)), T.IQ4_NL: ((0, 0.02),), T.IQ4_XS: ((0, 0.02),), T.MXFP4: (),
}


def blocks(kind, count):
    raw = rng.integers(0, 256, (count, GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
    for offset, most in HALVES[kind]:
        raw[:, offset : offset + 2] = rng.uniform(-most, most, count).astype(np.float16).view(np.uint8).reshape(count, 2)
    if kind == T.MXFP4:
        raw[:, 0] = (0, 1, 2, 120, 128, 254)
    return raw


for kind in HALVES:
    raw = blocks(kind, 6 if kind == T.MXFP4 else 3)
    values = quants.dequantize(raw.reshape(1, -1), kind).astype("<f4")
    print("read", kind.name, raw.tobytes().hex(), values.tobytes().hex())
codes = torch.arange(256, dtype=torch.uint8)
for name, dtype in (("F8_E4M3", torch.float8_e4m3fn), ("F8_E5M2", torch.float8_e5m2)):
    print("read", name, codes.numpy().tobytes().hex(), codes.view(dtype).float().numpy().astype("<f4").tobytes().hex())
for kind in (T.Q4_0, T.Q4_1, T.Q8_0, T.Q5_0, T.Q5_1):
    values = rng.normal(0, 1, (1, 96)).astype("<f4")
    values[0, 64:] = 0  # a block without scale
    print("write", kind.name, values.tobytes().hex(), quants.quantize(values, kind).tobytes().hex())
