#include "engine/passes/whole_text.h"

#include <optional>

#include "engine/passes/match.h"
#include "engine/passes/rewrite.h"

namespace orrery::passes {
namespace {

/// What the step brings by that name; a node for it stands first where there is none.
Result<ValueId> step_input(graph::Graph& graph, std::string_view given) {
  const std::string name(given);
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    const std::string* input = node.op->name == "input" ? attribute<std::string>(node, "name") : nullptr;
    if (input && *input == name) return node.outputs.front();
  }
  graph::Graph::NewNode input{"input", "inputs", free_name(graph, "inputs", name), {{"name", name}}, {},
                              {},      {}};
  if (!graph.order().empty()) input.before = graph.order().front();
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(input)));
  return graph.node(id).outputs.front();
}

/// Nodes in the place of one, asked as it is. What is made of one that could not be made is none either: the
/// first refusal is kept.
class Spelled {
 public:
  Spelled(graph::Graph& graph, graph::Node node) : graph_(graph), node_(std::move(node)) {}

  ValueId op(const std::string& op, std::vector<ValueId> inputs, graph::Attributes attributes = {}) {
    if (refusal_) return {};
    keep_asked(node_, attributes);
    graph::Graph::NewNode made{op,
                               node_.scope,
                               free_name(graph_, node_.scope, node_.name + "_" + op),
                               std::move(attributes),
                               std::move(inputs),
                               {},
                               {}};
    made.before = node_.id;
    const Result<NodeId> added = graph_.add_node(std::move(made));
    if (!added.ok()) refusal_ = added.error();
    return added.ok() ? graph_.node(*added).outputs.front() : ValueId{};
  }
  ValueId number(double value, DType dtype) {
    return op("constant", {},
              {{"value", value}, {"shape", std::vector<int64_t>{}}, {"dtype", std::string(name_of(dtype))}});
  }
  /// A weight [channels, n], [channels, 1, n] or [channels] as f32 without the dim of 1.
  ValueId numbers_of(ValueId weight) {
    if (refusal_) return {};
    const graph::ValueType type = graph_.value(weight).type;
    const ValueId floats =
        type.dtype == DType::f32 ? weight : op("cast", {weight}, {{"dtype", std::string("f32")}});
    return type.shape.size() == 3 ? op("squeeze", {floats}, {{"axis", int64_t{1}}}) : floats;
  }
  ValueId unsqueeze(ValueId value, int64_t axis) { return op("unsqueeze", {value}, {{"axis", axis}}); }
  /// The node goes, with the state that it leaves; who read its first output reads `value`.
  Result<void> stands_in(ValueId value) {
    if (refusal_) return *refusal_;
    std::vector<ValueId> outputs = graph_.outputs();
    std::erase(outputs, node_.outputs.back());
    graph_.set_outputs(std::move(outputs));
    ORRERY_TRY(replace_value(graph_, node_.outputs.front(), value));
    return graph_.remove_node(node_.id);
  }

 private:
  graph::Graph& graph_;
  const graph::Node node_;
  std::optional<Error> refusal_;
};

/// bias + sum_k weight[k] src[t - (kernel - 1) + k], where tokens before a text are zeros.
Result<void> spell_convolution(graph::Graph& graph, const graph::Node node) {
  ORRERY_ASSIGN(const ValueId positions, step_input(graph, graph::step_input::positions));
  Spelled at(graph, node);
  const ValueId src = node.inputs[1], weight = at.numbers_of(node.inputs[2]);
  const ValueId bias = node.inputs.size() > 3 ? node.inputs[3] : ValueId{};
  const ValueId ones =
      at.op("cast", {at.op("equal", {positions, positions})}, {{"dtype", std::string("i32")}});
  const ValueId rows = at.op("cumsum", {ones}, {{"exclusive", true}});
  const int64_t channels = graph.value(src).type.shape[1].constant(),
                kernel = graph.value(node.inputs[2]).type.shape.back().constant();
  constexpr double kNowhere = 2147483647;  // a row that no gather finds: zeros
  ValueId sum;
  for (int64_t k = 0; k < kernel; ++k) {
    const auto back = static_cast<double>(kernel - 1 - k);
    ValueId tokens = src;
    if (back > 0) {
      const ValueId distance = at.number(back, DType::i32);
      const ValueId row = at.op("where", {at.op("greater_equal", {positions, distance}),
                                          at.op("sub", {rows, distance}), at.number(kNowhere, DType::i32)});
      tokens = at.op("gather", {src, row}, {{"axis", int64_t{0}}});
    }
    const ValueId tap = at.op("slice", {weight},
                              {{"axes", std::vector<int64_t>{1}},
                               {"starts", std::vector<int64_t>{k}},
                               {"stops", std::vector<int64_t>{k + 1}}});
    const ValueId part =
        at.op("mul", {tokens, at.op("reshape", {tap}, {{"shape", std::vector<int64_t>{channels}}})});
    sum = sum.valid() ? at.op("add", {sum, part}) : part;
  }
  return at.stands_in(bias.valid() ? at.op("add", {sum, at.numbers_of(bias)}) : sum);
}

