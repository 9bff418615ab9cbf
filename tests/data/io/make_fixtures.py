#!/usr/bin/env python3
"""Writes the tiny model files of this folder with the formats' own reference writers, so that the readers are tested
against them and not against themselves. The outputs are committed; run it again only to change them.

  pip install gguf==0.19.0 safetensors==0.8.0 numpy
  make_fixtures.py tests/data/io
"""
import json
import pathlib
import sys

import gguf
import numpy as np
from safetensors.numpy import save_file

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)


def ramp(*shape, dtype=np.float32, start=0):
    return (np.arange(int(np.prod(shape))) + start).reshape(shape).astype(dtype)


def write_gguf():
    w = gguf.GGUFWriter(OUT / "tiny.gguf", "llama")
    w.add_name("Tiny")
    w.add_uint8("test.u8", 200)
    w.add_int8("test.i8", -5)
    w.add_uint16("test.u16", 60000)
    w.add_int16("test.i16", -300)
    w.add_uint32("llama.block_count", 1)
    w.add_int32("test.i32", -70000)
    w.add_float32("test.f32", 0.5)
    w.add_bool("test.bool", True)
    w.add_uint64("test.u64", 1 << 40)
    w.add_int64("test.i64", -(1 << 40))
    w.add_float64("test.f64", 1e300)
    w.add_array("test.ints", [1, -2, 3])
    w.add_array("test.reals", [0.5, 1.5])
    w.add_tokenizer_model("gpt2")
    w.add_token_list(["a", "b", "<|end|>"])
    w.add_token_types([1, 1, 3])
    w.add_chat_template("{{ messages }}")
    w.add_tensor("token_embd.weight", ramp(3, 32))
    w.add_tensor("output_norm.weight", ramp(32, start=100))
    w.add_tensor("half.weight", ramp(2, 4, dtype=np.float16))
    w.add_tensor("blk.0.ffn_up.weight", np.arange(2 * 40, dtype=np.uint8).reshape(2, 40),
                 raw_dtype=gguf.GGMLQuantizationType.Q4_1)  # 2 rows of 64 elements
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_folder():
    folder = OUT / "tiny_hf"
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    save_file({"embeddings.weight": ramp(3, 4), "layer.bias": ramp(4, dtype=np.float16),
               "layer.ids": ramp(1, 2, dtype=np.int64), "scalar": np.full((), 7, np.float32)},
              folder / "model.safetensors", metadata={"format": "pt"})
    files = {
        "config.json": {"model_type": "bert", "hidden_size": 4, "layer_norm_eps": 1e-12, "use_cache": True,
                        "architectures": ["BertModel"], "id2label": {"0": "no", "1": "yes"},
                        "rope_scaling": {"type": "linear", "factor": 2.0}, "torch_dtype": None,
                        "eos_token_id": [1, 2], "mixed": [1, "a"], "head_sizes": [1, 2.5]},
        "tokenizer_config.json": {"do_lower_case": True, "chat_template": [
            {"name": "tool_use", "template": "tools"}, {"name": "default", "template": "{{ bos_token }}"}]},
        "tokenizer.json": {"model": {"type": "WordPiece", "vocab": {"[UNK]": 0}}},
        "generation_config.json": {"eos_token_id": 2},
        "modules.json": [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                         {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}],
        "sentence_bert_config.json": {"max_seq_length": 16, "do_lower_case": False},
        "1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n")


def write_shards():
    folder = OUT / "tiny_sharded"
    folder.mkdir(exist_ok=True)
    save_file({"a.weight": ramp(2, 2)}, folder / "model-00001-of-00002.safetensors")
    save_file({"b.weight": ramp(2, 3, start=10)}, folder / "model-00002-of-00002.safetensors")
    index = {"metadata": {"total_size": 40}, "weight_map": {"a.weight": "model-00001-of-00002.safetensors",
                                                            "b.weight": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index) + "\n")
    (folder / "config.json").write_text('{"model_type": "llama"}\n')


def write_adapter():
    folder = OUT / "tiny_adapter"
    folder.mkdir(exist_ok=True)
    base = "base_model.model.bert."
    save_file({base + "layer.lora_A.weight": ramp(1, 4), base + "layer.lora_B.weight": ramp(3, 1, start=1),
               base + "pooler.modules_to_save.default.bias": ramp(4),
               "base_model.model.classifier.weight": ramp(2, 4)}, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 1, "lora_alpha": 2, "use_rslora": False, "fan_in_fan_out": False}
    (folder / "adapter_config.json").write_text(json.dumps(config) + "\n")
    (folder / "config.json").write_text('{"model_type": "bert", "id2label": {"0": "no", "1": "yes"}}\n')


write_gguf()
write_folder()
write_shards()
write_adapter()
