// flash_attention: out = softmax(scale query key^T + bias) value, and log_sum_exp, of whole tensors; and
// flash_attention_backward: its gradients (kernels/flash_attention.h)
#include "kernels/flash_attention.h"

#include <cmath>

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"
#include "kernels/reduce.h"

namespace orrery::ops {
namespace {

using kernels::FlashAttention;
using kernels::FlashAttentionBackward;
using kernels::Reduce;

/// The inputs of the two ops, by their place.
struct Places {
  size_t query, key, value, bias, mask, query_lengths, key_lengths;
};
constexpr Places kForward{0, 1, 2, 3, 4, 5, 6};
constexpr Places kBackward{1, 2, 3, 6, 7, 8, 9};
enum ForwardOutput : size_t { kOut, kLogSumExp };
enum BackwardInput : size_t { kGradOut = 0, kForwardOut = 4, kForwardLogSumExp = 5 };
enum BackwardOutput : size_t { kGradQuery, kGradKey, kGradValue, kGradBias };

constexpr int kScoreRank = 4;  // batch, heads, queries, keys

std::vector<AttributeSpec> attributes_of() {
  return {
      {"scale", "What products of query and key are multiplied by; 0: 1 / sqrt(head_dim)", Attribute(0.0)},
      {"causal", "A query sees no key after it; the last query and the last key stand side by side",
       Attribute(false)},
      {"window_left", "How many keys before its own place a query sees; below 0: all",
       Attribute(int64_t{-1})},
      {"window_right", "How many keys after its own place a query sees; below 0: all",
       Attribute(int64_t{-1})},
      {"softcap", "Scores are bent so that none is larger, before the bias; 0: they are not", Attribute(0.0)},
      {"dropout", "The share of weights that become 0; the others are divided by 1 - dropout",
       Attribute(0.0)},
      {"seed", "Names the mask of the dropout", Attribute(int64_t{0})}};
}

Result<void> check_attributes(const Attributes& attributes) {
  if (const double p = real(attributes, "dropout"); !(p >= 0 && p < 1))
    return bad_attribute(fmt::format("dropout is {}; it must be at least 0 and less than 1", p));
  if (!std::isfinite(real(attributes, "scale")))
    return bad_attribute(fmt::format("scale is {}; it must be finite", real(attributes, "scale")));
  return expect_not_negative(attributes, "softcap");
}

/// A tensor of (batch, heads, tokens, head_dim); the first ones may be missing, and are 1.
struct Heads {
  Dim batch = 1;
  int64_t heads = 1;
  Dim tokens = 1;
  int64_t head_dim = 0;
};

Result<Heads> heads_of(const NodeView& view, size_t input, std::string_view name) {
  ORRERY_TRY(expect_floats(view, input, name));
  const ValueType& type = *view.inputs[input];
  const Shape& shape = type.shape;
  const size_t rank = shape.size();
  const auto is_fixed = [&](size_t from_end) {
    return shape[rank - from_end].is_constant() && shape[rank - from_end].constant() >= 1;
  };
  if (rank < 2 || rank > kScoreRank || !is_fixed(1) || (rank > 2 && !is_fixed(3)))
    return mismatch(name,
                    fmt::format("{} is {}; it must be [batch, heads, tokens, head_dim], without a batch "
                                "or without heads too, with fixed heads and head_dim",
                                name, to_string(type)));
  Heads heads{.tokens = shape[rank - 2], .head_dim = shape[rank - 1].constant()};
  if (rank > 2) heads.heads = shape[rank - 3].constant();
  if (rank > 3) heads.batch = shape[0];
  return heads;
}

/// Query, key and value fit each other.
Result<std::pair<Heads, Heads>> expect_heads(const NodeView& view, const Places& at) {
  ORRERY_ASSIGN(const Heads query, heads_of(view, at.query, "query"));
  ORRERY_ASSIGN(const Heads key, heads_of(view, at.key, "key"));
  ORRERY_TRY(expect_same(view, at.value, "value", at.key, "key"));
  const ValueType &query_type = *view.inputs[at.query], &key_type = *view.inputs[at.key];
  const auto unlike = [&](std::string_view what) {
    return mismatch("key", fmt::format("key is {}, but query is {}; {}", to_string(key_type),
                                       to_string(query_type), what));
  };
  if (key_type.dtype != query_type.dtype) return unlike("they must have one type: cast one");
  if (key_type.shape.size() != query_type.shape.size() || key.batch != query.batch ||
      key.head_dim != query.head_dim)
    return unlike("they must have the same batch and head_dim");
  if (query.heads % key.heads != 0) return unlike("the heads of query must share those of key evenly");
  if (query.head_dim > FlashAttention::kLargestHead)
    return mismatch("query",
                    fmt::format("query is {}; a head may have at most {} dims, not {}", to_string(query_type),
                                FlashAttention::kLargestHead, query.head_dim));
  return std::pair{query, key};
}

/// A bias or a mask, whose dims are those of the scores or 1, from the last; an absent one passes.
Result<void> expect_scores(const NodeView& view, size_t input, std::string_view name, const Heads& query,
                           const Heads& key) {
  const ValueType* type = view.inputs[input];
  if (type == nullptr) return {};
  const Shape scores{query.batch, query.heads, query.tokens, key.tokens};
  bool fits = type->shape.size() <= kScoreRank;
  for (size_t d = 0; fits && d < type->shape.size(); ++d) {
    const Dim& dim = type->shape[type->shape.size() - 1 - d];
    fits = dim == Dim(1) || dim == scores[kScoreRank - 1 - d];
  }
  if (fits) return {};
  return mismatch(name, fmt::format("{} is {}; its dims must be those of the scores, {}, or 1", name,
                                    to_string(*type), to_string(ValueType{DType::f32, scores})));
}

Result<void> expect_lengths(const NodeView& view, size_t input, std::string_view name, const Heads& query) {
  const ValueType* type = view.inputs[input];
  const ValueType wanted{DType::i32, {query.batch}};
  if (type == nullptr || *type == wanted) return {};
  return mismatch(name, fmt::format("{} is {}; it must be {}, a length for each batch", name,
                                    to_string(*type), to_string(wanted)));
}

Result<void> expect_operands(const NodeView& view, const Places& at) {
  ORRERY_TRY(check_attributes(*view.attributes));
  ORRERY_ASSIGN(const auto heads, expect_heads(view, at));
  const auto& [query, key] = heads;
  const ValueType& type = *view.inputs[at.query];
  ORRERY_TRY(expect_scores(view, at.bias, "bias", query, key));
  if (const ValueType* bias = view.inputs[at.bias];
      bias != nullptr && bias->dtype != DType::f32 && bias->dtype != type.dtype)
    return mismatch("bias", fmt::format("bias is {}, but query is {}; it must be of f32 or of that type",
                                        to_string(*bias), to_string(type)));
  ORRERY_TRY(expect_scores(view, at.mask, "mask", query, key));
  if (const ValueType* mask = view.inputs[at.mask]; mask != nullptr && mask->dtype != DType::boolean)
    return mismatch("mask", fmt::format("mask is {}; it must be of bool", to_string(*mask)));
  ORRERY_TRY(expect_lengths(view, at.query_lengths, "query_lengths", query));
  return expect_lengths(view, at.key_lengths, "key_lengths", query);
}

/// f32, a number for each query.
ValueType log_sum_exp_of(const ValueType& query) {
  ValueType type{DType::f32, query.shape};
  type.shape.pop_back();
  return type;
}

Types infer_forward(const NodeView& view) {
  ORRERY_TRY(expect_operands(view, kForward));
  const ValueType& query = *view.inputs[kForward.query];
  return std::vector{query, log_sum_exp_of(query)};
}

Types infer_backward(const NodeView& view) {
  ORRERY_TRY(expect_operands(view, kBackward));
  ORRERY_TRY(expect_same(view, kGradOut, "grad_out", kBackward.query, "query"));
  ORRERY_TRY(expect_same(view, kForwardOut, "out", kBackward.query, "query"));
  const ValueType &query = *view.inputs[kBackward.query], &key = *view.inputs[kBackward.key];
  if (const ValueType& type = *view.inputs[kForwardLogSumExp]; type != log_sum_exp_of(query))
    return mismatch("log_sum_exp",
                    fmt::format("log_sum_exp is {}, but query is {}; it must be {}", to_string(type),
                                to_string(query), to_string(log_sum_exp_of(query))));
  std::vector<ValueType> types{query, key, key};
  if (const ValueType* bias = view.inputs[kBackward.bias])
    types.push_back(ValueType{DType::f32, bias->shape});
  return types;
}

// ---- cost ----

/// The sum over i < n of first + i, cut to [0, most].
double sum_of_cut(double first, double n, double most) {
  const auto until = [&](double last) {  // of 0, 1, .. last, cut
    if (last < 0) return 0.0;
    return last <= most ? last * (last + 1) / 2 : most * (most + 1) / 2 + (last - most) * most;
  };
  return until(first + n - 1) - until(first - 1);
}

/// Pairs of a query and a key that it sees, but for masks and lengths, of one head.
double pairs_of(const Attributes& attributes, double queries, double keys) {
  const auto window = [&](std::string_view name) { return static_cast<double>(integer(attributes, name)); };
  const double left = window("window_left"), place = keys - queries;
  double right = window("window_right");
  if (flag(attributes, "causal")) right = 0;
  const double end = right < 0 ? queries * keys : sum_of_cut(place + right + 1, queries, keys);
  return end - (left < 0 ? 0.0 : sum_of_cut(place - left, queries, keys));
}

/// Two products of a pair, 2 head_dim flops each; `products` of them.
double flops_of(const NodeView& view, const Places& at, double products, const Bindings& bindings) {
  const Shape &query = view.inputs[at.query]->shape, &key = view.inputs[at.key]->shape;
  const size_t rank = query.size();
  const double queries = count({query[rank - 2]}, bindings), keys = count({key[rank - 2]}, bindings);
  return 2 * products * pairs_of(*view.attributes, queries, keys) * count(query, bindings) /
         std::max(queries, 1.0);
}

double bytes_moved(const NodeView& view, const Bindings& bindings) {
  double moved = 0;
  for (const ValueType* input : view.inputs) moved += bytes(input, bindings);
  for (size_t output = 0; output < view.outputs.size(); ++output)
    if (view.is_read[output]) moved += bytes(view.outputs[output], bindings);
  return moved;
}

Cost cost_forward(const NodeView& view, const Bindings& bindings) {
  return {flops_of(view, kForward, 2, bindings), bytes_moved(view, bindings)};
}

/// Scores and products with values, and one product for each gradient of the three.
Cost cost_backward(const NodeView& view, const Bindings& bindings) {
  double products = 2;
  for (const size_t output : {kGradQuery, kGradKey, kGradValue}) products += view.is_read[output] ? 1 : 0;
  return {flops_of(view, kBackward, products, bindings), bytes_moved(view, bindings)};
}

// ---- lowering ----

/// A tensor of heads when a step runs.
struct StepHeads {
  StepShape shape;

