#!/usr/bin/env python3
"""What transformers computes with SmolLM2 after surgery, for tests/engine/api/surgery_test.cpp:

  smollm2.json   for each surgery the edits that do the same, and the 20 likeliest tokens after some texts
  steer.npy      the vector that one of them adds

The weights are those of the GGUF file, dequantised to float32, so that both sides have the same. The outputs are
committed; run it again only to change them.

  pip install transformers==5.23.0 torch gguf==0.19.0
  make_edits.py SmolLM2-135M-Instruct.Q4_1.gguf tests/data/edits
"""
import copy
import json
import pathlib
import sys

import numpy
import torch
import transformers

TEXTS = ["The capital of France is", "Once upon a time, in a village by the sea,", "def fibonacci(n):\n"]
HEAD_DIM = 64


def layers_of(model, order):
    """The decoder passes through these layers, in this order."""
    layers = model.model.layers
    model.model.layers = torch.nn.ModuleList([layers[i] for i in order])
    model.config.num_hidden_layers = len(order)


def delete(model):
    layers_of(model, [i for i in range(30) if i not in (3, 7)])


def repeat(model):
    layers_of(model, [*range(8), *range(4, 30)])


def move(model):
    layers_of(model, [0, 1, 2, 9, *range(3, 9), *range(10, 30)])


def bypass_mlp(model):
    model.model.layers[5].mlp.forward = torch.zeros_like


def zero_head(model):
    model.model.layers[10].self_attn.o_proj.weight[:, 2 * HEAD_DIM:3 * HEAD_DIM] = 0


def scale(model):
    model.model.layers[6].self_attn.o_proj.weight *= 0.9


def steer(model):
    vector = torch.from_numpy(steering_vector())

    def add(layer, arguments, output):
        return (output[0] + 4.0 * vector, *output[1:]) if isinstance(output, tuple) else output + 4.0 * vector

    model.model.layers[12].register_forward_hook(add)


def all_together(model):
    scale(model)
    zero_head(model)
    bypass_mlp(model)
    layers_of(model, [0, 1, 2, 9, 4, 5, 6, 8, *range(10, 30), 29])


def steering_vector():
    return numpy.random.default_rng(7).standard_normal(576).astype(numpy.float32)


# name: (surgery, the edits that do the same)
CASES = {
    "whole": (lambda model: None, []),
    "delete": (delete, ["delete scope=layers.3,layers.7"]),
    "repeat": (repeat, ["repeat scope=layers.4-7 times=2"]),
    "move": (move, ["move scope=layers.9 after=layers.2"]),
    "bypass_mlp": (bypass_mlp, ["bypass scope=layers.5.mlp"]),
    "zero_head": (zero_head, ["zero node=layers.10.attention.sdpa heads=2"]),
    "scale": (scale, ["scale node=layers.6.attention.o_proj factor=0.9"]),
    "steer": (steer, ["steer scope=layers.12 file={data}/steer.npy strength=4"]),
    "all_together": (all_together, [
        "scale node=layers.6.attention.o_proj factor=0.9", "zero node=layers.10.attention.sdpa heads=2",
        "bypass scope=layers.5.mlp", "move scope=layers.9 after=layers.2", "delete scope=layers.3,layers.7",
        "repeat scope=layers.29 times=2"]),
}


def main():
    gguf, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    whole = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32, attn_implementation="eager").eval()
    cases = []
    with torch.no_grad():
        for name, (surgery, edits) in CASES.items():
            model = copy.deepcopy(whole)
            surgery(model)
            logits = []
            for text in TEXTS:
                ids = tokenizer(text, add_special_tokens=False)["input_ids"]
                found = model(torch.tensor([ids]), use_cache=False).logits[0, -1].log_softmax(-1).topk(20)
                logits.append({"text": text, "top_ids": found.indices.tolist(),
                               "top_logprobs": [round(value, 5) for value in found.values.tolist()]})
            cases.append({"name": name, "edits": edits, "logits": logits})
            print(name, [tokenizer.decode(item["top_ids"][:1]) for item in logits])
    numpy.save(out / "steer.npy", steering_vector())
    (out / "smollm2.json").write_text(json.dumps({"cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
