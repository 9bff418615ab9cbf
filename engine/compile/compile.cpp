#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>

#include "engine/base/progress.h"
#include "engine/compile/arena.h"
#include "engine/compile/plan.h"
#include "engine/compile/segments.h"
#include "engine/compile/source_slots.h"
#include "engine/compile/states.h"
#include "engine/compile/trial.h"
#include "engine/ops/lower_support.h"

namespace orrery::compile {
namespace {

using kernels::DeviceId;
using ops::Slot;

/// Lowers the nodes of one graph into a plan; also what the lowerings ask.
class Compiler final : public ops::LowerContext {
 public:
  Compiler(Plan& plan, weights::WeightStore& weights, kernels::ThreadTeam& team, const Options& asked)
      : plan_(plan),
        graph_(*plan.graph),
        team_(team),
        asked_(asked),
        sources_(graph_, weights, team, plan.options.cards) {
    for (const weights::DevicePtr& card : plan_.options.cards) epochs_[card->id()] = card->epoch();
  }

  Result<void> run() {
    ORRERY_TRY(place_states());
    ORRERY_TRY(place_activations());
    for (const NodeId id : steps_) {
      if (asked_.stop.stop_requested()) return cancelled_error();
      const graph::Node& node = graph_.node(id);
      here_ = runs_on(node, plan_.options.home);
      ORRERY_TRY(add_step(node));
      if (asked_.on_node) asked_.on_node(++done_, steps_.size());
    }
    segmenter_.finish(plan_.steps, plan_.segments);
    note_cards();
    for (const ValueId output : graph_.outputs()) plan_.output_slots.push_back(output_slot(output));
    plan_.weights = sources_.take_weights();
    plan_.constants = sources_.take_constants();
    plan_.given = sources_.take_given();
    return {};
  }

  const graph::Graph& graph() const override { return graph_; }

  /// What a source cannot give is told when the lowering is done.
  Slot slot(ValueId value) const override {
    if (const auto it = placed_.find(value); it != placed_.end()) return it->second.slot;
    const graph::Value* known = graph_.find_value(value);
    if (!known) return {};
    auto source = sources_.slot(*known, here_);
    if (source.ok()) return *source;
    if (!source_error_) source_error_ = source.error();
    return {};
  }

  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override {
    return sources_.weight(value, packing, here_);
  }

  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return plan_.options.bucket.min_tokens; }
  int64_t max_tokens() const override { return plan_.options.bucket.max_tokens; }
  int64_t max_outputs() const override { return plan_.options.bucket.max_outputs; }
  DType kv_dtype() const override { return plan_.options.kv_dtype; }
  int64_t context() const override { return plan_.options.context; }
  kernels::Precision default_precision() const override { return plan_.options.precision; }
  kernels::DeviceKind device() const override { return here_.kind; }
  const kernels::Machine& machine() const override { return machine_on(plan_.options.cards, here_); }
  int threads() const override { return plan_.options.threads > 0 ? plan_.options.threads : team_.size(); }

 private:
  Result<void> place_states() {
    ORRERY_ASSIGN(const std::vector<StateUse> states, states_of(graph_));
    for (size_t i = 0; i < states.size(); ++i) {
      placed_[states[i].initial] = {{Slot::Kind::state, i, nullptr},
                                    states[i].device.value_or(plan_.options.home)};
      plan_.states.push_back(states[i].initial);
    }
    return {};
  }

  Result<void> place_activations() {
    ORRERY_ASSIGN(Liveness live, liveness(graph_, plan_.options.bucket));
    std::vector<DeviceId> devices;
    for (const ValueId value : live.values)
      devices.push_back(runs_on(graph_.node(graph_.value(value).producer), plan_.options.home));
    const DeviceArenas arenas = lay_out(live.lifetimes, devices);
    for (size_t i = 0; i < live.values.size(); ++i) {
      placed_[live.values[i]] = {{Slot::Kind::arena, arenas.offsets[i], nullptr}, devices[i]};
      bytes_[live.values[i]] = live.lifetimes[i].bytes;
    }
    for (const auto& [view, value] : live.views) {
      placed_[view] = placed_.at(value);
      bytes_[view] = bytes_.at(value);
    }
    arenas_ = arenas.bytes;
    steps_ = std::move(live.steps);
    for (const NodeId id : steps_) pass_states_on(graph_.node(id));
    return {};
  }

