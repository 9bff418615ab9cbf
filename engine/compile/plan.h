// A Plan: the immutable steps of one graph for one bucket of tokens, with the chosen kernels, the refusals
// and the arenas.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/ops/lowering.h"
#include "engine/passes/passes.h"
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
  kernels::Precision precision = kernels::Precision::balanced;
  std::vector<weights::DevicePtr> cards;  // of the nodes that do not run on the CPU, each once
  kernels::DeviceId home;                 // where nodes without a device attribute run
  bool keep_logits = false;     // the logits output is read after the step (outputs always live to its end)
  passes::Options passes = {};  // those that are run for each plan
  int threads = 0;              // of the team that will run the plan; 0: of the team that compiles it
  std::stop_token stop;         // looked at between nodes; a plan keeps none
  std::function<void(size_t done, size_t nodes)> on_node = {};  // after each; a plan keeps none
};

/// Of a value in a step.
size_t bytes_in(const ops::StepContext& step, const graph::ValueType& type);

/// Where a node of a compiled graph runs: what its device attribute says, or home.
kernels::DeviceId runs_on(const graph::Node& node, kernels::DeviceId home);

/// A value on its way to another device's arena: a copy in the stream of the card that it goes to, or, to the
/// program's memory, that it comes from.
struct Transfer {
  ops::Slot src, dst;
  kernels::DeviceId from, to;
  graph::ValueType type;
  size_t bytes(const ops::StepContext& step) const { return bytes_in(step, type); }
};

struct Step {
  NodeId node;
  std::string op, kernel;
  std::vector<kernels::Refusal> refused;             // rows asked before the kernel
  std::vector<std::string> after;                    // rows not asked, after it
  kernels::DeviceId device;                          // where its results lie; a kernel runs there too
  std::function<void(const ops::StepContext&)> run;  // null: a transfer
  std::optional<Transfer> transfer;
  Arithmetic arithmetic = Arithmetic::f32;
  std::optional<ops::Computed> computed = {};  // of nodes that multiply: what they round, and why
};

/// Steps begin to end - 1 that run one after another on one device. Transfers belong to the card whose stream
/// copies them.
struct Segment {
  size_t begin = 0, end = 0;
  kernels::DeviceId device;
  /// Earlier segments of other devices that must have ended before this one begins, but for those that
  /// others wait for already. Segments of one device follow each other.
  std::vector<size_t> after = {};
};

struct OutputSlot {
  ops::Slot slot;
  kernels::DeviceId device;
};

/// A card that some steps of a plan need.
struct CardUse {
  weights::DevicePtr card;
  uint64_t epoch = 0;  // when the plan was compiled; another one: its addresses are gone
  size_t arena_bytes = 0, workspace_bytes = 0;
};

/// An input that whoever runs the plan brings by its name (ops::is_given). The step binds its sizes.
struct GivenInput {
  /// A kernel finds rows by its numbers, of which there are so many.
  struct Use {
    graph::Finds finds = graph::Finds::nothing;
    ops::RowCount rows;
  };
  std::string name;
  graph::ValueType type;
  std::vector<Use> uses = {};
};

struct Plan {
  uint64_t id = 0;                     // no two plans of a run have the same
  graph::GraphVersion fused;           // what it was compiled from
  graph::GraphVersion graph;           // what it runs: graph_of_plan() of that, with the same node ids
  std::vector<passes::Record> passes;  // of those that made the one of the other
  Options options;                     // as it was asked for, without cards that no step needs
  std::vector<CardUse> cards;          // in the order of their ids
  std::vector<Step> steps;
  std::vector<Segment> segments;
  size_t host_arena_bytes = 0, host_workspace_bytes = 0;  // in the program's memory
  std::vector<OutputSlot> output_slots;                   // of graph->outputs()
  std::vector<ValueId> states;                            // input states, by state index
  std::vector<GivenInput> given;                          // what a step brings beside its own inputs
  std::vector<ops::LeastSize> least_sizes;                // what a step's symbols must come to
  std::vector<weights::WeightBytes> weights;              // what the steps read, held
  std::vector<weights::Buffer> constants;                 // bytes of the constant nodes
  double compile_milliseconds = 0;

  /// Whether no step needs the program from its start to its end.
  bool only_on_cards() const;
};

/// The graph of the plan that these options ask for: the fused and placed one, after the passes that ask the
/// rows of its devices in steps of that bucket. Without its arenas, weights and steps; the same pointer where
/// no pass rewrote anything.
Result<passes::Outcome> graph_of_plan(graph::GraphVersion fused, const Options& options);

/// Lowers every node in order for the device that it runs on; buffers share the arena of their device by
/// liveness. Fails with the node's reason when a node has no row or reads what lies on the other device, and
/// as cancelled when `stop` asks for it: weights that were prepared until then stay.
Result<std::shared_ptr<const Plan>> compile(graph::GraphVersion fused, weights::WeightStore& weights,
                                            kernels::ThreadTeam& team, const Options& options);

}  // namespace orrery::compile
