#include "engine/ops/attention_support.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/state_kind.h"

namespace orrery::ops {
namespace {

using Fastmax = kernels::Attention::Fastmax;

Result<void> check_kind(const Attributes& attributes) {
  ORRERY_TRY(expect_choice(attributes, "kind", {"softmax", "fastmax"}));
  if (const int64_t p = integer(attributes, "p"); p != 1 && p != 2)
    return bad_attribute(fmt::format("p is {}; it must be 1 or 2", p));
  if (const double limit = real(attributes, "limit"); !(limit > 0 && limit <= Fastmax::kLargestLimit))
    return bad_attribute(
        fmt::format("limit is {}; it must be above 0 and at most {}", limit, Fastmax::kLargestLimit));
  return {};
}

/// Operations that make one score a weight.
double weight_flops(const Attributes& attributes) {
  if (!is_fastmax(attributes)) return 5;
  return (integer(attributes, "p") == 2 ? 5 : 2) + (flag(attributes, "normalise") ? 1 : 0);
}

}  // namespace

Result<int64_t> head_dim_of(const NodeView& view, const Matrix& query) {
  ORRERY_TRY(expect_positive(*view.attributes, "heads"));
  ORRERY_TRY(expect_positive(*view.attributes, "kv_heads"));
  const int64_t heads = integer(*view.attributes, "heads"), kv_heads = integer(*view.attributes, "kv_heads");
  if (heads % kv_heads != 0)
    return bad_attribute(fmt::format("heads is {}; kv_heads {} does not divide it", heads, kv_heads));
  if (query.cols % heads != 0)
    return mismatch(
        "query", fmt::format("query is {}, which {} heads do not divide", to_string(*view.inputs[0]), heads));
  if (const double scale = real(*view.attributes, "scale"); !std::isfinite(scale))
    return bad_attribute(fmt::format("scale is {}; it must be finite", scale));
  ORRERY_TRY(check_kind(*view.attributes));
  return query.cols / heads;
}

std::optional<Summary> summary_of(const ValueType& state) {
  const Shape& shape = state.shape;
  const bool fixed = std::all_of(shape.begin(), shape.end(),
                                 [](const Dim& dim) { return dim.is_constant() && dim.constant() > 0; });
  if (state.dtype != DType::f32 || shape.size() != 3 || !fixed) return std::nullopt;
  return Summary{shape[0].constant(), shape[1].constant(), shape[2].constant() - 1};
}

std::optional<std::vector<int64_t>> summary_shape(const Attributes& attention, int64_t head_dim) {
  using Scan = kernels::FastmaxScan;
  if (!is_fastmax(attention) || integer(attention, "window") != 0 || head_dim > Scan::kLargestHead)
    return std::nullopt;
  const int64_t features = Scan::features(static_cast<int>(integer(attention, "p")), head_dim);
  return std::vector{integer(attention, "kv_heads"), features, head_dim + 1};
}

kernels::FastmaxScan::Problem fastmax_scan_problem(const Attributes& attributes, int64_t cols) {
  kernels::FastmaxScan::Problem problem;
  problem.heads = integer(attributes, "heads");
  problem.kv_heads = integer(attributes, "kv_heads");
  problem.head_dim = cols / problem.heads;
  problem.fastmax = {.p = static_cast<int32_t>(integer(attributes, "p")),
                     .normalise = flag(attributes, "normalise"),
                     .limit = static_cast<float>(real(attributes, "limit"))};
  return problem;
}

bool is_fastmax(const Attributes& attributes) { return text(attributes, "kind") == "fastmax"; }

std::vector<AttributeSpec> with_kind(std::vector<AttributeSpec> attributes) {
  const std::vector<AttributeSpec> kind = {
      {"kind",
       "What a score s becomes before weights are divided by their sum: softmax, e^s, or fastmax "
       "(arXiv 2402.07901), the first terms of e^s",
       Attribute(std::string("softmax"))},
      {"p", "Of fastmax: 2 for 1 + s + s^2 / 2, 1 for 1 + s, of which what is below zero counts as zero",
       Attribute(int64_t{2})},
      {"normalise",
       "Of fastmax: queries and keys are scaled to the length `limit`, each by its own, and `scale` counts "
       "as 1 "
       "(the paper divides by the longest of a text, which later tokens would change)",
       Attribute(true)},
      {"limit",
       "Of fastmax: the length of normalised queries and keys, so that scores stay within its square",
       Attribute(1.0)}};
  attributes.insert(attributes.end(), kind.begin(), kind.end());
  return attributes;
}

Cost cost_attention(const NodeView& view, const Bindings& bindings, double keys, double distinct) {
  const Attributes& attributes = *view.attributes;
  const double queries = count(view.inputs[0]->shape, bindings);
  const auto heads = static_cast<double>(integer(attributes, "heads"));
  const double rows = rows_of(*view.inputs[0], bindings);
  double flops = 4 * queries * keys + weight_flops(attributes) * rows * heads * keys;
  if (is_fastmax(attributes) && flag(attributes, "normalise")) {
    const double share = static_cast<double>(integer(attributes, "kv_heads")) / heads;
    flops += 3 * queries + 2 * distinct * share * queries / rows;
  }
  return {flops, bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

Cost cost_fastmax_scan(const NodeView& view, const Bindings& bindings, size_t query, size_t state) {
  const double rows = rows_of(*view.inputs[query], bindings);
  const double group = static_cast<double>(integer(*view.attributes, "heads")) /
                       static_cast<double>(integer(*view.attributes, "kv_heads"));
  const auto bound = bindings.find(kSequences);
  const double sequences =
      bound == bindings.end() ? 1 : std::max<double>(1, static_cast<double>(bound->second));
  const double numbers = count(view.inputs[state]->shape, bindings);
  double moved = bytes(*view.outputs[0], bindings) + 8 * sequences * numbers;
  for (size_t input = 0; input < view.inputs.size(); ++input)
    if (input != state) moved += bytes(*view.inputs[input], bindings);
  return {2 * rows * numbers * (1 + group), moved};
}

kernels::Attention::Args attention_arguments(LowerContext& context, const graph::Node& node) {
  kernels::Attention::Args args;
  args.problem.heads = integer(node.attributes, "heads");
  args.problem.kv_heads = integer(node.attributes, "kv_heads");
  args.query_stride = args.dst_stride = cols_of(context, node.inputs[0]);
  args.problem.head_dim = args.query_stride / args.problem.heads;
  args.problem.tokens = context.max_tokens();
  args.problem.precision = context.precision(node);
  args.problem.kind =
      is_fastmax(node.attributes) ? kernels::Attention::Kind::fastmax : kernels::Attention::Kind::softmax;
  args.problem.fastmax = {.p = static_cast<int32_t>(integer(node.attributes, "p")),
                          .normalise = flag(node.attributes, "normalise"),
                          .limit = static_cast<float>(real(node.attributes, "limit"))};
  args.scale = static_cast<float>(real(node.attributes, "scale"));
  return args;
}

}  // namespace orrery::ops
