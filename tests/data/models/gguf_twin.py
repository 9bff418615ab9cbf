"""The GGUF file that llama.cpp's converter makes of a model: its names by gguf's own map, its keys and the changes to
tensors as convert_hf_to_gguf.py does them for each architecture."""
import math

import gguf
import torch

ARCHITECTURES = {"mistral": "llama", "mixtral": "llama", "qwen3_moe": "qwen3moe", "gemma3_text": "gemma3",
                 "gpt_neox": "gptneox"}
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


def write_longrope(writer, config, rope):
    original = rope["original_max_position_embeddings"]
    scale = config.max_position_embeddings / original
    writer.add_rope_scaling_orig_ctx_len(original)
    writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0)
    return {"rope_factors_long.weight": torch.tensor(rope["long_factor"]),
            "rope_factors_short.weight": torch.tensor(rope["short_factor"])}


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
    if rope["rope_type"] == "longrope":
        return write_longrope(writer, config, rope)
    return {"rope_freqs.weight": llama3_factors(rope, dims)} if rope["rope_type"] == "llama3" else {}


def write_mamba_sizes(writer, config):
    writer.add_context_length(2 ** 20)  # arbitrary, as the converter says
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_ssm_conv_kernel(config.conv_kernel)
    writer.add_ssm_inner_size(config.intermediate_size)
    writer.add_ssm_state_size(config.state_size)
    writer.add_ssm_time_step_rank(config.time_step_rank)
    writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    writer.add_ssm_dt_b_c_rms(False)


def write_sizes(writer, config, head_dim):
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(getattr(config, "intermediate_size", 4 * config.hidden_size))
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(getattr(config, "num_key_value_heads", config.num_attention_heads))
    if getattr(config, "head_dim", None):
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    writer.add_vocab_size(config.vocab_size)
    for eps in ("layer_norm_eps", "layer_norm_epsilon"):
        if hasattr(config, eps):
            writer.add_layer_norm_eps(getattr(config, eps))
    if hasattr(config, "use_parallel_residual"):
        writer.add_parallel_residual(config.use_parallel_residual)
    if config.model_type == "granite":
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    if getattr(config, "attn_logit_softcapping", None) and config.model_type == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)


def write_experts(writer, config):
    experts = getattr(config, "num_local_experts", None) or getattr(config, "num_experts", None)
    if not experts:
        return
    writer.add_expert_count(experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    if config.model_type != "mixtral":
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_weights_norm(config.norm_topk_prob)


def converted(config, name, tensor):
    """The tensors that one tensor of the folder becomes, still under the folder's names."""
    architecture = ARCHITECTURES.get(config.model_type, config.model_type)
    if architecture in PERMUTED and ".q_proj." in name:
        tensor = permute(tensor, config.num_attention_heads)
    if architecture in PERMUTED and ".k_proj." in name:
        tensor = permute(tensor, config.num_key_value_heads)
    if architecture.startswith("gemma") and name.endswith("norm.weight"):
        tensor = tensor + 1
    if architecture == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        tensor = tensor.T
    if architecture == "gptneox" and "query_key_value" in name:  # head by head to all queries, keys, values
        heads = config.num_attention_heads
        tensor = tensor.reshape(heads, 3, -1, *tensor.shape[1:]).swapaxes(0, 1).reshape(tensor.shape)
    if name.endswith(".A_log"):
        tensor = -torch.exp(tensor)
    if name.endswith(".conv1d.weight"):
        tensor = tensor.squeeze(1)
    if name.endswith("experts.gate_up_proj"):  # of all experts, gate above up
        gate, up = tensor.chunk(2, dim=1)
        return {name.replace("gate_up_proj", "gate_proj.weight"): gate, name.replace("gate_up_proj", "up_proj.weight"): up}
    if name.endswith("experts.down_proj"):
        return {name + ".weight": tensor}
    return {name: tensor}


def stack_head_norms(state):
    """The norms of single heads as rows of one tensor, as the converter of StableLM keeps them."""
    stacked = {}
    for name, tensor in state.items():
        place, norms, _ = name.partition(".norms.")
        if norms:
            stacked.setdefault(place + ".weight", []).append(tensor)
        else:
            stacked[name] = tensor
    return {name: torch.stack(t) if isinstance(t, list) else t for name, t in stacked.items()}


def add_tensor(writer, name, values, dtype):
    """Vectors and norms in float32, matrices as the folder has them."""
    kind = {torch.float16: gguf.GGMLQuantizationType.F16, torch.bfloat16: gguf.GGMLQuantizationType.BF16}.get(dtype)
    if kind is None or values.ndim < 2 or "_norm" in name or ".ssm_a" in name or "conv1d" in name:
        writer.add_tensor(name, values)
    else:
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)


def write_gguf(path, config, state, dtype):
    architecture = ARCHITECTURES.get(config.model_type, config.model_type)
    kind = next(a for a, n in gguf.MODEL_ARCH_NAMES.items() if n == architecture)
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(f"tiny {config.model_type}")
    if architecture == "mamba":
        write_mamba_sizes(writer, config)
        head_dim = 0
    else:
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        write_sizes(writer, config, head_dim)
    write_experts(writer, config)
    tensors = write_rope(writer, config, head_dim) if hasattr(config, "rope_parameters") else {}
    for name, tensor in stack_head_norms(state).items():
        if name == "lm_head.weight" and getattr(config, "tie_word_embeddings", False):
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
