#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <unordered_map>

#include "engine/base/progress.h"
#include "engine/compile/arena.h"
#include "engine/compile/plan.h"
#include "engine/compile/states.h"

namespace orrery::compile {
namespace {

using ops::Slot;
using ops::StepInput;

Result<std::string> text_attribute(const graph::Node& node, const char* name) {
  const auto it = node.attributes.find(name);
  const auto* text = it == node.attributes.end() ? nullptr : std::get_if<std::string>(&it->second);
  if (!text)
    return Error{ErrorCode::invalid_argument, fmt::format("The {} node has no \"{}\"", node.op->name, name),
                 fmt::format("node {}", node.path()), "undo the edit that removed it"};
  return *text;
}

Result<Slot> input_slot(const graph::Node& node) {
  static constexpr std::pair<std::string_view, StepInput> kInputs[] = {
      {graph::step_input::token_ids, StepInput::token_ids},
      {graph::step_input::positions, StepInput::positions},
      {graph::step_input::sequence_starts, StepInput::sequence_starts},
      {graph::step_input::kv_lengths, StepInput::kv_lengths},
      {graph::step_input::output_rows, StepInput::output_rows}};
  ORRERY_ASSIGN(const std::string name, text_attribute(node, "name"));
  for (const auto& [known, input] : kInputs)
    if (known == name) return Slot{Slot::Kind::input, static_cast<size_t>(input), nullptr};
  return Error{ErrorCode::unsupported, fmt::format("A step has no input \"{}\"", name),
               fmt::format("node {}", node.path()), "use one of the step inputs that graph.h lists"};
}

/// Lowers the nodes of one graph into a plan; also what the lowerings ask.
class Compiler final : public ops::LowerContext {
 public:
  Compiler(Plan& plan, weights::WeightStore& weights, kernels::ThreadTeam& team, std::stop_token stop)
      : plan_(plan), graph_(*plan.graph), weights_(weights), team_(team), stop_(std::move(stop)) {}

  Result<void> run() {
    ORRERY_TRY(place_sources());
    ORRERY_TRY(place_activations());
    for (const NodeId id : steps_) {
      if (stop_.stop_requested()) return cancelled_error();
      ORRERY_TRY(lower(graph_.node(id)));
    }
    for (const ValueId output : graph_.outputs()) plan_.output_slots.push_back(slot(output));
    return {};
  }

  const graph::Graph& graph() const override { return graph_; }

  /// Bytes of a weight are asked for only when a lowering wants the stored form: a merged adapter costs
  /// memory.
  Slot slot(ValueId value) const override {
    if (const auto it = slots_.find(value); it != slots_.end()) return it->second;
    const graph::Value* known = graph_.find_value(value);
    if (!known || known->kind != graph::ValueKind::weight) return {};
    auto bytes = stored_weight(value, nullptr);
    if (!bytes.ok()) {
      if (!weight_error_) weight_error_ = bytes.error();
      return {};
    }
    return slots_[value] = {Slot::Kind::fixed, 0, *bytes};
  }

  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override {
    return stored_weight(value, packing);
  }

  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return plan_.options.bucket.min_tokens; }
  int64_t max_tokens() const override { return plan_.options.bucket.max_tokens; }
  int64_t max_outputs() const override { return plan_.options.bucket.max_outputs; }
  DType kv_dtype() const override { return plan_.options.kv_dtype; }
  kernels::Linear::Accuracy accuracy() const override { return plan_.options.accuracy; }
  kernels::DeviceKind device() const override {
    return plan_.options.device ? kernels::DeviceKind::cuda : kernels::DeviceKind::cpu;
  }
  int threads() const override { return plan_.options.threads > 0 ? plan_.options.threads : team_.size(); }

 private:
  Result<const void*> stored_weight(ValueId value, const kernels::WeightPacking* packing) const {
    const graph::Node* producer = graph_.find(graph_.value(value).producer);
    if (!producer || graph_.value(value).kind != graph::ValueKind::weight)
      return Error{ErrorCode::unsupported,
                   fmt::format("\"{}\" is computed, but this kernel reads a weight of the file",
                               graph_.value(value).name),
                   producer ? fmt::format("node {}", producer->path()) : std::string(),
                   "connect a weight to it"};
    ORRERY_ASSIGN(const std::string tensor, text_attribute(*producer, "tensor"));
    return weights_.bytes(tensor, packing, team_, plan_.options.device);
  }

  Result<void> place_sources() {
    ORRERY_ASSIGN(const std::vector<StateUse> states, states_of(graph_));
    for (size_t i = 0; i < states.size(); ++i) {
      slots_[states[i].initial] = {Slot::Kind::state, i, nullptr};
      plan_.states.push_back(states[i].initial);
    }
    const std::vector<bool> live = graph_.live();
    for (size_t i = 0; i < graph_.order().size(); ++i) {
      const graph::Node& node = graph_.node(graph_.order()[i]);
      if (live[i] && node.is_source()) ORRERY_TRY(place_source(node));
    }
    return {};
  }