  RowCount extent(int from_end) const {
    const int at = shape.rank - from_end;
    return at < 0 ? RowCount{1, 0, 0, 0} : shape.extents[static_cast<size_t>(at)];
  }
  RowCount tokens() const { return extent(2); }
  RowCount batch() const { return extent(4); }
  int64_t heads() const { return extent(3).constant; }
  int64_t head_dim() const { return extent(1).constant; }
  kernels::HeadStrides strides(const StepContext& step) const {
    const int64_t rows = tokens().at(step);
    return {heads() * rows * head_dim(), rows * head_dim(), head_dim()};
  }
};

/// A bias or a mask.
struct StepScores {
  Slot slot;
  StepShape shape;

  kernels::ScoreStrides strides(const StepContext& step) const {
    int64_t strides[kScoreRank];
    shape.broadcast_strides(step, kScoreRank, strides);
    return {strides[0], strides[1], strides[2], strides[3]};
  }
};

Result<StepScores> scores_of(LowerContext& context, const graph::Node& node, ValueId value) {
  StepScores scores;
  if (!value.valid()) return scores;
  ORRERY_ASSIGN(scores.slot, elements_of(context, value));
  ORRERY_ASSIGN(scores.shape, step_shape(context, node, value));
  return scores;
}

/// Operands of either call.
struct Operands {
  FlashAttention::Args args;
  StepHeads query_heads, key_heads;
  Slot query, key, value, query_lengths, key_lengths;
  StepScores bias, mask;

