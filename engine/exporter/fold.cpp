#include "engine/exporter/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "engine/compile/source_slots.h"
#include "engine/ops/constant.h"
#include "engine/passes/match.h"
#include "engine/passes/pass_list.h"
#include "engine/passes/rewrite.h"
#include "engine/weights/requantise.h"

namespace orrery::exporter {
namespace {

using Vector = std::vector<float>;

/// The elements of a type whose only size beside ones is its last.
std::optional<int64_t> row_width(const graph::ValueType& type) {
  if (!is_float(type.dtype) || type.shape.empty()) return std::nullopt;
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (!type.shape[i].is_constant() || (i + 1 < type.shape.size() && type.shape[i].constant() != 1))
      return std::nullopt;
  return type.shape.back().constant();
}

/// "layers.4.mlp" of the copy "layers.4@2.mlp".
std::string without_copies(std::string_view path) {
  std::string original;
  for (bool copied = false; const char c : path) {
    copied = c == '@' || (copied && c != '.');
    if (!copied) original += c;
  }
  return original;
}

class Folding {
 public:
  Folding(const graph::Graph& edited, const graph::Graph& opened, weights::WeightStore& weights,
          kernels::ThreadTeam& team)
      : folded_{edited}, opened_(opened), weights_(weights), team_(team) {}

  Result<Folded> run() {
    note_bypassed();
    ORRERY_TRY(passes::remove_dead_nodes(graph()));
    note_asked();
    for (bool changed = true; changed;) {
      changed = false;
      for (const NodeId id : std::vector(graph().order())) {
        if (!graph().find(id) || is_the_models(graph().node(id))) continue;
        ORRERY_ASSIGN(const bool done, fold_one(id));
        changed = changed || done;
      }
    }
    ORRERY_TRY(passes::remove_dead_nodes(graph()));
    return std::move(folded_);
  }

 private:
  graph::Graph& graph() { return folded_.graph; }
  void note(std::string what) {
    if (std::ranges::find(folded_.dropped, what) == folded_.dropped.end())
      folded_.dropped.push_back(std::move(what));
  }

  bool is_the_models(const graph::Node& node) const {
    return opened_.find(node.id) || opened_.find_path(without_copies(node.path())).valid();
  }

  void note_bypassed() {
    const std::vector<bool> live = graph().live();
    int64_t dead = 0;
    for (size_t i = 0; i < live.size(); ++i)
      if (!live[i] && !graph().node(graph().order()[i]).is_source()) ++dead;
    if (dead > 0) note(fmt::format("{} nodes that no output needs", dead));
  }

  void note_asked() {
    for (const NodeId id : graph().order()) {
      const graph::Node& node = graph().node(id);
      if (!graph::device_of(node).empty()) note("the devices that nodes are placed on");
      if (!graph::precision_of(node).empty()) note("the precisions that nodes compute in");
    }
  }

  Result<bool> fold_one(NodeId id) {
    const graph::Node& node = graph().node(id);
    const std::string& op = node.op->name;
    if (op == "probe") {
      note("probes");
      ORRERY_TRY(take_out(id, node.inputs[0]));
      return true;
    }
    if (op == "scale") return fold_factors(id, node.inputs[0], {static_cast<float>(factor_of(node))});
    if (op == "mul" || op == "add") {
      if (const auto sum = passes::match_low_rank(graph(), node)) return fold_low_rank(*sum);
      for (const size_t at : {size_t{0}, size_t{1}}) {
        ORRERY_ASSIGN(const std::optional<Vector> vector, row_vector(node.inputs[at]));
        if (!vector || graph().value(node.inputs[1 - at]).kind != graph::ValueKind::activation) continue;
        return op == "mul" ? fold_factors(id, node.inputs[1 - at], *vector)
                           : fold_shift(id, node.inputs[1 - at], *vector);
      }
    }
    return false;
  }

  static double factor_of(const graph::Node& scale) {
    const auto* factor = passes::attribute<double>(scale, "factor");
    return factor ? *factor : 1.0;
  }

  /// Who read the node's output read the value instead.
  Result<void> take_out(NodeId id, ValueId value) {
    ORRERY_TRY(passes::replace_value(graph(), graph().node(id).outputs[0], value));
    return graph().remove_node(id);
  }

