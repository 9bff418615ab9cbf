// What the values of a graph are: one step over a text, run beside the sequences of the model, whose chosen
// values are kept and read afterwards.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/generate/generator.h"

namespace orrery::generate {

class Probe {
 public:
  struct Point {
    NodeId node;
    ValueId value;
    size_t elements = 0;
  };

  /// Reads `tokens` from an empty context with the model's arithmetic and KV dtype, on the version's devices.
  /// Of the values of its fused graph `keep` are kept, float32 activations of live nodes. The logits are
  /// those of the last `outputs` tokens. Blocks; the scheduler serves others before and after the one step.
  static Result<std::unique_ptr<Probe>> run(const Engine& engine, const runtime::Version& version,
                                            std::span<const ValueId> keep, std::span<const int32_t> tokens,
                                            int64_t outputs);

  const std::vector<Point>& points() const { return points_; }
  Result<std::vector<float>> read(size_t point);

 private:
  explicit Probe(runtime::DeviceScheduler& scheduler) : scheduler_(scheduler) {}
  Result<void> prepare(const runtime::Version& version, std::span<const ValueId> keep);
  Result<void> make_cache(const Engine& engine, std::span<const int32_t> tokens);
  Result<void> step(kernels::ThreadTeam& team);

  runtime::DeviceScheduler& scheduler_;
  runtime::ModelDevices devices_;
  graph::GraphVersion graph_;
  std::shared_ptr<const compile::Plan> plan_;
  size_t first_ = 0;  // of the kept values among the outputs of the plan
  std::unique_ptr<runtime::KvCache> kv_;
  runtime::KvPages pages_;
  runtime::StepBatch batch_;
  std::unique_ptr<runtime::Executor> executor_;
  std::vector<Point> points_;
};

/// The first outputs of the live nodes that make float32 activations, in order.
std::vector<ValueId> float_values(const graph::Graph& graph);
/// What the sampling node reads; none in an encoder.
ValueId logits_of(const graph::Graph& graph);

}  // namespace orrery::generate
