#!/usr/bin/env python3
"""Writes the tiny PyTorch files of this folder with torch.save itself. The outputs are committed; run it again only to
change them (keys of storages in the older format are addresses, so they differ from run to run).

  pip install torch==2.15.0
  make_pytorch.py tests/data/io
"""
import collections
import json
import pathlib
import sys

import torch

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)


def ramp(*shape, dtype=torch.float32, start=0):
    return (torch.arange(torch.Size(shape).numel()) + start).reshape(shape).to(dtype)


def every_kind():
    """A checkpoint: all that tensors can be in a state dict, between things that are none."""
    table = ramp(6, 4)
    state = collections.OrderedDict({
        "embed.weight": table,
        "head.weight": table,                           # tied: the same storage
        "tail.weight": table[4:],                       # a view that begins inside its storage
        "parameter": torch.nn.Parameter(ramp(3, start=1)),
        "half": ramp(2, 4, dtype=torch.float16),
        "bhalf": ramp(5, dtype=torch.bfloat16),
        "bytes": ramp(3, dtype=torch.int8, start=-1),
        "ints": ramp(2, dtype=torch.int32),
        "ids": ramp(1, 2, dtype=torch.int64),
        "doubles": ramp(2, dtype=torch.float64),
        "mask": torch.tensor([True, False]),
        "scalar": torch.tensor(7.0),
        "empty": torch.zeros(0, 3),
        "column": ramp(4, 1).t().contiguous().t(),      # strides of a dim of one element say nothing
    })
    state._metadata = {"": {"version": 1}}
    return {"epoch": 3, "loss": 0.25, "name": "tiny", "done": None, "big": 1 << 40, "state_dict": state,
            "optimizer": {"param_groups": [{"lr": 1e-3, "params": [0, 1]}]}}


def write_folder():
    folder = OUT / "tiny_pytorch"
    folder.mkdir(exist_ok=True)
    torch.save({"a.weight": ramp(2, 2)}, folder / "pytorch_model-00001-of-00002.bin")
    torch.save({"b.weight": ramp(2, 3, start=10)}, folder / "pytorch_model-00002-of-00002.bin")
    names = {"a.weight": "pytorch_model-00001-of-00002.bin", "b.weight": "pytorch_model-00002-of-00002.bin"}
    (folder / "pytorch_model.bin.index.json").write_text(
        json.dumps({"metadata": {"total_size": 40}, "weight_map": names}) + "\n")
    (folder / "config.json").write_text('{"model_type": "llama"}\n')


torch.save(every_kind(), OUT / "tiny.pt")
torch.save(every_kind(), OUT / "tiny_legacy.pt", _use_new_zipfile_serialization=False)
torch.save({"f8": ramp(4, dtype=torch.float8_e4m3fn), "u16": ramp(3, dtype=torch.uint16)}, OUT / "tiny_v3.pt")
write_folder()