  /// A state that a node returns is the one that it was given, changed in place.
  void pass_states_on(const graph::Node& node) {
    OutputSlot given;
    for (const ValueId input : node.inputs)
      if (const graph::Value* value = graph_.find_value(input);
          value && value->kind == graph::ValueKind::state) {
        given = output_slot(input);
        break;
      }
    for (const ValueId output : node.outputs)
      if (graph_.value(output).kind == graph::ValueKind::state) placed_[output] = given;
  }

  OutputSlot output_slot(ValueId value) const {
    const auto it = placed_.find(value);
    return it != placed_.end() ? it->second : OutputSlot{slot(value), here_};
  }

  /// Placement inserts a transfer wherever a value changes devices; kernels see one device's memory only.
  Result<void> check_sides(const graph::Node& node) const {
    if (!here_.is_cpu() && !weights::find_card(plan_.options.cards, here_))
      return Error{ErrorCode::device,
                   fmt::format("The node is to run on {}, which is not open", to_string(here_)),
                   fmt::format("node {}", node.path()), "place it on the CPU, or open the card"};
    if (graph::is_transfer(node)) return {};
    for (const ValueId input : node.inputs)
      if (const auto it = placed_.find(input); it != placed_.end() && it->second.device != here_)
        return Error{ErrorCode::internal,
                     fmt::format("{} lies on {}, and no transfer brings it to {}", graph_.value_path(input),
                                 to_string(it->second.device), to_string(here_)),
                     fmt::format("node {}", node.path()), "place both on one device"};
    return {};
  }

  Result<void> add_step(const graph::Node& node) {
    ORRERY_TRY(check_sides(node));
    Result<Step> step = graph::is_transfer(node) ? transfer(node) : lower(node);
    if (!step.ok() || source_error_) {
      Error error = source_error_ ? *source_error_ : std::move(step).error();
      if (error.where.empty()) error.where = fmt::format("node {}", node.path());
      return error;
    }
    const DeviceId side = step->transfer && here_.is_cpu() ? step->transfer->from : here_;
    segmenter_.add(std::move(step).value(), side, accesses(node));
    return {};
  }

  /// States need not be told: all that touch one run on its device.
  std::vector<Access> accesses(const graph::Node& node) const {
    std::vector<Access> accesses;
    const auto add = [&](ValueId value, bool writes) {
      const auto it = placed_.find(value);
      if (it == placed_.end() || it->second.slot.kind != Slot::Kind::arena) return;
      const size_t begin = it->second.slot.offset;
      accesses.push_back({it->second.device, begin, begin + std::max<size_t>(bytes_.at(value), 1), writes});
    };
    for (const ValueId input : node.inputs) add(input, false);
    for (const ValueId output : node.outputs) add(output, true);
    return accesses;
  }

  void note_cards() {
    const auto of = [](const std::map<DeviceId, size_t>& bytes, DeviceId device) {
      const auto it = bytes.find(device);
      return it == bytes.end() ? 0 : it->second;
    };
    plan_.host_arena_bytes = of(arenas_, kernels::kCpuId);
    plan_.host_workspace_bytes = of(workspaces_, kernels::kCpuId);
    std::erase_if(plan_.options.cards, [&](const weights::DevicePtr& card) {
      return std::ranges::none_of(plan_.segments,
                                  [&](const Segment& segment) { return segment.device == card->id(); });
    });
    std::ranges::sort(plan_.options.cards, {}, [](const weights::DevicePtr& card) { return card->id(); });
    for (const weights::DevicePtr& card : plan_.options.cards)
      plan_.cards.push_back(
          {card, epochs_.at(card->id()), of(arenas_, card->id()), of(workspaces_, card->id())});
  }

