// Runs a graph node by node, each on the kernels that its own lowering chooses on the CPU, in buffers of its
// own: a step costs microseconds, so that differences of many of them may be taken.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <unordered_map>

#include "engine/ops/constant.h"
#include "engine/ops/lowering.h"
#include "kernels/linear.h"
#include "kernels/quantise.h"

namespace orrery::passes::test {

class Interpreter final : public ops::LowerContext {
 public:
  /// The sizes of a step are bound: tokens, sequences, outputs.
  Interpreter(graph::Graph graph, std::vector<ValueId> outputs, Bindings sizes, int threads = 1)
      : graph_(std::move(graph)), sizes_(std::move(sizes)), team_(threads) {
    graph_.set_outputs(std::move(outputs));
  }

  /// The elements of a source, in its type; of a weight, in the form that its type stores.
  void give(ValueId source, const std::vector<float>& numbers) {
    const graph::ValueType& type = graph_.value(source).type;
    const auto count = static_cast<int64_t>(numbers.size());
    const int64_t cols = type.shape.empty() || count == 0 ? count : *type.shape.back().evaluate(sizes_);
    const size_t stride = *row_bytes(type.dtype, cols);
    std::byte* bytes = place(source, stride * static_cast<size_t>(cols > 0 ? count / cols : 0));
    if (type.dtype == DType::i32 || type.dtype == DType::i64 || type.dtype == DType::boolean) {
      give_whole(type.dtype, numbers, bytes);
      return;
    }
    for (int64_t row = 0; cols > 0 && row < count / cols; ++row)
      kernels::quantise_row(type.dtype, numbers.data() + row * cols, cols,
                            bytes + static_cast<size_t>(row) * stride);
  }

  /// Chooses the kernels of all nodes that an output needs. Sources have been given.
  void prepare() {
    const std::vector<bool> live = graph_.live();
    for (size_t i = 0; i < live.size(); ++i) {
      if (!live[i]) continue;
      const graph::Node& node = graph_.node(graph_.order()[i]);
      for (const ValueId output : node.outputs)
        if (!places_.contains(output)) make_place(node, output);
      if (node.is_source()) continue;
      auto lowered = ops::lower_node(*this, node);
      ASSERT_TRUE(lowered.ok()) << lowered.error().to_string();
      workspace_.resize(std::max(workspace_.size(), lowered->workspace_bytes / kWord + 64));
      steps_.push_back(std::move(lowered->run));
    }
  }

  void run() {
    ops::StepContext step;
    step.tokens = sizes_[kTokens];
    step.sequences = sizes_[kSequences];
    step.outputs = sizes_[kOutputs];
    for (const auto& [input, bytes] : inputs_) ops::step_inputs()[input].point(step, bytes);
    std::vector<int32_t> lengths;  // of the texts, which nothing was read of before
    for (int64_t i = 0; step.sequence_starts && i < step.sequences; ++i)
      lengths.push_back(step.sequence_starts[i + 1] - step.sequence_starts[i]);
    step.kv_lengths = lengths.data();
    step.max_length = step.tokens;
    step.workspace = reinterpret_cast<std::byte*>(workspace_.data());
    step.team = &team_;
    for (const auto& node : steps_) node(step);
  }

  std::vector<float> read(ValueId value) const {
    const graph::ValueType& type = graph_.value(value).type;
    std::vector<float> numbers(static_cast<size_t>(element_count(type.shape, sizes_).value_or(0)));
    if (!numbers.empty())
      kernels::dequantise_row(type.dtype, places_.at(value).data(), static_cast<int64_t>(numbers.size()),
                              numbers.data());
    return numbers;
  }

  const graph::Graph& graph() const override { return graph_; }
  ops::Slot slot(ValueId value) const override {
    const graph::Node& maker = graph_.node(graph_.value(value).producer);
    if (const auto input = step_input_of(maker)) return {ops::Slot::Kind::input, *input, nullptr};
    const auto found = places_.find(value);
    return found == places_.end() ? ops::Slot{} : ops::Slot{ops::Slot::Kind::fixed, 0, found->second.data()};
  }
  Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) override {
    const auto found = places_.find(value);
    if (found == places_.end())
      return Error{ErrorCode::not_found, "The weight was not given", graph_.value_path(value), ""};
    if (!packing) return static_cast<const void*>(found->second.data());
    const graph::ValueType& type = graph_.value(value).type;
    const int64_t cols = type.shape.back().constant(),
                  rows = type.shape.size() == 1 ? 1 : type.shape[0].constant();
    packed_.emplace_back(packing->bytes(type.dtype, rows, cols) / kWord + 16);
    packing->pack(found->second.data(), type.dtype, rows, cols, packed_.back().data(), team_);
    return static_cast<const void*>(packed_.back().data());
  }
  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return 1; }
  int64_t max_tokens() const override { return 64; }
  int64_t max_outputs() const override { return 64; }
  DType kv_dtype() const override { return DType::f32; }
  int64_t context() const override { return 64; }
  kernels::Precision default_precision() const override { return kernels::Precision::exact; }
  kernels::DeviceKind device() const override { return kernels::DeviceKind::cpu; }
  int threads() const override { return team_.size(); }

 private:
  static constexpr size_t kWord = sizeof(std::max_align_t);

  /// Bytes that are aligned as an arena aligns them.
  struct Place {
    std::vector<std::max_align_t> words;
    size_t bytes = 0;
    std::byte* data() const {
      void* begin = const_cast<std::max_align_t*>(words.data());
      size_t space = words.size() * kWord;
      return static_cast<std::byte*>(std::align(64, bytes, begin, space));
    }
  };

  static std::optional<size_t> step_input_of(const graph::Node& node) {
    if (node.op->name != "input" || ops::is_given(node)) return std::nullopt;
    return ops::find_step_input(std::get<std::string>(node.attributes.at("name")));
  }

  std::byte* place(ValueId value, size_t bytes) {
    Place& made = places_[value];
    made.words.resize(bytes / kWord + 8);
    made.bytes = bytes;
    const graph::Node& maker = graph_.node(graph_.value(value).producer);
    if (const auto input = step_input_of(maker)) inputs_[*input] = made.data();
    return made.data();
  }

  void make_place(const graph::Node& node, ValueId output) {
    const graph::ValueType& type = graph_.value(output).type;
    if (node.op->name == "constant") {
      const auto bytes = ops::constant_bytes(node, type);
      ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
      std::ranges::copy(*bytes, place(output, bytes->size()));
    } else {
      ASSERT_FALSE(node.is_source()) << node.path() << " was not given";
      place(output, static_cast<size_t>(graph::bytes_of(type, sizes_)));
    }
  }

  static void give_whole(DType dtype, const std::vector<float>& numbers, std::byte* bytes) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (dtype == DType::i32) reinterpret_cast<int32_t*>(bytes)[i] = static_cast<int32_t>(numbers[i]);
      if (dtype == DType::i64) reinterpret_cast<int64_t*>(bytes)[i] = static_cast<int64_t>(numbers[i]);
      if (dtype == DType::boolean) bytes[i] = static_cast<std::byte>(numbers[i] != 0);
    }
  }

  graph::Graph graph_;
  Bindings sizes_;
  kernels::ThreadTeam team_;
  std::unordered_map<ValueId, Place> places_;
  std::unordered_map<size_t, const void*> inputs_;  // the step's own, by number
  std::deque<std::vector<std::max_align_t>> packed_;
  std::vector<std::max_align_t> workspace_;
  std::vector<std::function<void(const ops::StepContext&)>> steps_;
};

}  // namespace orrery::passes::test
