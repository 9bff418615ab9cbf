#include "engine/compile/source_slots.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::compile {
namespace {

using ops::Slot;
using ops::StepInput;

constexpr int64_t kMostConstants = int64_t{1} << 28;  // elements of one

Result<std::string> text_attribute(const graph::Node& node, const char* name) {
  const auto it = node.attributes.find(name);
  const auto* text = it == node.attributes.end() ? nullptr : std::get_if<std::string>(&it->second);
  if (!text)
    return Error{ErrorCode::invalid_argument, fmt::format("The {} node has no \"{}\"", node.op->name, name),
                 fmt::format("node {}", node.path()), "undo the edit that removed it"};
  return *text;
}

Result<Slot> input_slot(const graph::Node& node) {
  static constexpr std::pair<std::string_view, StepInput> kInputs[] = {
      {graph::step_input::token_ids, StepInput::token_ids},
      {graph::step_input::positions, StepInput::positions},
      {graph::step_input::token_types, StepInput::token_types},
      {graph::step_input::sequence_starts, StepInput::sequence_starts},
      {graph::step_input::kv_lengths, StepInput::kv_lengths},
      {graph::step_input::output_rows, StepInput::output_rows}};
  ORRERY_ASSIGN(const std::string name, text_attribute(node, "name"));
  for (const auto& [known, input] : kInputs)
    if (known == name) return Slot{Slot::Kind::input, static_cast<size_t>(input), nullptr};
  return Error{ErrorCode::unsupported, fmt::format("A step has no input \"{}\"", name),
               fmt::format("node {}", node.path()), "use one of the step inputs that graph.h lists"};
}

}  // namespace

weights::WeightView view_of(const graph::Node& weight) {
  const auto attribute = [&]<class T>(const char* name, T fallback) {
    const auto it = weight.attributes.find(name);
    const auto* value = it == weight.attributes.end() ? nullptr : std::get_if<T>(&it->second);
    return value ? *value : fallback;
  };
  weights::WeightView view{attribute("tensor", std::string()), attribute("transposed", false),
                           attribute("rows", std::vector<int64_t>())};
  view.stacked = attribute("stacked", int64_t{0});
  return view;
}

Result<Slot> SourceSlots::slot(const graph::Value& value, kernels::DeviceKind device) {
  const std::pair key(value.id, device);
  if (const auto it = slots_.find(key); it != slots_.end()) return it->second;
  ORRERY_ASSIGN(const Slot made, make(value, device));
  return slots_[key] = made;
}

Result<Slot> SourceSlots::make(const graph::Value& value, kernels::DeviceKind device) {
  const graph::Node* producer = graph_.find(value.producer);
  if (!producer) return Slot{};
  switch (value.kind) {
    case graph::ValueKind::input:
      return input_slot(*producer);
    case graph::ValueKind::constant:
      return make_constant(*producer, value, device);
    case graph::ValueKind::weight: {
      ORRERY_ASSIGN(const void* bytes, weight(value.id, nullptr, device));
      return Slot{Slot::Kind::fixed, 0, bytes};
    }
    case graph::ValueKind::state:
    case graph::ValueKind::activation:
      break;
  }
  return Slot{};
}

Result<const void*> SourceSlots::weight(ValueId value, const kernels::WeightPacking* packing,
                                        kernels::DeviceKind device) {
  const graph::Node* producer = graph_.find(graph_.value(value).producer);
  if (!producer || graph_.value(value).kind != graph::ValueKind::weight)
    return Error{ErrorCode::unsupported,
                 fmt::format("\"{}\" is computed, but this kernel reads a weight of the file",
                             graph_.value(value).name),
                 producer ? fmt::format("node {}", producer->path()) : std::string(),
                 "connect a weight to it"};
  ORRERY_TRY(text_attribute(*producer, "tensor"));
  const weights::WeightView view = view_of(*producer);
  if (!view.rows.empty()) {
    ORRERY_ASSIGN(weights::WeightTensor whole, weights_.tensor({view.tensor, view.transposed, {}}, team_));
    taken_apart_.insert(std::move(whole));
  }
  ORRERY_ASSIGN(weights::WeightBytes bytes, weights_.bytes(view, packing, team_, memory_of(device)));
  return held_.insert(std::move(bytes)).first->get();
}

Result<Slot> SourceSlots::make_constant(const graph::Node& node, const graph::Value& value,
                                        kernels::DeviceKind device) {
  const auto attribute = node.attributes.find("value");
  const auto* number = attribute == node.attributes.end() ? nullptr : std::get_if<double>(&attribute->second);
  const auto elements = element_count(value.type.shape, {});
  if (!number || !elements || value.type.dtype != DType::f32 || *elements < 0 || *elements > kMostConstants)
    return Error{ErrorCode::unsupported, "The constant is no float32 number of a fixed shape",
                 fmt::format("node {}", node.path()), "set its value and shape"};
  const auto count = static_cast<size_t>(*elements);
  const std::vector<float> numbers(std::max<size_t>(count, 1), static_cast<float>(*number));
  const size_t bytes = numbers.size() * sizeof(float);
  ORRERY_ASSIGN(weights::Buffer buffer, weights::Buffer::allocate(bytes, memory_of(device), "a constant"));
  ORRERY_TRY(buffer.fill(numbers.data(), bytes));
  const Slot slot{Slot::Kind::fixed, 0, buffer.data()};
  constants_.push_back(std::move(buffer));
  return slot;
}

}  // namespace orrery::compile
