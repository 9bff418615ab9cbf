#!/usr/bin/env python3
"""Writes a tiny decoder of every architecture with seeded random weights, and what transformers computes with it:

  NAME/config.json, NAME/model.safetensors   as transformers saves it
  NAME/model.gguf                            the same weights as llama.cpp's converter writes them, by gguf's name map
  NAME/expected.json                         texts (token ids), the log-probability of each next token, and a greedy
                                             reply with the log-probabilities of its tokens

All in float32 with eager attention. The outputs are committed; run it again only to change them.

  pip install transformers==5.23.0 torch gguf==0.19.0
  make_models.py tests/data/models [NAME ...]
"""
import json
import pathlib
import sys

import torch
import transformers

from gguf_twin import write_gguf

VOCABULARY = 96
SIZES = dict(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=128, tie_word_embeddings=False, bos_token_id=None,
             eos_token_id=None, pad_token_id=None)
TEXT, REPLY, PROMPT = 44, 10, 12  # tokens; longer than any window here, and than a page of the KV cache


def sizes(**own):
    return {**SIZES, **own}


def llama3_scaling(base):
    return dict(rope_type="llama3", rope_theta=base, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                original_max_position_embeddings=32)


def longrope(original):
    return dict(rope_type="longrope", rope_theta=1000.0, original_max_position_embeddings=original,
                short_factor=[1.0, 1.1, 1.3, 2.0], long_factor=[1.0, 2.5, 4.0, 8.0])


