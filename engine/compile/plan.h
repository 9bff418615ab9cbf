// A Plan: the immutable steps of one graph for one bucket of tokens, with the chosen kernels, the refusals
// and the arenas.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/ops/lowering.h"
#include "engine/weights/weight_store.h"

namespace orrery::compile {

/// Token counts that one plan serves: 1, 2-4, 5-8, 9-16, ... powers of two.
struct Bucket {
  int64_t min_tokens = 1, max_tokens = 1, max_outputs = 1, max_sequences = 1;
};
Bucket bucket_for(int64_t tokens, int64_t outputs, int64_t sequences);

struct Options {
  Bucket bucket;
  DType kv_dtype = DType::f16;
  int64_t context = 0;  // tokens of the longest text; 0: not known
  kernels::Linear::Accuracy accuracy = kernels::Linear::Accuracy::fast;
  weights::DevicePtr device;  // the card of the nodes that do not run on the CPU; null: there are none
  kernels::DeviceKind home = kernels::DeviceKind::cpu;  // where nodes without a device attribute run
  bool keep_logits = false;  // the logits output is read after the step (outputs always live to its end)
  int threads = 0;           // of the team that will run the plan; 0: of the team that compiles it
  std::stop_token stop;      // looked at between nodes; a plan keeps none
  std::function<void(size_t done, size_t nodes)> on_node = {};  // after each; a plan keeps none
};

/// Where a node of a compiled graph runs: what its device attribute says, or home.
kernels::DeviceKind runs_on(const graph::Node& node, kernels::DeviceKind home);

/// A value on its way to the other device's arena: a copy in the card's stream.
struct Transfer {
  ops::Slot src, dst;
  graph::ValueType type;
  size_t bytes(const ops::StepContext& step) const;
};

struct Step {
  NodeId node;
  std::string op, kernel;
  std::vector<kernels::Refusal> refused;                  // rows asked before the kernel
  std::vector<std::string> after;                         // rows not asked, after it
  kernels::DeviceKind device = kernels::DeviceKind::cpu;  // where its results lie; a kernel runs there too
  std::function<void(const ops::StepContext&)> run;       // null: a transfer
  std::optional<Transfer> transfer;
  Arithmetic arithmetic = Arithmetic::f32;
};

/// Steps begin to end - 1 that run one after another on one device. Transfers belong to the card.
struct Segment {
  size_t begin = 0, end = 0;
  kernels::DeviceKind device = kernels::DeviceKind::cpu;
};

struct OutputSlot {
  ops::Slot slot;
  kernels::DeviceKind device = kernels::DeviceKind::cpu;
};

struct Plan {
  uint64_t id = 0;            // no two plans of a run have the same
  uint64_t epoch = 0;         // of the card when it was compiled; another one: its addresses are gone
  graph::GraphVersion graph;  // the fused graph it was compiled from
  Options options;            // its device is null when no step needs the card
  std::vector<Step> steps;
  std::vector<Segment> segments;
  size_t arena_bytes = 0, workspace_bytes = 0;            // on the card
  size_t host_arena_bytes = 0, host_workspace_bytes = 0;  // in the program's memory
  std::vector<OutputSlot> output_slots;                   // of graph->outputs()
  std::vector<ValueId> states;                            // input states, by state index
  std::vector<weights::WeightBytes> weights;              // what the steps read, held
  std::vector<weights::Buffer> constants;                 // bytes of the constant nodes
  double compile_milliseconds = 0;
};

/// Lowers every node in order for the device that it runs on; buffers share the arena of their device by
/// liveness. Fails with the node's reason when a node has no row or reads what lies on the other device, and
/// as cancelled when `stop` asks for it: weights that were prepared until then stay.
Result<std::shared_ptr<const Plan>> compile(graph::GraphVersion fused, weights::WeightStore& weights,
                                            kernels::ThreadTeam& team, const Options& options);

}  // namespace orrery::compile