  /// A row that no token changes; none for anything else.
  Result<std::optional<Vector>> row_vector(ValueId id) {
    const graph::Value& value = graph().value(id);
    const auto width = row_width(value.type);
    const graph::Node& node = graph().node(value.producer);
    if (!width || folded_.steps.contains(node.id)) return std::optional<Vector>();
    if (node.op->name == "weight") {
      ORRERY_ASSIGN(const auto tensor, weights_.tensor(compile::view_of(node), team_));
      return std::optional(weights::decoded(*tensor));
    }
    if (node.op->name == "constant") {
      ORRERY_ASSIGN(const std::vector<std::byte> bytes, ops::constant_bytes(node, value.type));
      return std::optional(weights::decoded({node.name, value.type.dtype, {*width}, bytes}));
    }
    if (node.op->name != "scale") return std::optional<Vector>();
    const auto factor = static_cast<float>(factor_of(node));
    ORRERY_ASSIGN(std::optional<Vector> scaled, row_vector(node.inputs[0]));
    if (scaled)
      for (float& x : *scaled) x *= factor;
    return scaled;
  }

  /// The weight of an input, read by this node alone: a copy where others read it too.
  Result<NodeId> own_weight(NodeId reader, size_t input) {
    const ValueId value = graph().node(reader).inputs[input];
    const NodeId weight = graph().value(value).producer;
    if (passes::only_user(graph(), value) == reader) return weight;
    graph::Graph::NewNode copy;
    const graph::Node& original = graph().node(weight);
    copy.op = original.op->name;
    copy.scope = original.scope;
    copy.name = passes::free_name(graph(), original.scope, original.name);
    copy.attributes = original.attributes;
    copy.before = reader;
    ORRERY_ASSIGN(const NodeId id, graph().add_node(std::move(copy)));
    if (const auto steps = folded_.steps.find(weight); steps != folded_.steps.end())
      folded_.steps[id] = steps->second;
    if (folded_.made.contains(weight)) folded_.made.insert(id);
    ORRERY_TRY(graph().set_input(reader, static_cast<int>(input), graph().node(id).outputs[0]));
    return id;
  }

  Result<void> add_step(NodeId reader, size_t input, Step step) {
    ORRERY_ASSIGN(const NodeId weight, own_weight(reader, input));
    folded_.steps[weight].push_back(std::move(step));
    return {};
  }

  bool has_input(NodeId id, size_t input) {
    const graph::Node& node = graph().node(id);
    return node.inputs.size() > input && node.inputs[input].valid();
  }

  int64_t width_of(ValueId value) {
    const Shape& shape = graph().value(value).type.shape;
    return shape.empty() || !shape.back().is_constant() ? 0 : shape.back().constant();
  }

  /// The node multiplies x by the factors: its maker's rows, or its readers' columns do so instead.
  Result<bool> fold_factors(NodeId id, ValueId x, Vector factors) {
    if (graph().value(x).kind != graph::ValueKind::activation) return false;
    const auto width = static_cast<size_t>(width_of(x));
    if (factors.size() == 1) factors.resize(width, factors[0]);
    if (width == 0 || factors.size() != width) return false;
    if (std::ranges::all_of(factors, [](float factor) { return factor == 1.0F; })) {
      ORRERY_TRY(take_out(id, x));
      return true;
    }
    const graph::Node* linear = passes::producer_of(graph(), x, "linear");
    if (linear && passes::is_plain_linear(graph(), *linear) && passes::only_user(graph(), x) == id) {
      const NodeId maker = linear->id;
      for (const size_t input : {size_t{1}, size_t{2}})
        if (has_input(maker, input)) ORRERY_TRY(add_step(maker, input, {Step::Kind::scale_rows, factors}));
      ORRERY_TRY(take_out(id, x));
      return true;
    }
    const ValueId product = graph().node(id).outputs[0];
    const std::vector<graph::Use> readers = graph().users(product);
    const bool only_linears = std::ranges::all_of(readers, [&](const graph::Use& use) {
      const graph::Node& reader = graph().node(use.node);
      return use.input == 0 && reader.op->name == "linear" &&
             graph().node(graph().value(reader.inputs[1]).producer).op->name == "weight";
    });
    if (readers.empty() || !only_linears || std::ranges::count(graph().outputs(), product) > 0) return false;
    for (const graph::Use& use : readers)
      ORRERY_TRY(add_step(use.node, 1, {Step::Kind::scale_columns, factors}));
    ORRERY_TRY(take_out(id, x));
    return true;
  }

