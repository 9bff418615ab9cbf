#!/usr/bin/env python3
"""Writes a LoRA adapter with seeded random weights for an encoder here, its classifier replaced as a whole, and what peft
computes with it:

  NAME/adapter/adapter_config.json, adapter_model.safetensors   as peft saves them
  NAME/adapter/expected.json                                    as make_encoders.py writes it, with the adapter in place

The outputs are committed; run it again only to change them, after make_encoders.py. It also goes on NAME_gguf.
Made with transformers 5.23, peft 0.21:  python3 make_adapters.py
"""
import json
from pathlib import Path

import peft
import torch
import transformers

from make_encoders import numbers, run, texts

HERE = Path(__file__).parent
NAME, SEED = "bert_texts", 300
LORA = dict(r=3, lora_alpha=6, task_type="SEQ_CLS", modules_to_save=["classifier"],
            target_modules=["query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense"])

model = transformers.AutoModelForSequenceClassification.from_pretrained(HERE / NAME, attn_implementation="eager")
model = peft.get_peft_model(model, peft.LoraConfig(**LORA)).eval()
generator = torch.Generator().manual_seed(SEED)
for key, parameter in model.named_parameters():
    if "lora_" in key or "modules_to_save" in key:
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.25
out = HERE / NAME / "adapter"
model.save_pretrained(out)
(out / "README.md").unlink(missing_ok=True)
(out / "adapter_model.safetensors").chmod(0o644)
config = json.loads((out / "adapter_config.json").read_text())
config["base_model_name_or_path"] = NAME
config["target_modules"].sort()  # peft keeps a set
(out / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
tokens = texts(SEED)
outputs = [numbers(run(model, text, [], None, False)) for text in tokens]
(out / "expected.json").write_text(json.dumps(dict(tokens=tokens, types=[[] for _ in tokens], outputs=outputs)) + "\n")
