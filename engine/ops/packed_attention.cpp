// packed_attention: attention within each sequence of the step, keys and values from the step itself
// (encoders); weights as those of attention
#include "engine/ops/attention_support.h"
#include "engine/ops/distance_bias.h"
#include "engine/ops/sequence_support.h"

namespace orrery::ops {
namespace {

/// The table of biases (buckets, heads), where there is one.
Result<void> check_bias(const NodeView& view) {
  if (!view.inputs[4]) return {};
  if (is_fastmax(*view.attributes))
    return mismatch("bias",
                    fmt::format("bias is {}, but fastmax adds none to its scores: disconnect it first",
                                to_string(*view.inputs[4])));
  ORRERY_ASSIGN(const Stored table, stored_matrix(view, 4, "bias"));
  const int64_t heads = integer(*view.attributes, "heads");
  if (table.cols != heads || table.rows % 4 != 0 || table.rows > 4 * kBiasReach)
    return mismatch("bias", fmt::format("bias is {}, but {} heads need [buckets, {}] with a multiple of 4 "
                                        "buckets, at most {}",
                                        to_string(*view.inputs[4]), heads, heads, 4 * kBiasReach));
  return {};
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix query, rounded_activation(view, 0, "query"));
  ORRERY_ASSIGN(const int64_t head_dim, head_dim_of(view, query));
  ORRERY_ASSIGN(const Matrix key, rounded_activation(view, 1, "key"));
  if (view.inputs[1]->dtype != view.inputs[0]->dtype)
    return mismatch("key", fmt::format("key is {}, but query is {}: they are of one type",
                                       to_string(*view.inputs[1]), to_string(*view.inputs[0])));
  const int64_t kv_heads = integer(*view.attributes, "kv_heads");
  if (product(kv_heads, head_dim) != key.cols || key.rows != query.rows)
    return mismatch("key",
                    fmt::format("key is {}, but query is {}: {} kv heads of {} are needed",
                                to_string(*view.inputs[1]), to_string(*view.inputs[0]), kv_heads, head_dim));
  ORRERY_TRY(expect_same(view, 2, "value", 1, "key"));
  ORRERY_TRY(indices(view, 3, "sequence_starts"));
  ORRERY_TRY(check_bias(view));
  if (const int64_t window = integer(*view.attributes, "window"); window < 0)
    return bad_attribute(fmt::format("window is {}; it must be at least 0", window));
  return std::vector{f32(query.rows, query.cols)};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  const double tokens = rows_of(*view.inputs[0], bindings);
  const double sequences = std::max(1.0, rows_of(*view.inputs[3], bindings) - 1);
  const bool causal = flag(*view.attributes, "causal");
  const double each = tokens / sequences;
  double keys = causal ? (each + 1) / 2 : each;
  if (const auto window = static_cast<double>(integer(*view.attributes, "window")); window > 0)
    keys = std::min(keys, causal ? window : 2 * window - 1);
  Cost cost = cost_attention(view, bindings, keys, tokens);
  cost.bytes +=
      bytes(*view.inputs[1], bindings) + bytes(*view.inputs[2], bindings) + bytes(*view.inputs[3], bindings);
  return cost;
}

kernels::Attention::Args arguments(LowerContext& context, const graph::Node& node) {
  kernels::Attention::Args args = attention_arguments(context, node);
  args.problem.keys = kernels::Attention::Keys::packed;
  args.problem.kv = DType::f32;
  args.problem.causal = flag(node.attributes, "causal");
  args.problem.window = integer(node.attributes, "window");
  if (node.inputs[4].valid()) args.problem.bias_reach = kBiasReach;
  args.problem.src = context.type(node.inputs[0]).dtype;
  args.problem.dst = context.type(node.outputs[0]).dtype;
  args.key_stride = args.value_stride = cols_of(context, node.inputs[1]);
  return args;
}

Rounding rounding(LowerContext& context, const graph::Node& node) {
  Rounding rounding = rounding_of_row<kernels::Attention>(context, node, arguments(context, node).problem);
  rounding.inputs = 3;  // query, key and value
  return rounding;
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::Attention::Args args = arguments(context, node);
  ORRERY_ASSIGN(auto chosen, choose<kernels::Attention>(context, node, args.problem));
  if (node.inputs[4].valid()) {
    ORRERY_ASSIGN(const void* bias, stored_weight(context, node, node.inputs[4], &kDistanceBias));
    args.bias = static_cast<const float*>(bias);
  }
  const Slot query = context.slot(node.inputs[0]), key = context.slot(node.inputs[1]);
  ORRERY_ASSIGN(const Slot starts, indices_of(context, node, 3, "input"));
  const Slot value = context.slot(node.inputs[2]);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.query = step.data<const float>(query);
    call.key = step.data<const float>(key);
    call.value = step.data<const float>(value);
    call.dst = step.data<float>(dst);
    call.ragged = step.ragged();
    call.ragged.sequence_starts = step.data<const int32_t>(starts);
    call.ragged.page_table = nullptr;
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// [tokens, heads * head_dim] with the tokens of each head together: [kv_heads, group, tokens, head_dim].
Term heads_apart(const Term& rows, int64_t kv_heads, int64_t group) {
  const Term wide = apply(
      "reshape", cast(rows, DType::f32),
      {{"shape",
        std::vector<int64_t>{0, kv_heads, group, rows.type().shape[1].constant() / (kv_heads * group)}}});
  return transpose(wide, {1, 2, 0, 3});
}
Term rows_again(const Term& heads, const Term& rows) {
  return reshaped(transpose(heads, {2, 0, 1, 3}), rows.type().shape);
}

/// bool[tokens, tokens]: which tokens (columns) each one (rows) gathers from.
Term seen_tokens(Gradients& at) {
  const Term own = row_numbers(at.input(0)), other = transpose(own, {1, 0});
  const Term text = text_numbers(own, at.input(3));
  Term seen = at.apply("equal", {text, transpose(text, {1, 0})});
  const bool causal = flag(at.attributes(), "causal");
  const auto window = static_cast<double>(integer(at.attributes(), "window"));
  const auto also = [&](const Term& condition) { seen = at.apply("logical_and", {seen, condition}); };
  if (causal) also(at.apply("greater_equal", {own, other}));
  if (window > 0) also(at.apply("greater", {at.number(window, DType::i32), apply("abs", own - other)}));
  return seen;
}

/// Rows of heads, and of fastmax that normalises the same rows scaled to `limit`.
struct ScaledRows {
  Term rows, factor;  // no factor: as they are

  ScaledRows(Gradients& at, const Term& given) : rows(given) {
    if (!given || !is_fastmax(at.attributes()) || !flag(at.attributes(), "normalise")) return;
    limit_ = real(at.attributes(), "limit");
    const Term length = apply("sqrt", sum(given * given, {3}));
    if (!length) return;
    using Fastmax = kernels::Attention::Fastmax;
    const Term held = at.apply("maximum", {length, at.number(Fastmax::kShortest, DType::f32)});
    factor = at.number(limit_, DType::f32) / held;
    rows = given * factor;
  }
  /// The gradient of the rows as they were: what would change their length moves nothing.
  Term back(const Term& gradient) const {
    if (!factor || !gradient) return gradient;
    return (gradient - rows * (sum(rows * gradient, {3}) * (1 / (limit_ * limit_)))) * factor;
  }

 private:
  double limit_ = 1;
};

/// i64[tokens, tokens]: the row of the biases that a query (rows) adds to its score of a key (columns).
Term bias_rows(Gradients& at) {
  const Term own = row_numbers(at.input(0)), distance = transpose(own, {1, 0}) - own;
  std::vector<double> buckets;
  for (int64_t d = -kBiasReach; d <= kBiasReach; ++d)
    buckets.push_back(static_cast<double>(distance_bucket(d, at.input(4).type().shape.front().constant())));
  if (!distance) return distance;
  const Term reach = at.number(kBiasReach, DType::i32), nearest = at.number(-kBiasReach, DType::i32);
  const Term place = at.apply("maximum", {at.apply("minimum", {distance, reach}), nearest}) + reach;
  const auto count = static_cast<int64_t>(buckets.size());
  return at.apply("gather", {at.constant({DType::i64, {count}}, std::move(buckets)), place});
}

/// Weights p of the keys for each query, of f32[kv_heads, group, tokens, tokens] scores, and how the
/// gradients of the scores follow from those of p.
class Weights {
 public:
  Weights(Gradients& at, const Term& scores) : at_(at), seen_(seen_tokens(at)) {
    if (!scores || !seen_) return;
    is_fastmax(at.attributes()) ? expand(scores) : soften(scores);
  }
  const Term& p() const { return p_; }
  /// `of_p`: the gradients of p.
  Term back(const Term& of_p) const {
    const Term weighted = p_ * of_p;
    if (!slope_) return weighted - p_ * sum(weighted, {3});
    return (of_p - sum(weighted, {3})) / total_ * slope_;
  }

 private:
  void soften(const Term& scores) {
    constexpr double kUnseen = -1e30;  // as a score: its exponential is 0
    p_ = apply("softmax", where(seen_, scores, at_.number(kUnseen, DType::f32)));
  }
  /// f(s) = 1 + s + s^2 / 2, or 1 + s above 0, of a score that is cut where it is very large.
  void expand(const Term& scores) {
    constexpr double kLargest = kernels::Attention::Fastmax::kLargestScore;
    const Term zero = at_.number(0, DType::f32), largest = at_.number(kLargest, DType::f32);
    const Term s = at_.apply("maximum", {at_.apply("minimum", {scores, largest}), -largest});
    const Term line = s + 1;
    const bool squares = integer(at_.attributes(), "p") == 2;
    const Term f = squares ? line + s * s * 0.5 : at_.apply("maximum", {line, zero});
    const Term moves = at_.apply("logical_and", {seen_, at_.apply("equal", {s, scores})});
    slope_ = where(moves, squares ? line : cast(line > 0, DType::f32), zero);
    const Term seen = where(seen_, f, zero), all = sum(seen, {3});
    total_ = where(all > 0, all, at_.number(1, DType::f32));
    p_ = seen / total_;
  }

  Gradients& at_;
  Term seen_, p_, total_, slope_;  // these two of fastmax
};

/// With weights p of scores s = scale q k^T + bias and g of p v: dv = p^T g, ds of p by g v^T, dq = scale ds
/// k, dk = scale ds^T q; keys and values that several heads share add theirs up. All scores of a step are
/// made.
void gradient(Gradients& at) {
  const int64_t kv_heads = integer(at.attributes(), "kv_heads"),
                group = integer(at.attributes(), "heads") / kv_heads;
  const ScaledRows query(at, heads_apart(at.input(0), kv_heads, group)),
      key(at, heads_apart(at.input(1), kv_heads, 1));
  const Term value = heads_apart(at.input(2), kv_heads, 1), g = heads_apart(at.gradient(), kv_heads, group);
  const double scale = query.factor ? 1 : real(at.attributes(), "scale");
  Term scores = matmul(query.rows, key.rows, false, true) * scale, buckets;
  if (const Term bias = at.input(4)) {
    buckets = bias_rows(at);
    const Term by_head =
        transpose(is_element(bias.type().dtype) ? cast(bias, DType::f32) : apply("dequantise", bias), {1, 0});
    const Term table = reshaped(by_head, {kv_heads, group, bias.type().shape.front()});
    if (!table || !buckets) return;
    scores = scores + at.apply("gather", {table, buckets}, {{"axis", int64_t{2}}});
  }
  const Weights weights(at, scores);
  if (at.wants(2)) at.give(2, rows_again(sum(matmul(weights.p(), g, true), {1}), at.input(2)));
  if (!at.wants(0) && !at.wants(1) && !at.wants(4)) return;
  const Term of_scores = weights.back(matmul(g, value, false, true)), scaled = of_scores * scale;
  if (at.wants(0)) at.give(0, rows_again(query.back(matmul(scaled, key.rows)), at.input(0)));
  if (at.wants(1)) at.give(1, rows_again(key.back(sum(matmul(scaled, query.rows, true), {1})), at.input(1)));
  if (!at.wants(4) || !of_scores) return;
  const int64_t heads = kv_heads * group;
  const Term by_place = apply("flatten", transpose(of_scores, {2, 3, 0, 1}),
                              {{"start_dim", int64_t{2}}, {"end_dim", int64_t{3}}});
  const Term none = at.constant({DType::f32, {at.input(4).type().shape.front(), heads}}, {}, 0);
  if (by_place && none) at.give(4, at.apply("scatter_nd_add", {none, by_place, unsqueeze(buckets, -1)}));
}

}  // namespace

OpSchema packed_attention_op() {
  return {.name = "packed_attention",
          .family = OpFamily::attention,
          .doc = "Every token of a text gathers from all tokens of the same text.",
          .inputs = {{"query"},
                     {"key"},
                     {"value"},
                     {.name = "sequence_starts", .finds = graph::Finds::sequences},
                     {.name = "bias", .optional = true, .stored = true}},
          .outputs = {"dst"},
          .attributes = with_kind(
              {{"heads", "Query heads", {}, AttributeType::integer},
               {"kv_heads",
                "Key and value heads; each serves heads / kv_heads query heads",
                {},
                AttributeType::integer},
               {"scale", "Multiplies the scores, most often 1 / sqrt(head_dim)", {}, AttributeType::real},
               {"causal", "A token sees no later ones", Attribute(false)},
               {"window", "A token sees those less than so many away, itself included; 0: all",
                Attribute(int64_t{0})}}),
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Attention>(lower, rounding)};
}

}  // namespace orrery::ops
