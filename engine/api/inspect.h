// What a model's headers tell.
#pragma once

#include <optional>

#include "engine/api/library.h"
#include "engine/models/builder.h"

namespace orrery::api {

inline constexpr int64_t kDefaultContext = 8192;

/// The KV dtype of an option: f16, bf16, f32.
Result<DType> parse_kv_type(const std::string& name);

/// The context length that a model runs with: `wanted`, or for 0 its own, at most kDefaultContext.
Result<int64_t> choose_context(int64_t model_context, int64_t wanted);

/// Tokens of one step at most: `wanted`, or for 0 as many as keep the device busy and its scratch small.
Result<int64_t> choose_batch_tokens(int64_t wanted, bool on_card, models::Task task);

/// `built` is null when the file has no weights.
ModelInfo describe(const ModelSource& source, const models::BuiltModel* built, const std::string& tokenizer,
                   int64_t context, DType kv_type, int64_t batch_tokens);

}  // namespace orrery::api
