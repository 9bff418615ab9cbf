// fastmax_scan: attention by the weights of Fastmax over a text of which the state keeps sums of features of
// its keys and values, and no token (kernels/fastmax_scan.h)
#include "engine/ops/attention_support.h"

namespace orrery::ops {
namespace {

enum ScanInput : size_t { kState, kQuery, kKey, kValue };

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix query, activation(view, kQuery, "query"));
  ORRERY_TRY(expect_positive(*view.attributes, "heads"));
  ORRERY_TRY(expect_positive(*view.attributes, "kv_heads"));
  const int64_t heads = integer(*view.attributes, "heads");
  if (query.cols % heads != 0)
    return mismatch("query", fmt::format("query is {}, which {} heads do not divide",
                                         to_string(*view.inputs[kQuery]), heads));
  const kernels::FastmaxScan::Problem problem = fastmax_scan_problem(*view.attributes, query.cols);
  if (std::string reason = kernels::ref::legal(problem); !reason.empty())
    return bad_attribute(std::move(reason));
  const int64_t features = kernels::FastmaxScan::features(problem.fastmax.p, problem.head_dim);
  const auto summary = summary_of(*view.inputs[kState]);
  if (!summary || summary->kv_heads != problem.kv_heads || summary->features != features ||
      summary->head_dim != problem.head_dim)
    return mismatch("state",
                    fmt::format("state is {}, but query {} needs f32[{}, {}, {}] (kv_heads, features, "
                                "head_dim + 1)",
                                to_string(*view.inputs[kState]), to_string(*view.inputs[kQuery]),
                                problem.kv_heads, features, problem.head_dim + 1));
  ORRERY_ASSIGN(const Matrix key, activation(view, kKey, "key"));
  if (query.rows != Dim(kTokens) || key.rows != Dim(kTokens))
    return mismatch("key", "a state takes every token in, in its order");
  if (key.cols != problem.kv_heads * problem.head_dim)
    return mismatch("key", fmt::format("key is {}, but query is {}: {} kv heads of {} are needed",
                                       to_string(*view.inputs[kKey]), to_string(*view.inputs[kQuery]),
                                       problem.kv_heads, problem.head_dim));
  ORRERY_TRY(expect_same(view, kValue, "value", kKey, "key"));
  return std::vector{*view.inputs[kQuery], *view.inputs[kState]};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return cost_fastmax_scan(view, bindings, kQuery, kState);
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  kernels::FastmaxScan::Args args;
  args.problem = fastmax_scan_problem(node.attributes, cols_of(context, node.inputs[kQuery]));
  args.problem.tokens = context.max_tokens();
  args.scale = static_cast<float>(real(node.attributes, "scale"));
  ORRERY_ASSIGN(auto chosen, choose<kernels::FastmaxScan>(context, node, args.problem));
  const Slot state = context.slot(node.inputs[kState]), query = context.slot(node.inputs[kQuery]);
  const Slot key = context.slot(node.inputs[kKey]), value = context.slot(node.inputs[kValue]);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.query = step.data<const float>(query);
    call.key = step.data<const float>(key);
    call.value = step.data<const float>(value);
    call.dst = step.data<float>(dst);
    call.ragged = step.ragged();
    call.uses = step.records;
    call.records = {step.state(state).base, step.state(state).page_stride};
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema fastmax_scan_op() {
  return {
      .name = "fastmax_scan",
      .family = OpFamily::attention,
      .doc =
          "Each token adds to sums of fixed size, and gathers from them what fits it of the tokens before.",
      .inputs = {{"state"}, {"query"}, {"key"}, {"value"}},
      .outputs = {"dst", "state"},
      .attributes =
          {{"heads", "Query heads", {}, AttributeType::integer},
           {"kv_heads",
            "Key and value heads; each serves heads / kv_heads query heads",
            {},
            AttributeType::integer},
           {"scale", "Multiplies the scores where they are not normalised", {}, AttributeType::real},
           {"p", "2 for weights 1 + s + s^2 / 2 of a score s, 1 for 1 + s", Attribute(int64_t{2})},
           {"normalise", "Queries and keys are scaled to the length `limit`", Attribute(true)},
           {"limit", "That length", Attribute(1.0)}},
      .infer = infer,
      .cost = cost,
      .lowering = lowered_to<kernels::FastmaxScan>(lower)};
}

}  // namespace orrery::ops