# name: (config class, its arguments, dtype that the weights are kept in)
CASES = {
    "llama": ("LlamaConfig", sizes(num_hidden_layers=3, rope_parameters=dict(rope_type="default", rope_theta=500.0)),
              torch.float32),
    "llama3": ("LlamaConfig", sizes(tie_word_embeddings=True, rope_parameters=llama3_scaling(500.0)), torch.bfloat16),
    "llama_linear": ("LlamaConfig", sizes(rope_parameters=dict(rope_type="linear", rope_theta=1000.0, factor=4.0)),
                     torch.float16),
    "llama_yarn": ("LlamaConfig", sizes(head_dim=16, rope_parameters=dict(
        rope_type="yarn", rope_theta=1000.0, factor=4.0, original_max_position_embeddings=64, beta_fast=8.0,
        beta_slow=1.0)), torch.float32),
    "mistral": ("MistralConfig", sizes(head_dim=16, sliding_window=11,
                                       rope_parameters=dict(rope_type="default", rope_theta=10000.0)), torch.float32),
    "qwen2": ("Qwen2Config", sizes(rope_parameters=dict(rope_type="default", rope_theta=1000.0)), torch.bfloat16),
    "qwen3": ("Qwen3Config", sizes(head_dim=16, rope_parameters=dict(rope_type="default", rope_theta=1000.0)),
              torch.float32),
    "mixtral": ("MixtralConfig", sizes(num_local_experts=4, num_experts_per_tok=2, intermediate_size=24,
                                       rope_parameters=dict(rope_type="default", rope_theta=1000.0)), torch.float32),
    "qwen3_moe": ("Qwen3MoeConfig", sizes(head_dim=8, num_experts=5, num_experts_per_tok=3,
                                          moe_intermediate_size=24, norm_topk_prob=True,
                                          rope_parameters=dict(rope_type="default", rope_theta=1000.0)),
                  torch.bfloat16),
    "qwen3_moe_dense": ("Qwen3MoeConfig", sizes(head_dim=8, num_experts=4, num_experts_per_tok=2,
                                                moe_intermediate_size=24, norm_topk_prob=False, mlp_only_layers=[0],
                                                rope_parameters=dict(rope_type="default", rope_theta=1000.0)),
                        torch.float16),
    "gemma2": ("Gemma2Config", sizes(num_hidden_layers=3, head_dim=16, tie_word_embeddings=True, sliding_window=9,
                                     query_pre_attn_scalar=16, attn_logit_softcapping=5.0,
                                     final_logit_softcapping=4.0,
                                     rope_parameters=dict(rope_type="default", rope_theta=1000.0)), torch.float32),
    "gemma3": ("Gemma3TextConfig", sizes(
        num_hidden_layers=7, intermediate_size=40, head_dim=16, num_key_value_heads=1, tie_word_embeddings=True,
        sliding_window=9, query_pre_attn_scalar=16, final_logit_softcapping=None, rope_parameters=dict(
            sliding_attention=dict(rope_type="default", rope_theta=100.0),
            full_attention=dict(rope_type="linear", factor=8.0, rope_theta=2000.0))), torch.bfloat16),
    "phi3": ("Phi3Config", sizes(sliding_window=13, original_max_position_embeddings=128, rope_parameters=dict(
        rope_type="default", rope_theta=1000.0, partial_rotary_factor=0.75)), torch.bfloat16),
    # Contexts up to the original one, and longer ones: the texts here tell the two apart.
    "phi3_short": ("Phi3Config", sizes(max_position_embeddings=64, original_max_position_embeddings=64,
                                       rope_parameters=longrope(64)), torch.bfloat16),
    "phi3_long": ("Phi3Config", sizes(original_max_position_embeddings=8, rope_parameters=longrope(8)),
                  torch.bfloat16),
    "gpt2": ("GPT2Config", dict(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=64,
                                bos_token_id=None, eos_token_id=None), torch.float32),
    "gpt_neox": ("GPTNeoXConfig", dict(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=128, bos_token_id=None, eos_token_id=None,
        rope_parameters=dict(rope_type="default", rope_theta=1000.0, partial_rotary_factor=0.25)), torch.float16),
    "gpt_neox_serial": ("GPTNeoXConfig", dict(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=128, use_parallel_residual=False, bos_token_id=None, eos_token_id=None,
        rope_parameters=dict(rope_type="default", rope_theta=1000.0, partial_rotary_factor=0.5)), torch.bfloat16),
    "smollm3": ("SmolLM3Config", sizes(
        num_hidden_layers=4, no_rope_layer_interval=4, use_sliding_window=False,
        rope_parameters=dict(rope_type="default", rope_theta=1000.0)), torch.bfloat16),
    "olmo2": ("Olmo2Config", sizes(rope_parameters=dict(rope_type="default", rope_theta=1000.0)), torch.float32),
    "granite": ("GraniteConfig", sizes(
        tie_word_embeddings=True, embedding_multiplier=6.0, attention_multiplier=0.2, residual_multiplier=0.6,
        logits_scaling=2.5, rope_parameters=dict(rope_type="default", rope_theta=1000.0)), torch.float32),
    "stablelm": ("StableLmConfig", sizes(use_qkv_bias=True, rope_parameters=dict(
        rope_type="default", rope_theta=1000.0, partial_rotary_factor=0.5)), torch.bfloat16),
    "stablelm_head_norms": ("StableLmConfig", sizes(qk_layernorm=True, use_parallel_residual=True, rope_parameters=dict(
        rope_type="default", rope_theta=1000.0, partial_rotary_factor=0.5)), torch.float16),
    "stablelm_parallel": ("StableLmConfig", sizes(use_parallel_residual=True, rope_parameters=dict(
        rope_type="default", rope_theta=1000.0, partial_rotary_factor=0.25)), torch.bfloat16),
    "mamba": ("MambaConfig", dict(
        vocab_size=VOCABULARY, hidden_size=32, state_size=16, num_hidden_layers=3, conv_kernel=4, expand=2,
        time_step_rank=3, bos_token_id=None, eos_token_id=None, pad_token_id=None), torch.float32),
    "mamba_biased": ("MambaConfig", dict(
        vocab_size=VOCABULARY, hidden_size=24, state_size=5, num_hidden_layers=2, conv_kernel=3, expand=2,
        time_step_rank=2, use_bias=True, use_conv_bias=False, tie_word_embeddings=False, bos_token_id=None,
        eos_token_id=None, pad_token_id=None), torch.bfloat16),
}