  Result<Step> lower(const graph::Node& node) {
    ORRERY_ASSIGN(ops::Lowered lowered, ops::lower_node(*this, node));
    ORRERY_TRY(note_uses(node));
    if (lowered.least) plan_.least_sizes.push_back(std::move(*lowered.least));
    size_t& workspace = workspaces_[here_];
    workspace = std::max(workspace, lowered.workspace_bytes);
    return Step{node.id,
                node.op->name,
                std::move(lowered.kernel),
                std::move(lowered.refused),
                std::move(lowered.after),
                here_,
                std::move(lowered.run),
                std::nullopt,
                lowered.arithmetic,
                std::move(lowered.computed)};
  }

  /// What the kernel does with numbers that it is given, so that each step's are checked.
  Result<void> note_uses(const graph::Node& node) {
    for (size_t i = 0; i < node.inputs.size() && i < node.op->inputs.size(); ++i) {
      const graph::Finds finds = node.op->inputs[i].finds;
      if (finds == graph::Finds::nothing || !node.inputs[i].valid()) continue;
      ORRERY_ASSIGN(const ops::RowCount rows, ops::row_count(*this, node, node.inputs[0]));
      sources_.note_use(node.inputs[i], {finds, rows});
    }
    return {};
  }

  Result<Step> transfer(const graph::Node& node) const {
    const OutputSlot src = output_slot(node.inputs.at(0)), dst = output_slot(node.outputs.at(0));
    if (src.slot.kind != Slot::Kind::arena || src.device == dst.device)
      return Error{ErrorCode::unsupported, "Only a value of another device can be transferred",
                   fmt::format("node {}", node.path()), "undo the placement"};
    const char* kernel = here_.is_cpu()        ? "transfer.to_host"
                         : src.device.is_cpu() ? "transfer.to_device"
                                               : "transfer.to_peer";
    return Step{
        node.id, node.op->name,
        kernel,  {},
        {},      here_,
        nullptr, Transfer{src.slot, dst.slot, src.device, dst.device, graph_.value(node.inputs[0]).type}};
  }

  Plan& plan_;
  const graph::Graph& graph_;
  kernels::ThreadTeam& team_;
  const Options& asked_;
  mutable SourceSlots sources_;
  DeviceId here_;                                   // of the node that is being lowered
  std::unordered_map<ValueId, OutputSlot> placed_;  // activations and states
  std::unordered_map<ValueId, size_t> bytes_;       // of activations
  std::map<DeviceId, size_t> arenas_, workspaces_;  // bytes
  std::map<DeviceId, uint64_t> epochs_;             // of the cards, before anything was put on them
  Segmenter segmenter_;
  size_t done_ = 0;
  mutable std::optional<Error> source_error_;
  std::vector<NodeId> steps_;
};

}  // namespace

Result<passes::Outcome> graph_of_plan(graph::GraphVersion fused, const Options& options) {
  const passes::RoundingOf rounding = [&](const graph::Graph& graph, const graph::Node& node) {
    const DeviceId device = runs_on(node, options.home);
    Trial trial(graph, {.device = device,
                        .machine = machine_on(options.cards, device),
                        .bucket = options.bucket,
                        .kv_dtype = options.kv_dtype,
                        .precision = options.precision,
                        .context = options.context,
                        .threads = std::max(options.threads, 1)});
    return ops::rounding_of(trial, node);
  };
  return passes::run_plan_passes(std::move(fused), options.passes, rounding);
}

Result<std::shared_ptr<const Plan>> compile(graph::GraphVersion fused, weights::WeightStore& weights,
                                            kernels::ThreadTeam& team, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  static std::atomic<uint64_t> made{0};
  auto plan = std::make_shared<Plan>();
  plan->id = ++made;
  plan->options = options;
  plan->options.stop = {};
  plan->options.on_node = {};
  std::erase(plan->options.cards, nullptr);
  ORRERY_ASSIGN(passes::Outcome passed, graph_of_plan(fused, plan->options));
  plan->fused = std::move(fused);
  plan->graph = std::move(passed.graph);
  plan->passes = std::move(passed.records);
  ORRERY_TRY(Compiler(*plan, weights, team, options).run());
  plan->compile_milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace orrery::compile
