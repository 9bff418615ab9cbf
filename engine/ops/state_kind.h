// What a state keeps of a text, by the attribute `kind` of its source node.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/op_schema.h"

namespace orrery::ops {

inline constexpr std::string_view kKeysAndValues = "kv";  // of each token
inline constexpr std::string_view kRecord = "record";     // of the text as a whole, at the end of each page
inline constexpr std::string_view kSummary = "summary";   // of the text as a whole, at a few of its lengths

/// Of a state node. What says nothing keeps keys and values.
bool keeps_record(const graph::Attributes& attributes);
bool keeps_summary(const graph::Attributes& attributes);

/// The shape [kv_heads, features, head_dim + 1] of the summary that an attention node of these attributes can
/// keep in place of keys and values. Nothing where it needs its keys: of a softmax, of a window, as what
/// leaves it is forgotten, and of heads beyond what a scan takes (kernels/fastmax_scan.h).
std::optional<std::vector<int64_t>> summary_shape(const graph::Attributes& attention, int64_t head_dim);

}  // namespace orrery::ops