  FlashAttention::Args at(const StepContext& step) const {
    FlashAttention::Args call = args;
    call.batch = query_heads.batch().at(step);
    call.queries = query_heads.tokens().at(step);
    call.keys = key_heads.tokens().at(step);
    call.query = step.address(query);
    call.key = step.address(key);
    call.value = step.address(value);
    call.query_strides = call.out_strides = query_heads.strides(step);
    call.key_strides = call.value_strides = key_heads.strides(step);
    call.bias = step.address(bias.slot);
    call.bias_strides = bias.strides(step);
    call.mask = step.data<const uint8_t>(mask.slot);
    call.mask_strides = mask.strides(step);
    call.query_lengths = step.data<const int32_t>(query_lengths);
    call.key_lengths = step.data<const int32_t>(key_lengths);
    return call;
  }
};

FlashAttention::Problem problem_of(LowerContext& context, const graph::Node& node, const Places& at,
                                   const StepHeads& query, const StepHeads& key) {
  const Attributes& attributes = node.attributes;
  const auto has = [&](size_t input) { return node.inputs[input].valid(); };
  const DType dtype = context.type(node.inputs[at.query]).dtype;
  bool aligned = query.head_dim() * dtype_info(dtype).block_bytes % 16 == 0;
  for (const size_t input : {at.query, at.key, at.value})
    aligned = aligned && context.graph().value(node.inputs[input]).kind != graph::ValueKind::weight;
  return {.dtype = dtype,
          .heads = query.heads(),
          .kv_heads = key.heads(),
          .head_dim = query.head_dim(),
          .causal = flag(attributes, "causal"),
          .window_left = integer(attributes, "window_left"),
          .window_right = integer(attributes, "window_right"),
          .softcap = static_cast<float>(real(attributes, "softcap")),
          .has_bias = has(at.bias),
          .bias = has(at.bias) ? context.type(node.inputs[at.bias]).dtype : DType::f32,
          .has_mask = has(at.mask),
          .drops = real(attributes, "dropout") > 0,
          .has_lengths = has(at.query_lengths) || has(at.key_lengths),
          .precision = context.precision(node),
          .aligned = aligned,
          .batch = bounds(context, query.batch()).max,
          .queries = bounds(context, query.tokens()).max,
          .keys = bounds(context, key.tokens()).max};
}

Result<Operands> operands_of(LowerContext& context, const graph::Node& node, const Places& at) {
  Operands operands;
  ORRERY_ASSIGN(operands.query_heads.shape, step_shape(context, node, node.inputs[at.query]));
  ORRERY_ASSIGN(operands.key_heads.shape, step_shape(context, node, node.inputs[at.key]));
  ORRERY_ASSIGN(operands.query, elements_of(context, node.inputs[at.query]));
  ORRERY_ASSIGN(operands.key, elements_of(context, node.inputs[at.key]));
  ORRERY_ASSIGN(operands.value, elements_of(context, node.inputs[at.value]));
  ORRERY_ASSIGN(operands.bias, scores_of(context, node, node.inputs[at.bias]));
  ORRERY_ASSIGN(operands.mask, scores_of(context, node, node.inputs[at.mask]));
  ORRERY_ASSIGN(operands.query_lengths, optional_elements(context, node.inputs[at.query_lengths]));
  ORRERY_ASSIGN(operands.key_lengths, optional_elements(context, node.inputs[at.key_lengths]));
  FlashAttention::Args& args = operands.args;
  args.problem = problem_of(context, node, at, operands.query_heads, operands.key_heads);
  const double scale = real(node.attributes, "scale");
  args.scale = static_cast<float>(
      scale != 0 ? scale : 1.0 / std::sqrt(static_cast<double>(operands.query_heads.head_dim())));
  args.dropout = {real(node.attributes, "dropout"), static_cast<uint64_t>(integer(node.attributes, "seed")),
                  kernels::Dropout::kAttentionStream};
  return operands;
}

Result<Lowered> lower_forward(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const Operands operands, operands_of(context, node, kForward));
  ORRERY_ASSIGN(auto chosen, choose<FlashAttention>(context, node, operands.args.problem));
  const Slot out = context.slot(node.outputs[kOut]), log_sum_exp = read_slot(context, node, kLogSumExp);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    FlashAttention::Args call = operands.at(step);
    call.out = step.data<void>(out);
    call.log_sum_exp = step.data<float>(log_sum_exp);
    if (call.batch > 0 && call.queries > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// The sum of a tensor (batch, heads, queries, keys) over the dims that a bias lacks, each run of neighbours
/// after the other; what is between two of them lies after the tensor.
class BiasSums {
 public:
  BiasSums() = default;
  /// Dims of the bias that are 1 while those of the scores may be more.
  BiasSums(const StepShape& bias, const Operands& operands)
      : scores_{operands.query_heads.batch(),
                {operands.query_heads.heads(), 0, 0, 0},
                operands.query_heads.tokens(),
                operands.key_heads.tokens()} {
    const RowCount one{1, 0, 0, 0};
    for (int d = 0; d < kScoreRank; ++d) {
      const int own = d - (kScoreRank - bias.rank);
      const bool lacks = own < 0 || bias.extents[static_cast<size_t>(own)] == one;
      summed_[d] = lacks && scores_[d] != one;
    }
  }
  bool any() const { return summed_[0] || summed_[1] || summed_[2] || summed_[3]; }

  /// Elements of the scores as far as they are summed up, and of what lies between two sums.
  int64_t elements(const LowerContext& context) const {
    int64_t all = 1;
    for (const RowCount& extent : scores_) all *= bounds(context, extent).max;
    return any() ? 2 * all : 0;
  }
  /// `sum` is called as sum(src, dst, outer, count, inner) for each run, the last one into `to`.
  template <class Sum>
  void each(const StepContext& step, float* scores, float* between, float* to, Sum&& sum) const {
    int64_t sizes[kScoreRank];
    for (int d = 0; d < kScoreRank; ++d) sizes[d] = scores_[d].at(step);
    const auto product = [&](int begin, int end) {
      int64_t all = 1;
      for (int d = begin; d < end; ++d) all *= sizes[d];
      return all;
    };
    const float* src = scores;
    for (int begin = 0; begin < kScoreRank; ++begin) {
      if (!summed_[begin]) continue;
      int end = begin;
      while (end < kScoreRank && summed_[end]) ++end;
      bool more = false;
      for (int d = end; d < kScoreRank; ++d) more = more || summed_[d];
      float* dst = more ? between : to;
      sum(src, dst, product(0, begin), product(begin, end), product(end, kScoreRank));
      for (int d = begin; d < end; ++d) sizes[d] = 1;
      src = dst;
      begin = end - 1;
    }
  }

 private:
  RowCount scores_[kScoreRank];
  bool summed_[kScoreRank] = {};
};

Result<Lowered> lower_backward(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const Operands operands, operands_of(context, node, kBackward));
  const Slot grad_query = read_slot(context, node, kGradQuery), grad_key = read_slot(context, node, kGradKey),
             grad_value = read_slot(context, node, kGradValue),
             grad_bias = read_slot(context, node, kGradBias);
  const bool wants_bias = grad_bias.kind != Slot::Kind::none;
  const FlashAttentionBackward::Problem problem{operands.args.problem, wants_bias};
  ORRERY_ASSIGN(auto chosen, choose<FlashAttentionBackward>(context, node, problem));
  ORRERY_ASSIGN(const Slot grad_out, elements_of(context, node.inputs[kGradOut]));
  ORRERY_ASSIGN(const Slot out, elements_of(context, node.inputs[kForwardOut]));
  ORRERY_ASSIGN(const Slot log_sum_exp, float_operand(context, node.inputs[kForwardLogSumExp]));
  // The workspace holds that of the kernel, then, where a bias is broadcast, its gradient for each score.
  const BiasSums sums = wants_bias ? BiasSums(operands.bias.shape, operands) : BiasSums();
  ORRERY_ASSIGN(auto added, choose<Reduce>(context, node, Reduce::Problem{}));
  size_t& workspace = chosen.lowered.workspace_bytes;
  workspace = std::max(workspace, added.lowered.workspace_bytes);
  const size_t scores_at = (workspace + 63) / 64 * 64;
  const int64_t elements = sums.elements(context);
  if (elements > 0) workspace = scores_at + static_cast<size_t>(elements) * sizeof(float);
  chosen.lowered.run = [=, run = chosen.row->run, add = added.row->run](const StepContext& step) {
    FlashAttentionBackward::Args call;
    call.problem = problem;
    call.forward = operands.at(step);
    call.forward.out = step.data<void>(out);
    call.forward.log_sum_exp = step.data<float>(log_sum_exp);
    call.grad_out = step.address(grad_out);
    call.grad_out_strides = call.forward.out_strides;
    call.grad_query = step.data<void>(grad_query);
    call.grad_key = step.data<void>(grad_key);
    call.grad_value = step.data<void>(grad_value);
    auto* scores = reinterpret_cast<float*>(step.workspace + scores_at);
    float* to = step.data<float>(grad_bias);
    call.grad_bias = sums.any() ? scores : to;
    if (call.forward.batch > 0) run(call, step.launch());
    sums.each(step, scores, scores + elements / 2, to,
              [&](const float* src, float* dst, int64_t outer, int64_t count, int64_t inner) {
                if (outer > 0 && inner > 0)
                  add({.problem = {}, .outer = outer, .count = count, .inner = inner, .src = src, .dst = dst},
                      step.launch());
              });
  };
  return std::move(chosen.lowered);
}

/// Its backward op, which knows what a loss changes with out only.
void gradient(Gradients& at) {
  if (at.gradient(kLogSumExp))
    return at.refuse("a gradient comes back to log_sum_exp, and the backward op takes that of out only",
                     "write the attention of matmul and softmax where log_sum_exp is used");
  Attributes attributes = at.attributes();
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  const std::vector<Term> made = at.apply_all(
      "flash_attention_backward",
      {at.gradient(kOut), at.input(kForward.query), at.input(kForward.key), at.input(kForward.value),
       at.output(kOut), at.output(kLogSumExp), at.input(kForward.bias), at.input(kForward.mask),
       at.input(kForward.query_lengths), at.input(kForward.key_lengths)},
      std::move(attributes));
  if (made.empty()) return;
  at.give(kForward.query, made[kGradQuery]);
  at.give(kForward.key, made[kGradKey]);
  at.give(kForward.value, made[kGradValue]);
  if (made.size() > kGradBias) at.give(kForward.bias, made[kGradBias]);
}

std::vector<InputSpec> with_options(std::vector<InputSpec> inputs) {
  inputs.insert(inputs.end(),
                {{"bias", true}, {"mask", true}, {"query_lengths", true}, {"key_lengths", true}});
  return inputs;
}

}  // namespace

OpSchema flash_attention_op() {
  return {.name = "flash_attention",
          .family = OpFamily::attention,
          .doc =
              "Weighs values by the softmax of the products of query and key, without keeping these; gives "
              "the logarithm of the sum of each query's weights too. With query_lengths or key_lengths the "
              "last query and the last key of each batch entry's own lengths stand side by side.",
          .inputs = with_options({{"query"}, {"key"}, {"value"}}),
          .outputs = {"out", "log_sum_exp"},
          .attributes = attributes_of(),
          .infer = infer_forward,
          .cost = cost_forward,
          .gradient = gradient,
          .lowering = lowered_to<FlashAttention>(lower_forward)};
}

OpSchema flash_attention_backward_op() {
  return {.name = "flash_attention_backward",
          .family = OpFamily::attention,
          .doc = "The gradients of flash_attention, by what a loss changes with its first output.",
          .inputs = with_options({{"grad_out"}, {"query"}, {"key"}, {"value"}, {"out"}, {"log_sum_exp"}}),
          .outputs = {"grad_query", "grad_key", "grad_value", "grad_bias"},
          .attributes = attributes_of(),
          .infer = infer_backward,
          .cost = cost_backward,
          .lowering = lowered_to<FlashAttentionBackward, Reduce>(lower_backward)};
}

}  // namespace orrery::ops
