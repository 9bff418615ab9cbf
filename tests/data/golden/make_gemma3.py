#!/usr/bin/env python3
"""Writes gemma3.json: what transformers makes of texts with the weights of a Gemma 3 GGUF file, in float32 on the CPU.

    make_gemma3.py gemma-3-270m-q4_k_m.gguf

Needs torch, transformers, gguf and sentencepiece. transformers dequantises the tensors and takes the 1 off the norm
weights that GGUF adds; both are checked here against the file. The ids are sentencepiece's, after the file's BOS.
"""
import json
import pathlib
import sys

import torch
from gguf import GGUFReader, dequantize
from transformers import AutoModelForCausalLM

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tokenizers"))
from make_gemma import processor_of  # noqa: E402

BOS = 2
CHECKED = {"token_embd.weight": ("model.embed_tokens.weight", 0), "output_norm.weight": ("model.norm.weight", 1),
           "blk.0.attn_q_norm.weight": ("model.layers.0.self_attn.q_norm.weight", 1),
           "blk.17.post_ffw_norm.weight": ("model.layers.17.post_feedforward_layernorm.weight", 1),
           "blk.5.attn_q.weight": ("model.layers.5.self_attn.q_proj.weight", 0),
           "blk.17.ffn_down.weight": ("model.layers.17.mlp.down_proj.weight", 0)}


def check(model, path):
    """The weights that run are those of the file, and the layers are those of Gemma 3."""
    weights = model.state_dict()
    for tensor in GGUFReader(path).tensors:
        if tensor.name in CHECKED:
            name, offset = CHECKED[tensor.name]
            read = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type)) - offset
            assert torch.equal(read, weights[name]), tensor.name
    config = model.config
    assert [i for i, kind in enumerate(config.layer_types) if kind == "full_attention"] == [5, 11, 17]
    assert config.sliding_window == 512 and config.query_pre_attn_scalar == config.head_dim == 256
    assert config.rope_parameters["full_attention"]["rope_theta"] == 1e6
    assert config.rope_parameters["sliding_attention"]["rope_theta"] == 1e4


@torch.no_grad()
def perplexity(model, ids):
    logprobs = model(torch.tensor([ids])).logits[0, :-1].double().log_softmax(-1)
    return -float(logprobs.gather(1, torch.tensor(ids)[1:, None]).mean())


@torch.no_grad()
def greedy(model, ids, count=24):
    """The likeliest continuation, and by how much each token leads the second."""
    made, margins, past, last = [], [], None, ids
    for _ in range(count):
        step = model(torch.tensor([last]), past_key_values=past, use_cache=True)
        past = step.past_key_values
        values, best = step.logits[0, -1].log_softmax(-1).topk(2)
        made.append(int(best[0]))
        margins.append(round(float(values[0] - values[1]), 5))
        last = made[-1:]
    return {"ids": made, "margins": margins}


def main():
    path = pathlib.Path(sys.argv[1])
    processor = processor_of(path)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    check(model, path)
    texts = json.loads((HERE / "texts.json").read_text())
    encode = lambda text: [BOS] + processor.encode(text)
    result = {"perplexity": [], "greedy": []}
    for text in texts["perplexity"] + [(HERE / "long_text.txt").read_text()]:
        ids = encode(text)
        result["perplexity"].append({"text": text, "tokens": len(ids), "nll_per_token": round(perplexity(model, ids), 5)})
    for text in texts["complete"]:
        result["greedy"].append({"text": text} | greedy(model, encode(text)))
        result["greedy"][-1]["decoded"] = processor.decode(result["greedy"][-1]["ids"])
    (HERE / "gemma3.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n")


main()
