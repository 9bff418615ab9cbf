// How Hugging Face folders and GGUF files name the tensors that a LoRA adapter changes.
#pragma once

#include <string>
#include <string_view>

namespace orrery::io {

/// A folder's name in GGUF files: "model.layers.0.self_attn.q_proj.weight" -> "blk.0.attn_q.weight". As it is
/// when it has no counterpart.
std::string gguf_name_of(const std::string& name);

/// A GGUF file's name in folders of this architecture (config.json's model_type).
std::string folder_name_of(const std::string& gguf_name, std::string_view architecture);

/// Whether two names, each of either kind, may mean the same tensor. An encoder's prefix, and that of a
/// decoder around its layers, may be there or not.
bool may_be_same_tensor(std::string_view a, std::string_view b);

}  // namespace orrery::io