  Result<void> place_source(const graph::Node& node) {
    const graph::Value& value = graph_.value(node.outputs.at(0));
    switch (value.kind) {
      case graph::ValueKind::input: {
        ORRERY_ASSIGN(slots_[value.id], input_slot(node));
        return {};
      }
      case graph::ValueKind::constant:
        return place_constant(node, value);
      case graph::ValueKind::weight:
      case graph::ValueKind::state:
      case graph::ValueKind::activation:
        return {};
    }
    return {};
  }

  Result<void> place_constant(const graph::Node& node, const graph::Value& value) {
    const auto attribute = node.attributes.find("value");
    const auto* number =
        attribute == node.attributes.end() ? nullptr : std::get_if<double>(&attribute->second);
    const auto elements = element_count(value.type.shape, {});
    if (!number || !elements || value.type.dtype != DType::f32 || *elements < 0 ||
        *elements > (int64_t{1} << 28))
      return Error{ErrorCode::unsupported, "The constant is no float32 number of a fixed shape",
                   fmt::format("node {}", node.path()), "set its value and shape"};
    const auto count = static_cast<size_t>(*elements);
    const std::vector<float> numbers(std::max<size_t>(count, 1), static_cast<float>(*number));
    const size_t bytes = numbers.size() * sizeof(float);
    ORRERY_ASSIGN(weights::Buffer buffer, weights::Buffer::allocate(bytes, plan_.options.device));
    ORRERY_TRY(buffer.fill(numbers.data(), bytes));
    slots_[value.id] = {Slot::Kind::fixed, 0, buffer.data()};
    plan_.constants.push_back(std::move(buffer));
    return {};
  }

  Result<void> place_activations() {
    ORRERY_ASSIGN(Liveness live, liveness(graph_, plan_.options.bucket));
    const ArenaLayout layout = lay_out(live.lifetimes);
    for (size_t i = 0; i < live.values.size(); ++i)
      slots_[live.values[i]] = {Slot::Kind::arena, layout.offsets[i], nullptr};
    plan_.arena_bytes = layout.bytes;
    steps_ = std::move(live.steps);
    for (const NodeId id : steps_) place_states(graph_.node(id));
    return {};
  }

  /// A state that a node returns is the one that it was given, changed in place.
  void place_states(const graph::Node& node) {
    Slot given;
    for (const ValueId input : node.inputs)
      if (const graph::Value* value = graph_.find_value(input);
          value && value->kind == graph::ValueKind::state) {
        given = slot(input);
        break;
      }
    for (const ValueId output : node.outputs)
      if (graph_.value(output).kind == graph::ValueKind::state) slots_[output] = given;
  }

  Result<void> lower(const graph::Node& node) {
    const ops::Lower lowering = ops::lowering_of(*node.op);
    if (!lowering)
      return Error{ErrorCode::unsupported, fmt::format("The op \"{}\" cannot be run", node.op->name),
                   fmt::format("node {}", node.path()), "bypass or delete the node"};
    Result<ops::Lowered> lowered = lowering(*this, node);
    if (!lowered.ok() || weight_error_) {
      Error error = weight_error_ ? *weight_error_ : std::move(lowered).error();
      if (error.where.empty()) error.where = fmt::format("node {}", node.path());
      return error;
    }
    plan_.workspace_bytes = std::max(plan_.workspace_bytes, lowered->workspace_bytes);
    plan_.steps.push_back({node.id, std::string(node.op->name), std::move(lowered->kernel),
                           std::move(lowered->refused), std::move(lowered->run)});
    return {};
  }

  Plan& plan_;
  const graph::Graph& graph_;
  weights::WeightStore& weights_;
  kernels::ThreadTeam& team_;
  std::stop_token stop_;
  mutable std::unordered_map<ValueId, Slot> slots_;
  mutable std::optional<Error> weight_error_;
  std::vector<NodeId> steps_;
};

}  // namespace

Result<std::shared_ptr<const Plan>> compile(graph::GraphVersion fused, weights::WeightStore& weights,
                                            kernels::ThreadTeam& team, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  static std::atomic<uint64_t> made{0};
  auto plan = std::make_shared<Plan>();
  plan->id = ++made;
  plan->epoch = options.device ? options.device->epoch() : 0;
  plan->graph = std::move(fused);
  plan->options = options;
  plan->options.stop = {};
  ORRERY_TRY(Compiler(*plan, weights, team, options.stop).run());
  plan->compile_milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace orrery::compile
