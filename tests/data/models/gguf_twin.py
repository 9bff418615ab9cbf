"""The GGUF file that llama.cpp's converter makes of a model: its names by gguf's own map, its keys and the changes to
tensors as convert_hf_to_gguf.py does them for each architecture."""
import math

import gguf
import torch

ARCHITECTURES = {"mistral": "llama", "gemma3_text": "gemma3"}
PERMUTED = {"llama", "smollm3", "granite"}  # rows of query and key lie in pairs


def permute(weight, heads):
    """From halves that rotate to neighbours that do."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def llama3_factors(rope, dims):
    """The frequencies' divisors of llama3 scaling, as tensor rope_freqs."""
    factors = []
    low, high, context = rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"]
    for i in range(0, dims, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / dims)
        if wavelength < context / high:
            factors.append(1.0)
        elif wavelength > context / low:
            factors.append(rope["factor"])
        else:
            smooth = (context / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return torch.tensor(factors)


def write_rope(writer, config, head_dim):
    rope = config.rope_parameters
    if "full_attention" in rope:
        writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        rope = rope["full_attention"]
    writer.add_rope_freq_base(rope["rope_theta"])
    dims = int(head_dim * rope.get("partial_rotary_factor", 1.0))
    writer.add_rope_dimension_count(dims)
    if rope["rope_type"] in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
        writer.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
    return {"rope_freqs.weight": llama3_factors(rope, dims)} if rope["rope_type"] == "llama3" else {}


def write_sizes(writer, config, head_dim):
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(getattr(config, "num_key_value_heads", config.num_attention_heads))
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_vocab_size(config.vocab_size)
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    if getattr(config, "attn_logit_softcapping", None) and config.model_type == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)


def converted(config, name, tensor):
    """The tensors that one tensor of the folder becomes, still under the folder's names."""
    architecture = ARCHITECTURES.get(config.model_type, config.model_type)
    if architecture in PERMUTED and ".q_proj." in name:
        tensor = permute(tensor, config.num_attention_heads)
    if architecture in PERMUTED and ".k_proj." in name:
        tensor = permute(tensor, config.num_key_value_heads)
    if architecture.startswith("gemma") and name.endswith("norm.weight"):
        tensor = tensor + 1
    return {name: tensor}


def add_tensor(writer, name, values, dtype):
    """Vectors and norms in float32, matrices as the folder has them."""
    kind = {torch.float16: gguf.GGMLQuantizationType.F16, torch.bfloat16: gguf.GGMLQuantizationType.BF16}.get(dtype)
    if kind is None or values.ndim < 2 or "_norm" in name:
        writer.add_tensor(name, values)
    else:
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)


def write_gguf(path, config, state, dtype):
    architecture = ARCHITECTURES.get(config.model_type, config.model_type)
    kind = next(a for a, n in gguf.MODEL_ARCH_NAMES.items() if n == architecture)
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(f"tiny {config.model_type}")
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    write_sizes(writer, config, head_dim)
    tensors = write_rope(writer, config, head_dim) if hasattr(config, "rope_parameters") else {}
    for name, tensor in state.items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        for own, value in converted(config, name, tensor).items():
            tensors[names.get_name(own, try_suffixes=(".weight", ".bias"))] = value
    for name, tensor in tensors.items():
        assert name, f"{path}: a tensor has no name in GGUF"
        add_tensor(writer, name, tensor.float().contiguous().numpy(), dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
