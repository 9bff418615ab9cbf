// Where the sources of a graph lie: what a step brings on either side, weights and constants where a step of
// a device reads them, made when they are first asked for.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/weights/weight_store.h"

namespace orrery::compile {

/// What a weight node takes of its tensor; the name is empty where the node has none.
weights::WeightView view_of(const graph::Node& weight);

class SourceSlots {
 public:
  /// `cards`: those that anything is asked for on.
  SourceSlots(const graph::Graph& graph, weights::WeightStore& weights, kernels::ThreadTeam& team,
              std::vector<weights::DevicePtr> cards)
      : graph_(graph), weights_(weights), team_(team), cards_(std::move(cards)) {}

  /// Of a weight in its stored form, a constant or an input; none for any other value. A weight's bytes
  /// are made only here: a merged adapter costs memory.
  Result<ops::Slot> slot(const graph::Value& value, kernels::DeviceId device);
  /// A weight's bytes, packed when asked; refuses a value that is no weight.
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing, kernels::DeviceId device);
  /// The weights that were asked for and the constants, for whoever runs the steps.
  std::vector<weights::WeightBytes> take_weights() { return {held_.begin(), held_.end()}; }
  std::vector<weights::Buffer> take_constants() { return std::move(constants_); }
  /// A kernel finds rows by the value, if it is given.
  void note_use(ValueId value, const GivenInput::Use& use);
  /// The inputs that a step brings by name, by Slot::offset.
  std::vector<GivenInput> take_given() { return std::move(given_); }

 private:
  Result<ops::Slot> make(const graph::Value& value, kernels::DeviceId device);
  Result<ops::Slot> input_slot(const graph::Node& node, const graph::Value& value);
  Result<size_t> number_of(const graph::Node& node, const std::string& name, const graph::ValueType& type);
  Result<ops::Slot> make_constant(const graph::Node& node, const graph::Value& value,
                                  kernels::DeviceId device);
  weights::DevicePtr memory_of(kernels::DeviceId device) const { return weights::find_card(cards_, device); }

  const graph::Graph& graph_;
  weights::WeightStore& weights_;
  kernels::ThreadTeam& team_;
  std::vector<weights::DevicePtr> cards_;
  std::map<std::pair<ValueId, kernels::DeviceId>, ops::Slot> slots_;
  std::set<weights::WeightBytes> held_;
  std::set<weights::WeightTensor> taken_apart_;  // made once for all the rows that are taken of them
  std::vector<weights::Buffer> constants_;
  std::vector<GivenInput> given_;
};

}  // namespace orrery::compile