  /// The linear or layer norm whose bias comes unchanged into what the reader reads.
  NodeId bias_before(ValueId value, NodeId reader) {
    if (passes::only_user(graph(), value) != reader) return {};
    const graph::Node& maker = graph().node(graph().value(value).producer);
    if (maker.op->name == "linear" && passes::is_plain_linear(graph(), maker)) return maker.id;
    if (maker.op->name == "layer_norm" && has_input(maker.id, 2)) return maker.id;
    if (maker.op->name != "add") return {};
    const NodeId sum = maker.id;
    const std::vector<ValueId> sides = maker.inputs;
    for (const ValueId side : sides)
      if (const NodeId found = bias_before(side, sum); found.valid()) return found;
    return {};
  }

  Result<bool> fold_shift(NodeId id, ValueId x, const Vector& vector) {
    if (static_cast<int64_t>(vector.size()) != width_of(x)) return false;
    const NodeId maker = bias_before(x, id);
    if (!maker.valid()) return false;
    if (!has_input(maker, 2)) {
      ORRERY_ASSIGN(const bool made, make_bias(maker));
      if (!made) return false;
    }
    ORRERY_TRY(add_step(maker, 2, {Step::Kind::add, vector}));
    ORRERY_TRY(take_out(id, x));
    return true;
  }

  /// Zeros by the name that the weight's bias would have.
  Result<bool> make_bias(NodeId linear) {
    const graph::Node& weight = graph().node(graph().value(graph().node(linear).inputs[1]).producer);
    const weights::WeightView view = compile::view_of(weight);
    constexpr std::string_view kWeight = ".weight";
    if (!view.tensor.ends_with(kWeight) || !view.rows.empty() || !view.columns.empty()) return false;
    graph::Graph::NewNode bias;
    bias.op = "weight";
    bias.scope = weight.scope;
    bias.name = passes::free_name(graph(), weight.scope, graph().node(linear).name + ".bias");
    bias.attributes = {{"tensor", view.tensor.substr(0, view.tensor.size() - kWeight.size()) + ".bias"},
                       {"dtype", std::string(name_of(DType::f32))},
                       {"shape", std::vector<int64_t>{width_of(graph().node(linear).outputs[0])}}};
    bias.before = linear;
    ORRERY_ASSIGN(const NodeId id, graph().add_node(std::move(bias)));
    ORRERY_TRY(graph().set_input(linear, 2, graph().node(id).outputs[0]));
    folded_.made.insert(id);
    return true;
  }

  /// What all of a matrix was multiplied by; none where it was changed in another way.
  std::optional<double> common_factor(NodeId weight) {
    const auto steps = folded_.steps.find(weight);
    if (steps == folded_.steps.end()) return 1.0;
    double factor = 1.0;
    for (const Step& step : steps->second) {
      const bool alike = std::ranges::adjacent_find(step.factors, std::not_equal_to()) == step.factors.end();
      if (step.factors.empty() || !alike) return std::nullopt;
      factor *= static_cast<double>(step.factors.front());
    }
    return factor;
  }

  Result<bool> fold_low_rank(const passes::LowRankSum& sum) {
    const auto matrix = [&](NodeId linear) -> const graph::Node& {
      return graph().node(graph().value(graph().node(linear).inputs[1]).producer);
    };
    const graph::Node &a = matrix(sum.inner), &b = matrix(sum.outer);
    const auto of_a = common_factor(a.id), of_b = common_factor(b.id);
    if (!of_a || !of_b) return false;
    Step step{Step::Kind::low_rank};
    step.factor = *of_a * *of_b;
    if (sum.scale.valid()) step.factor *= factor_of(graph().node(sum.scale));
    step.a = compile::view_of(a);
    step.b = compile::view_of(b);
    ORRERY_TRY(add_step(sum.linear, 1, std::move(step)));
    ORRERY_TRY(take_out(sum.add, graph().node(sum.linear).outputs[0]));
    for (const NodeId id : {sum.scale, sum.outer, sum.inner})
      if (id.valid()) ORRERY_TRY(graph().remove_node(id));
    return true;
  }

  Folded folded_;
  const graph::Graph& opened_;
  weights::WeightStore& weights_;
  kernels::ThreadTeam& team_;
};

}  // namespace

bool Step::is_mask() const {
  return (kind == Kind::scale_rows || kind == Kind::scale_columns) &&
         std::ranges::all_of(factors, [](float factor) { return factor == 0.0F || factor == 1.0F; });
}

Result<Folded> fold(const graph::Graph& edited, const graph::Graph& opened, weights::WeightStore& weights,
                    kernels::ThreadTeam& team) {
  return Folding(edited, opened, weights, team).run();
}

}  // namespace orrery::exporter
