#include "engine/ops/scan_support.h"

#include <cmath>

#include "kernels/linear.h"

namespace orrery::ops {
namespace {

template <bool kNegatedExp>
void pack_by_channel(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed,
                     kernels::ThreadTeam&) {
  std::vector<float> weights(static_cast<size_t>(rows * cols));
  kernels::dequantise_row(dtype, stored, rows * cols, weights.data());
  auto* dst = static_cast<float*>(packed);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      const float x = weights[static_cast<size_t>(r * cols + c)];
      dst[c * rows + r] = kNegatedExp ? -std::exp(x) : x;
    }
}

constexpr kernels::WeightPacking kByChannel{"f32, by channel", float_bytes, pack_by_channel<false>};
constexpr kernels::WeightPacking kNegatedExpByChannel{"f32, -exp, by channel", float_bytes,
                                                      pack_by_channel<true>};

}  // namespace

Result<RecordInputs> record_inputs(const NodeView& view) {
  const ValueType& state = *view.inputs[0];
  const Shape& shape = state.shape;
  if (state.dtype != DType::f32 || shape.size() != 2 || !shape[0].is_constant() || !shape[1].is_constant())
    return mismatch("state",
                    fmt::format("state is {}; it must keep a record f32[rows, channels]", to_string(state)));
  ORRERY_ASSIGN(const Matrix src, activation(view, 1, "src"));
  if (src.rows != Dim(kTokens))
    return mismatch("src",
                    fmt::format("src is {}; a recurrence reads every token", to_string(*view.inputs[1])));
  if (src.cols != shape[1].constant())
    return mismatch("src", fmt::format("src is {}, but the record {} has {} channels",
                                       to_string(*view.inputs[1]), to_string(state), shape[1].constant()));
  return RecordInputs{shape[0].constant(), src.cols};
}

Result<int64_t> channel_weight(const NodeView& view, size_t input, std::string_view name, int64_t channels) {
  const ValueType& type = *view.inputs[input];
  const Shape& shape = type.shape;
  const bool is_float = type.dtype == DType::f32 || type.dtype == DType::f16 || type.dtype == DType::bf16;
  const bool fits = shape.size() == 2 || (shape.size() == 3 && shape[1] == Dim(1));
  if (!is_float || !fits || shape.front() != Dim(channels) || !shape.back().is_constant())
    return mismatch(name, fmt::format("{} is {}; it must be [{}, n] of f32, f16 or bf16", name,
                                      to_string(type), channels));
  return shape.back().constant();
}

Result<const float*> by_channel(LowerContext& context, const graph::Node& node, ValueId value,
                                bool negated_exp) {
  ORRERY_ASSIGN(const void* bytes,
                stored_weight(context, node, value, negated_exp ? &kNegatedExpByChannel : &kByChannel));
  return static_cast<const float*>(bytes);
}

double record_bytes(const NodeView& view, const Bindings& bindings) {
  const auto sequences = bindings.find(kSequences);
  const double count =
      sequences == bindings.end() ? 1 : std::max<double>(1, static_cast<double>(sequences->second));
  return 2 * count * bytes(*view.inputs[0], bindings);
}

}  // namespace orrery::ops
