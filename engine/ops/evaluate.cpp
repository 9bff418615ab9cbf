#include "engine/ops/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "engine/ops/constant.h"
#include "engine/ops/lowering.h"
#include "kernels/combine.h"
#include "kernels/copy.h"
#include "kernels/elementwise.h"
#include "kernels/map.h"
#include "kernels/matmul.h"
#include "kernels/softmax.h"
#include "kernels/top_k.h"

namespace orrery::ops {
namespace {

/// Kernels that take any numbers: no states, no requests, no chance, no rows that numbers point to.
constexpr std::string_view kTaken[] = {
    kernels::Combine::kName, kernels::Copy::kName,    kernels::Elementwise::kName, kernels::Map::kName,
    kernels::Matmul::kName,  kernels::Softmax::kName, kernels::TopK::kName};

bool takes_any_numbers(const graph::Node& node) {
  if (!node.op->lowering) return false;
  const kernels::RowTable rows = node.op->lowering->rows(kernels::DeviceKind::cpu);
  return std::all_of(rows.lists().begin(), rows.lists().end(), [](const kernels::RowList& list) {
    return std::find(std::begin(kTaken), std::end(kTaken), list.op()) != std::end(kTaken);
  });
}

bool is_small(const graph::ValueType& type) {
  const auto elements = element_count(type.shape, {});
  return elements && *elements <= kMostFolded && is_element(type.dtype);
}

/// One node whose operands lie in buffers.
class Evaluation final : public LowerContext {
 public:
  explicit Evaluation(const graph::Graph& graph) : graph_(graph) {}

  std::vector<std::byte>& place(ValueId value, std::vector<std::byte> bytes) {
    return places_[value] = std::move(bytes);
  }

  const graph::Graph& graph() const override { return graph_; }
  Slot slot(ValueId value) const override {
    const auto it = places_.find(value);
    return it == places_.end() ? Slot{} : Slot{Slot::Kind::fixed, 0, it->second.data()};
  }
  Result<const void*> weight(ValueId value, const kernels::WeightPacking*) override {
    return Error{ErrorCode::unsupported, "It is no weight", graph_.value_path(value), ""};
  }
  const graph::ValueType& type(ValueId value) const override { return graph_.value(value).type; }
  int64_t min_tokens() const override { return 1; }
  int64_t max_tokens() const override { return 1; }
  int64_t max_outputs() const override { return 1; }
  DType kv_dtype() const override { return DType::f16; }
  int64_t context() const override { return 0; }
  kernels::Precision default_precision() const override { return kernels::Precision::exact; }
  kernels::DeviceKind device() const override { return kernels::DeviceKind::cpu; }
  int threads() const override { return 1; }

 private:
  const graph::Graph& graph_;
  std::unordered_map<ValueId, std::vector<std::byte>> places_;
};

}  // namespace

std::optional<std::vector<std::byte>> evaluate(const graph::Graph& graph, const graph::Node& node) {
  if (node.outputs.size() != 1 || node.inputs.empty() || !takes_any_numbers(node)) return std::nullopt;
  const graph::ValueType& type = graph.value(node.outputs[0]).type;
  if (!is_small(type)) return std::nullopt;
  Evaluation evaluation(graph);
  for (const ValueId input : node.inputs) {
    const graph::Value* value = graph.find_value(input);
    if (!value || value->kind != graph::ValueKind::constant || !is_small(value->type)) return std::nullopt;
    auto bytes = constant_bytes(graph.node(value->producer), value->type);
    if (!bytes.ok()) return std::nullopt;
    evaluation.place(input, std::move(bytes).value());
  }
  const auto elements = static_cast<size_t>(element_count(type.shape, {}).value_or(0));
  const size_t size = elements * static_cast<size_t>(dtype_info(type.dtype).block_bytes);
  std::vector<std::byte>& dst = evaluation.place(node.outputs[0], std::vector<std::byte>(size));
  const auto lowered = lower_node(evaluation, node);
  if (!lowered.ok()) return std::nullopt;
  std::vector<std::max_align_t> workspace(lowered->workspace_bytes / sizeof(std::max_align_t) + 64);
  void* begin = workspace.data();
  size_t space = workspace.size() * sizeof(std::max_align_t);
  StepContext step;
  step.workspace = static_cast<std::byte*>(std::align(64, lowered->workspace_bytes, begin, space));
  lowered->run(step);
  return std::move(dst);
}

}  // namespace orrery::ops