/// h = e^(step a) h + step b src, dst = c h + d src with step = softplus(delta), as a recurrence of all
/// states [tokens, channels, states] that begins anew with each text.
Result<void> spell_scan(graph::Graph& graph, const graph::Node node) {
  ORRERY_ASSIGN(const ValueId positions, step_input(graph, graph::step_input::positions));
  Spelled at(graph, node);
  const ValueId src = node.inputs[1], delta = node.inputs[2], b = node.inputs[3], c = node.inputs[4];
  const bool* log_a = attribute<bool>(node, "log_a");
  ValueId a = at.numbers_of(node.inputs[5]);
  if (log_a && *log_a) a = at.op("negate", {at.op("exp", {a})});
  // softplus: log(1 + e^x), which is x to rounding from 20 on
  const ValueId bound = at.number(20, DType::f32);
  const ValueId bent = at.op("log1p", {at.op("exp", {at.op("minimum", {delta, bound})})});
  const ValueId step = at.op("where", {at.op("greater", {delta, bound}), delta, bent});
  const ValueId fading = at.op("exp", {at.op("mul", {at.unsqueeze(step, -1), a})});
  const ValueId begins = at.op("equal", {positions, at.number(0, DType::i32)});
  const ValueId factor =
      at.op("where", {at.unsqueeze(at.unsqueeze(begins, -1), -1), at.number(0, DType::f32), fading});
  const ValueId taken = at.op("mul", {at.unsqueeze(at.op("mul", {step, src}), -1), at.unsqueeze(b, 1)});
  const ValueId states = at.op("recurrence", {factor, taken}, {{"axis", int64_t{0}}});
  const ValueId read = at.op("matmul", {states, at.unsqueeze(c, -1)});
  return at.stands_in(at.op("add", {at.op("squeeze", {read}, {{"axis", int64_t{-1}}}),
                                    at.op("mul", {src, at.numbers_of(node.inputs[6])})}));
}

Result<void> replace(graph::Graph& graph, const graph::Node attention, ValueId starts) {
  const graph::Node* append = producer_of(graph, attention.inputs[1], "kv_append");
  if (!append)
    return Error{ErrorCode::unsupported, "Its keys do not come from a kv_append", attention.path(),
                 "connect its state to one"};
  if (const double* softcap = attribute<double>(attention, "softcap"); softcap && *softcap != 0)
    return Error{ErrorCode::unsupported, "Attention over a whole text has no softcap", attention.path(), ""};
  graph::Graph::NewNode packed;
  packed.op = "packed_attention";
  packed.scope = attention.scope;
  packed.name = free_name(graph, attention.scope, attention.name + "_of_text");
  packed.attributes = attention.attributes;
  packed.attributes.erase("softcap");
  packed.attributes.insert_or_assign("causal", true);
  packed.inputs = {attention.inputs[0], append->inputs[1], append->inputs[2], starts};
  packed.before = attention.id;
  ORRERY_ASSIGN(const NodeId id, graph.add_node(std::move(packed)));
  ORRERY_TRY(replace_value(graph, attention.outputs[0], graph.node(id).outputs[0]));
  return graph.remove_node(attention.id);
}

}  // namespace

Result<graph::Graph> with_whole_text(const graph::Graph& graph) {
  graph::Graph made = graph;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = made.node(id);
    if (node.op->name == "attention") {
      ORRERY_ASSIGN(const ValueId starts, step_input(made, graph::step_input::sequence_starts));
      ORRERY_TRY(replace(made, made.node(id), starts));
    } else if (node.op->name == "causal_convolution") {
      ORRERY_TRY(spell_convolution(made, node));
    } else if (node.op->name == "selective_scan") {
      ORRERY_TRY(spell_scan(made, node));
    }
  }
  return made;
}

}  // namespace orrery::passes
