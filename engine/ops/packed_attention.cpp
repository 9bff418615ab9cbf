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

/// With p = softmax(scale q k^T) and g of p v: dv = p^T g, ds = p (g v^T - sum(p g v^T)), dq = scale ds k,
/// dk = scale ds^T q; keys and values that several heads share add theirs up. All scores of a step are made.
void gradient(Gradients& at) {
  if (is_fastmax(at.attributes())) return at.refuse("fastmax has no rule", "set its kind to softmax");
  if (at.input(4)) return at.refuse("a bias by distance has no rule");
  const int64_t kv_heads = integer(at.attributes(), "kv_heads"),
                group = integer(at.attributes(), "heads") / kv_heads;
  const double scale = real(at.attributes(), "scale");
  constexpr double kUnseen = -1e30;  // as a score: its exponential is 0
  const Term query = heads_apart(at.input(0), kv_heads, group), key = heads_apart(at.input(1), kv_heads, 1),
             value = heads_apart(at.input(2), kv_heads, 1), g = heads_apart(at.gradient(), kv_heads, group);
  const Term scores = matmul(query, key, false, true) * scale;
  const Term p = apply("softmax", where(seen_tokens(at), scores, at.number(kUnseen, DType::f32)));
  if (at.wants(2)) at.give(2, rows_again(sum(matmul(p, g, true), {1}), at.input(2)));
  if (!at.wants(0) && !at.wants(1)) return;
  const Term weighted = p * matmul(g, value, false, true);
  const Term of_scores = (weighted - p * sum(weighted, {3})) * scale;
  if (at.wants(0)) at.give(0, rows_again(matmul(of_scores, key), at.input(0)));
  if (at.wants(1)) at.give(1, rows_again(sum(matmul(of_scores, query, true), {1}), at.input(1)));
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
