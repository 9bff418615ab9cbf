#!/usr/bin/env python3
"""Writes the tiny files of this folder that show one format each: every quantised type of GGUF, a split GGUF, arrays
of NumPy, safetensors of 8-bit floats, a GGUF adapter. The outputs are committed; run it again only to change them.

  pip install gguf==0.19.0 safetensors==0.8.0 numpy ml_dtypes torch
  make_formats.py tests/data/io
"""
import pathlib
import sys

import gguf
import ml_dtypes
import numpy as np
import torch
from safetensors.torch import save_file

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4",
         "BF16", "F16", "F32"]


def ramp(*shape, dtype=np.float32, start=0):
    return (np.arange(int(np.prod(shape))) + start).reshape(shape).astype(dtype)


def finish(w):
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_types():
    """Two rows of 256 elements of each type: bytes that count, by gguf-py's own block sizes."""
    w = gguf.GGUFWriter(OUT / "tiny_types.gguf", "llama")
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        block, size = gguf.GGML_QUANT_SIZES[kind]
        row = 256 // block * size
        w.add_tensor(name, (np.arange(2 * row) % 251).astype(np.uint8).reshape(2, row), raw_dtype=kind)
    finish(w)


def write_split():
    """Three pieces: five tensors, two a piece."""
    folder = OUT / "tiny_split"
    folder.mkdir(exist_ok=True)
    w = gguf.GGUFWriter(folder / "tiny.gguf", "llama", split_max_tensors=2)
    w.add_name("Split")
    for i in range(5):
        w.add_tensor(f"blk.{i}.weight", ramp(2, 8, start=10 * i))
    finish(w)


def write_arrays():
    folder = OUT / "arrays"
    folder.mkdir(exist_ok=True)
    np.save(folder / "table.npy", ramp(3, 4))
    np.save(folder / "ids.npy", ramp(5, dtype=np.int64))
    np.save(folder / "bf16.npy", ramp(3, dtype=ml_dtypes.bfloat16))
    np.save(folder / "columns.npy", np.asfortranarray(ramp(3, 4)))
    np.save(folder / "column.npy", np.asfortranarray(ramp(4, 1, dtype=np.float16)))
    np.save(folder / "doubles.npy", ramp(2, dtype=np.float64))
    np.save(folder / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    np.save(folder / "big_endian.npy", ramp(2, dtype=">f4"))
    with open(folder / "version_3.npy", "wb") as file:
        np.lib.format.write_array(file, ramp(2, 2), version=(3, 0))
    np.savez(folder / "several.npz", a=ramp(2), b=ramp(2, 3, start=5))
    np.savez_compressed(folder / "compressed.npz", a=ramp(2))


def write_floats():
    save_file({"e4m3": torch.arange(4).to(torch.float8_e4m3fn), "e5m2": torch.arange(4).to(torch.float8_e5m2),
               "scaled.weight": torch.arange(4).to(torch.float8_e4m3fn), "scaled.weight_scale": torch.tensor(0.5),
               "double": torch.arange(2).double(), "short": torch.arange(2).short(),
               "byte": torch.arange(2).to(torch.uint8), "flag": torch.tensor([True])}, OUT / "tiny_f8.safetensors")


def write_adapter():
    """A GGUF adapter of rank 1, by the keys and names of convert_lora_to_gguf."""
    w = gguf.GGUFWriter(OUT / "tiny_adapter.gguf", "llama")
    w.add_type(gguf.GGUFType.ADAPTER)
    w.add_string("adapter.type", "lora")
    w.add_float32("adapter.lora.alpha", 4.0)
    w.add_tensor("blk.0.attn_q.weight.lora_a", ramp(1, 4))
    w.add_tensor("blk.0.attn_q.weight.lora_b", ramp(8, 1))
    finish(w)


write_types()
write_adapter()
write_split()
write_arrays()
write_floats()