def randomise(model, seed):
    """Weights that tell every part: norms around 1, biases, queries and keys that attend sharply."""
    generator = torch.Generator().manual_seed(seed)

    def noise(shape, scale):
        return torch.randn(shape, generator=generator) * scale

    around_zero = "Gemma" in type(model).__name__  # its norms store the difference from 1
    echoes = around_zero or any(
        part in type(model).__name__ for part in ("Granite", "Mamba"))  # scaled embeddings that also are the output
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            if "norm" in name or ".ln_" in name:
                one = 0.0 if around_zero or name.endswith(".bias") else 1.0
                parameter.copy_(one + noise(parameter.shape, 0.3))
            elif name.endswith("dt_proj.bias"):  # small steps in time: the state remembers tens of tokens
                parameter.copy_(-3.0 + noise(parameter.shape, 0.5))
            elif name.endswith("conv1d.weight"):
                parameter.copy_(noise(parameter.shape, 0.7))
            elif parameter.ndim == 1:
                parameter.copy_(noise(parameter.shape, 0.3))
            elif "embed" in name or "wte" in name or "wpe" in name:
                parameter.copy_(noise(parameter.shape, 0.15 if echoes else 0.7))
            else:
                inputs = parameter.shape[0] if "c_" in name else parameter.shape[1]
                sharp = 2.0 if any(part in name for part in ("q_proj", "k_proj", "qkv", "query_key", "c_attn")) else 1.0
                parameter.copy_(noise(parameter.shape, 1.3 * sharp / inputs ** 0.5))


def expected(model, seed):
    generator = torch.Generator().manual_seed(1000 + seed)
    texts = torch.randint(0, VOCABULARY, (2, TEXT), generator=generator)
    with torch.no_grad():
        logprobs = torch.log_softmax(model(texts).logits.double(), dim=-1)
        ids, scores, margin = texts[0, :PROMPT].tolist(), [], 10.0
        for _ in range(REPLY):
            row = torch.log_softmax(model(torch.tensor([ids])).logits[0, -1].double(), dim=-1)
            best = torch.topk(row, 2).values
            margin = min(margin, float(best[0] - best[1]))
            ids.append(int(row.argmax()))
            scores.append(round(float(row.max()), 6))
    next_of = [[round(float(logprobs[t, i, texts[t, i + 1]]), 6) for i in range(TEXT - 1)] for t in range(2)]
    return margin, {"texts": texts.tolist(), "logprobs": next_of,
                    "reply": {"prompt": PROMPT, "ids": ids[PROMPT:], "logprobs": scores}}


def make(folder, name):
    config_class, arguments, dtype = CASES[name]
    config = getattr(transformers, config_class)(**arguments)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    for seed in range(1, 50):  # a greedy reply whose every choice is clear
        randomise(model, seed)
        for parameter in model.parameters():  # not the frequencies, which stay float32
            parameter.data = parameter.data.to(dtype).to(torch.float32)
        margin, values = expected(model, seed)
        if margin > 0.02:
            break
    else:
        raise SystemExit(f"{name}: no seed gives a clear reply")
    state = {n: t.clone() for n, t in model.state_dict().items()}
    model.to(dtype).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    (folder / "model.safetensors").chmod(0o644)
    (folder / "expected.json").write_text(json.dumps(values) + "\n")
    if not getattr(config, "mlp_only_layers", None):  # GGUF has no names for an MLP among mixtures
        write_gguf(folder / "model.gguf", config, state, dtype)
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{name}: seed {seed}, margin {margin:.3f}, {size} bytes")


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name in sys.argv[2:] or CASES:
        (out / name).mkdir(parents=True, exist_ok=True)
        make(out / name, name)
