// What the values of a graph are: one step over a text, or over what is given to it, run beside the sequences
// of the model, whose chosen values are kept and read afterwards.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/generate/generator.h"
#include "engine/generate/known_values.h"

namespace orrery::generate {

class Probe {
 public:
  struct Point {
    NodeId node;
    ValueId value;
    graph::ValueType type;  // its sizes those of the step
    size_t elements = 0;
  };
  /// What the step brings.
  struct Step {
    std::span<const int32_t> tokens = {};
    int64_t outputs = 0;                     // of the last tokens, whose logits are asked for
    std::vector<runtime::Given> given = {};  // the bytes stay valid while the probe is used
    /// Where texts begin that need no context, then the number of tokens; empty: all is one text.
    std::span<const int32_t> starts = {};
    bool timed = false;  // nodes are measured: profile()
    /// What of this text is known: the graph runs from there on, and makes nothing but the kept values.
    const KnownValues* known = nullptr;
  };

  /// Reads the tokens from an empty context with the model's arithmetic and KV dtype, on the version's
  /// devices. Of the values of its fused graph `keep` are kept: what live nodes make, and sources but states.
  /// Blocks; the scheduler serves others before and after the one step.
  static Result<std::unique_ptr<Probe>> run(const Engine& engine, const runtime::Version& version,
                                            std::span<const ValueId> keep, const Step& step);
  /// The same step once more.
  Result<void> run_again();

  const std::vector<Point>& points() const { return points_; }
  /// Of a float32 point.
  Result<std::vector<float>> read(size_t point);
  /// The elements, one after another.
  Result<std::vector<std::byte>> read_bytes(size_t point);
  const compile::Plan& plan() const { return *plan_; }
  /// Of the steps so far, if they are timed.
  runtime::ProfileSnapshot profile() const { return profiler_.snapshot(batch_.phase()); }

 private:
  explicit Probe(runtime::DeviceScheduler& scheduler) : scheduler_(scheduler) {}
  Result<void> prepare(const runtime::Version& version, std::span<const ValueId> keep, const Step& step);
  Result<void> make_batch(const Engine& engine, const Step& step);
  Result<void> make_cache(const Engine& engine, std::span<const int32_t> tokens);
  void measure_points();

  runtime::DeviceScheduler& scheduler_;
  runtime::ModelDevices devices_;
  graph::GraphVersion graph_;
  std::shared_ptr<const compile::Plan> plan_;
  size_t first_ = 0;  // of the kept values among the outputs of the plan
  std::unique_ptr<runtime::KvCache> kv_;
  runtime::KvPages pages_;
  runtime::StepBatch batch_;
  std::vector<runtime::Given> given_;            // of what is known
  std::unique_ptr<runtime::Executor> executor_;  // made by the scheduler's thread
  bool timed_ = false;
  runtime::Profiler profiler_;
  std::vector<Point> points_;
};

/// The first outputs of the live nodes that make float32 activations, in order.
std::vector<ValueId> float_values(const graph::Graph& graph);
/// What the sampling node reads; none in an encoder.
ValueId logits_of(const graph::Graph& graph);

}  // namespace orrery::generate
