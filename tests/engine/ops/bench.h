// One node on a bench: sources with data, the node, and what its lowering computes with the real kernels.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>

#include "engine/ops/lowering.h"

namespace orrery::ops::test {

using graph::Attributes;
using Floats = std::vector<float>;

/// Reproducible numbers in [-1, 1).
Floats noise(size_t count, uint32_t seed);

class Bench : public LowerContext {
 public:
  explicit Bench(int64_t tokens = 3, int64_t sequences = 1, int64_t outputs = 1);

  /// f32[rows, cols] with rows a symbol of the step; the data has as many rows as the step.
  ValueId rows(const std::string& name, const Symbol& rows, Floats data);
  ValueId vector(const std::string& name, Floats data);  // computed, f32[n]
  /// Computed, of any type and shape; the data has as many elements as the step makes of it.
  ValueId tensor(const std::string& name, DType dtype, Shape shape, const Floats& data);
  /// Stored in dtype (quantised here); what the kernels will see of it is read back by weight_values().
  ValueId weight(const std::string& name, DType dtype, std::vector<int64_t> shape, const Floats& data);
  ValueId input(std::string_view name);
  ValueId state(int64_t kv_heads, int64_t head_dim);
  ValueId record(const std::vector<int64_t>& shape);
  Floats weight_values(ValueId weight) const;  // dequantised

  /// Adds the node; its error when it is refused.
  Result<NodeId> add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  /// Lowers and runs it; the bytes of its outputs as floats, in order. Failures are test failures. All its
  /// outputs are read, unless edit().set_outputs() named others before.
  std::vector<Floats> run(NodeId node);
  std::vector<Floats> run(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  Result<Lowered> lower(NodeId node);
  graph::Cost cost(NodeId node, Bindings more = {}) const;

  // The step: fill before running.
  std::vector<int32_t> token_ids, positions, sequence_starts, kv_lengths, output_rows;
  std::vector<kernels::Sample::Request> requests;
  std::vector<kernels::Sample::Choice> choices;
  int64_t max_token_bound = 16, min_token_bound = 1;
  int64_t longest_text = 0;
  DType kv = DType::f32;
  kernels::DeviceKind placed = kernels::DeviceKind::cpu;

  const graph::Graph& graph() const override { return graph_; }
  graph::Graph& edit() { return graph_; }
  Slot slot(ValueId value) const override { return slots_.at(value); }
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override;
  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return min_token_bound; }
  int64_t max_tokens() const override { return max_token_bound; }
  int64_t max_outputs() const override { return max_token_bound; }
  DType kv_dtype() const override { return kv; }
  int64_t context() const override { return longest_text; }
  kernels::Precision default_precision() const override { return kernels::Precision::exact; }
  kernels::DeviceKind device() const override { return placed; }
  int threads() const override { return team_.size(); }

 private:
  ValueId source(const std::string& op, const std::string& name, Attributes attributes);
  Slot place(ValueId value, size_t bytes);
  ValueId make_pages(ValueId state, size_t bytes, const kernels::PagedKv& pages);
  StepContext step();
  Floats floats(ValueId value, const StepContext& step) const;

  int64_t tokens_, sequences_, outputs_;
  graph::Graph graph_;
  kernels::ThreadTeam team_{2};
  std::unordered_map<ValueId, Slot> slots_;
  std::unordered_map<ValueId, std::vector<std::byte>> weights_;
  std::deque<std::vector<float>> packed_;
  std::vector<std::max_align_t> arena_, workspace_, pages_;
  size_t arena_used_ = 0;
  std::vector<int32_t> page_table_;
  kernels::PagedKv kv_pages_;
  kernels::RecordUse record_{-1, -1, 0, 1};  // of one sequence, whose text begins
  int count_ = 0;
};

/// Each within tolerance of the larger of 1 and the expected.
void expect_near(const Floats& got, const std::vector<double>& expected, double tolerance = 1e-5);

}  // namespace orrery::ops::test
