// What stands beside the weights in a Hugging Face folder: config.json, the tokenizer's files,
// sentence-transformers.
#pragma once

#include "engine/io/model_file.h"

namespace orrery::io {

/// A JSON file flattened; a missing file is not_found. Files of more than 64 MB are refused.
Result<Metadata> read_json_file(const std::filesystem::path& path);

/// Fills metadata, architecture, tokenizer_json and chat_template from what is in `folder`; what is missing
/// stays empty.
///   config.json                   -> its keys                     generation_config.json ->
///   "generation_config." + key tokenizer_config.json         -> "tokenizer_config." + key (the long table of
///   added tokens left out) chat_template.jinja, or chat_template in tokenizer_config.json or
///   chat_template.json -> chat_template modules.json, N_Pooling/config.json, sentence_bert_config.json ->
///   the "sentence_transformers." keys of model_file.h
Result<void> read_hugging_face_files(const std::filesystem::path& folder, ModelFile& file);

/// Whether the folder keeps a tokenizer in files of the kinds that stood before tokenizer.json.
bool has_tokenizer_files(const std::filesystem::path& folder);

/// Adds the factors of rotary positions, which config.json holds as lists ("rope_scaling.long_factor"), as
/// the tensors that GGUF has for them: "rope_factors_long.weight", "rope_factors_short.weight".
void add_rope_factors(ModelFile& file);

}  // namespace orrery::io
