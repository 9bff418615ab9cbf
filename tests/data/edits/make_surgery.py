#!/usr/bin/env python3
"""Writes what transformers computes of SmolLM2 after surgery, in float32 of the dequantised file:

  smollm2.json   for each case its edits, and for each text its tokens, the negative log-likelihood of one, and the
                 likeliest tokens after it
  vector.npy     what "a vector added" adds

  pip install transformers==5.24.0 torch gguf==0.19.0 accelerate
  make_surgery.py ~/.cache/orrery/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf tests/data/edits
"""
import json
import pathlib
import sys

import numpy
import torch
import transformers

import surgery

TEXTS = ["The capital of France is",
         "An orrery is a mechanical model of the solar system. Its arms are driven by a clockwork, so that each planet "
         "goes around the Sun at its own pace; the Moon goes around the Earth meanwhile, and"]
TOP = 20


def answers(model, tokenizer, text):
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logprobs = torch.log_softmax(model(ids, use_cache=False).logits[0].double(), -1)
    top = logprobs[-1].topk(TOP)
    told = logprobs[:-1].gather(1, ids[0, 1:, None])
    return {"text": text, "tokens": ids.shape[1], "nll_per_token": round(-told.mean().item(), 6),
            "top_ids": top.indices.tolist(), "top_logprobs": [round(x, 5) for x in top.values.tolist()]}


def main(file, out):
    transformers.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    cases = []
    for name, edits in surgery.EDITS.items():
        model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name,
                                                                  dtype=torch.float32).eval()
        surgery.operate(model, name, tokenizer)
        cases.append({"name": name, "edits": edits, "texts": [answers(model, tokenizer, text) for text in TEXTS]})
        print(name, [text["nll_per_token"] for text in cases[-1]["texts"]])
    (out / "smollm2.json").write_text(json.dumps({"cases": cases}, indent=1) + "\n")
    numpy.save(out / "vector.npy", surgery.vector(model.config.hidden_size).numpy())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
