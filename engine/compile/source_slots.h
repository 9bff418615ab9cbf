// Where the sources of a graph lie: step inputs on either side, weights and constants where a step of a
// device reads them, made when they are first asked for.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/ops/lowering.h"
#include "engine/weights/weight_store.h"

namespace orrery::compile {

/// What a weight node takes of its tensor; the name is empty where the node has none.
weights::WeightView view_of(const graph::Node& weight);

class SourceSlots {
 public:
  /// `card` null: all is asked for on the CPU.
  SourceSlots(const graph::Graph& graph, weights::WeightStore& weights, kernels::ThreadTeam& team,
              weights::DevicePtr card)
      : graph_(graph), weights_(weights), team_(team), card_(std::move(card)) {}

  /// Of a weight in its stored form, a constant or a step input; none for any other value. A weight's bytes
  /// are made only here: a merged adapter costs memory.
  Result<ops::Slot> slot(const graph::Value& value, kernels::DeviceKind device);
  /// A weight's bytes, packed when asked; refuses a value that is no weight.
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing,
                             kernels::DeviceKind device);
  /// The weights that were asked for and the constants, for whoever runs the steps.
  std::vector<weights::WeightBytes> take_weights() { return {held_.begin(), held_.end()}; }
  std::vector<weights::Buffer> take_constants() { return std::move(constants_); }

 private:
  Result<ops::Slot> make(const graph::Value& value, kernels::DeviceKind device);
  Result<ops::Slot> make_constant(const graph::Node& node, const graph::Value& value,
                                  kernels::DeviceKind device);
  weights::DevicePtr memory_of(kernels::DeviceKind device) const {
    return device == kernels::DeviceKind::cpu ? nullptr : card_;
  }

  const graph::Graph& graph_;
  weights::WeightStore& weights_;
  kernels::ThreadTeam& team_;
  weights::DevicePtr card_;
  std::map<std::pair<ValueId, kernels::DeviceKind>, ops::Slot> slots_;
  std::set<weights::WeightBytes> held_;
  std::set<weights::WeightTensor> taken_apart_;  // made once for all the rows that are taken of them
  std::vector<weights::Buffer> constants_;
};

}  // namespace orrery::compile
