// attention: dst = sum_j w_j value_j / sum_j w_j over the keys and values of a state, causal; a weight w_j
// follows from scale * query . key_j by a softmax or by Fastmax (kernels/attention.h)
#include <algorithm>

#include "engine/ops/attention_support.h"

namespace orrery::ops {
namespace {

/// Of a state that keeps a summary: it is one of this attention's features.
Result<void> check_summary(const NodeView& view, const Summary& summary, int64_t cols) {
  if (!is_fastmax(*view.attributes))
    return mismatch("state",
                    fmt::format("state is {}, which keeps no keys, and a softmax needs them: use the verb "
                                "attention, which changes both",
                                to_string(*view.inputs[1])));
  if (integer(*view.attributes, "window") > 0)
    return mismatch("state",
                    fmt::format("state is {}, which keeps no keys, and a window needs them: use the verb "
                                "attention, which changes both",
                                to_string(*view.inputs[1])));
  const kernels::FastmaxScan::Problem problem = fastmax_scan_problem(*view.attributes, cols);
  if (std::string reason = kernels::ref::legal(problem); !reason.empty())
    return bad_attribute(std::move(reason));
  const int64_t features = kernels::FastmaxScan::features(problem.fastmax.p, problem.head_dim);
  if (summary.kv_heads != problem.kv_heads || summary.head_dim != problem.head_dim ||
      summary.features != features)
    return mismatch("state", fmt::format("state is {}, but query {} needs [{}, {}, {}] (kv_heads, features, "
                                         "head_dim + 1)",
                                         to_string(*view.inputs[1]), to_string(*view.inputs[0]),
                                         problem.kv_heads, features, problem.head_dim + 1));
  return {};
}

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const Matrix query, activation(view, 0, "query"));
  ORRERY_ASSIGN(const int64_t head_dim, head_dim_of(view, query));
  const int64_t kv_heads = integer(*view.attributes, "kv_heads");
  if (const auto summary = summary_of(*view.inputs[1])) {
    ORRERY_TRY(check_summary(view, *summary, query.cols));
  } else if (view.inputs[1]->shape != Shape{kv_heads, head_dim})
    return mismatch("state",
                    fmt::format("state is {}, but query {} needs [{}, {}] (kv_heads, head_dim)",
                                to_string(*view.inputs[1]), to_string(*view.inputs[0]), kv_heads, head_dim));
  if (const int64_t window = integer(*view.attributes, "window"); window < 0)
    return bad_attribute(fmt::format("window is {}; it must be at least 0", window));
  ORRERY_TRY(expect_not_negative(*view.attributes, "softcap"));
  if (is_fastmax(*view.attributes) && real(*view.attributes, "softcap") > 0)
    return bad_attribute(fmt::format("softcap is {}, which fastmax does not have: set it to 0 first",
                                     real(*view.attributes, "softcap")));
  return std::vector{*view.inputs[0]};
}

/// With n tokens a sequence and L keys after the step, query i sees L - n + i + 1 keys: L - (n - 1) / 2 on
/// average. Keys and values of a sequence are counted once.
Cost cost(const NodeView& view, const Bindings& bindings) {
  if (summary_of(*view.inputs[1])) return cost_fastmax_scan(view, bindings, 0, 1);
  const double tokens = rows_of(*view.inputs[0], bindings);
  const auto sequences_bound = bindings.find(kSequences), context_bound = bindings.find(kContext);
  const double sequences = sequences_bound == bindings.end()
                               ? 1
                               : std::max<double>(1, static_cast<double>(sequences_bound->second));
  const double each = tokens / sequences;
  double context = context_bound == bindings.end() ? each : static_cast<double>(context_bound->second);
  double keys = std::max(0.0, context - (each - 1) / 2);
  if (const auto window = static_cast<double>(integer(*view.attributes, "window")); window > 0) {
    keys = std::min(keys, window);
    context = std::min(context, window + each - 1);
  }
  Cost cost = cost_attention(view, bindings, keys, sequences * context);
  cost.bytes += sequences * context * kept_bytes(*view.inputs[1], bindings);
  return cost;
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  if (summary_of(context.type(node.inputs[1])))
    return Error{ErrorCode::unsupported, "One attention alone reads a summary, where it is written",
                 node.path(), "give it a state of its own, and leave the pass summarise_fastmax on"};
  kernels::Attention::Args args = attention_arguments(context, node);
  args.problem.kv = context.kv_dtype();
  args.problem.window = integer(node.attributes, "window");
  args.problem.softcap = static_cast<float>(real(node.attributes, "softcap"));
  ORRERY_ASSIGN(auto chosen, choose<kernels::Attention>(context, node, args.problem));
  const Slot query = context.slot(node.inputs[0]), state = context.slot(node.inputs[1]);
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.query = step.data<const float>(query);
    call.dst = step.data<float>(dst);
    call.ragged = step.ragged();
    call.kv = step.state(state);
    run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace

OpSchema attention_op() {
  return {.name = "attention",
          .family = OpFamily::attention,
          .doc = "Each token gathers from the tokens before it what their keys say is of use.",
          .inputs = {{"query"}, {"state"}},
          .outputs = {"dst"},
          .attributes = with_kind(
              {{"heads", "Query heads", {}, AttributeType::integer},
               {"kv_heads",
                "Key and value heads; each serves heads / kv_heads query heads",
                {},
                AttributeType::integer},
               {"scale", "Multiplies the scores, most often 1 / sqrt(head_dim)", {}, AttributeType::real},
               {"window", "A query sees the last so many keys; 0: all", Attribute(int64_t{0})},
               {"softcap", "Scores are bent to stay below it; 0: not", Attribute(0.0)}}),
          .infer = infer,
          .cost = cost,
          .lowering = lowered_to<kernels::Attention>(lower)};
}

}  // namespace orrery::ops
