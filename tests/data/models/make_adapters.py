#!/usr/bin/env python3
"""Writes a LoRA adapter with seeded random weights for some of the decoders here, and what peft computes with it:

  NAME/adapter/adapter_config.json, adapter_model.safetensors   as peft saves them
  NAME/adapter/expected.json                                    as make_models.py writes it, with the adapter in place

The outputs are committed; run it again only to change them, after make_models.py.

  pip install transformers==5.23.0 torch peft==0.21.2
  make_adapters.py tests/data/models [NAME ...]
"""
import json
import pathlib
import sys

import peft
import torch
import transformers

from make_models import expected

# llama: rows of queries and keys that GGUF files keep in another order; gpt2: fused and transposed matrices.
CASES = {
    "llama": dict(r=3, lora_alpha=12, target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                                                      "down_proj"]),
    "gpt2": dict(r=4, lora_alpha=8, fan_in_fan_out=True, target_modules=["c_attn", "c_fc", "mlp.c_proj"]),
    "qwen3": dict(r=4, lora_alpha=2, use_rslora=True, target_modules=["q_proj", "v_proj"],
                  layers_to_transform=[1]),
}


def make(folder, name):
    out = folder / "adapter"
    for seed in range(1, 50):  # a greedy reply whose every choice is clear
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32,
                                                                  attn_implementation="eager")
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **CASES[name])).eval()
        generator = torch.Generator().manual_seed(seed)
        for key, parameter in model.named_parameters():
            if "lora_" in key:
                parameter.data = torch.randn(parameter.shape, generator=generator) * 0.25
        margin, values = expected(model, seed)
        if margin > 0.02:
            break
    else:
        raise SystemExit(f"{name}: no seed gives a clear reply")
    model.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    (out / "adapter_model.safetensors").chmod(0o644)
    config = json.loads((out / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = name
    config["target_modules"].sort()  # peft keeps a set
    (out / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "expected.json").write_text(json.dumps(values) + "\n")
    print(f"{name}: seed {seed}, margin {margin:.3f}, {sum(f.stat().st_size for f in out.iterdir())} bytes")


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for case in sys.argv[2:] or CASES:
        make(root / case, case)
