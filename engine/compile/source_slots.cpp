#include "engine/compile/source_slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ops/constant.h"
#include "engine/ops/merged_adapters.h"

namespace orrery::compile {
namespace {

using ops::Slot;

Result<std::string> text_attribute(const graph::Node& node, const char* name) {
  const auto it = node.attributes.find(name);
  const auto* text = it == node.attributes.end() ? nullptr : std::get_if<std::string>(&it->second);
  if (!text)
    return Error{ErrorCode::invalid_argument, fmt::format("The {} node has no \"{}\"", node.op->name, name),
                 fmt::format("node {}", node.path()), "undo the edit that removed it"};
  return *text;
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
  view.columns = attribute("columns", std::vector<int64_t>());
  view.stacked = attribute("stacked", int64_t{0});
  view.file = {attribute("file", std::string()), attribute("stamp", std::string())};
  for (ops::MergedAdapter& adapter : ops::parse_merged(attribute("merged", std::string())))
    view.merged.push_back({adapter.factor, {std::move(adapter.path), std::move(adapter.stamp)}});
  view.dtype = ops::parse_dtype(attribute("dtype", std::string()));
  return view;
}

Result<Slot> SourceSlots::slot(const graph::Value& value, kernels::DeviceId device) {
  const std::pair key(value.id, device);
  if (const auto it = slots_.find(key); it != slots_.end()) return it->second;
  ORRERY_ASSIGN(const Slot made, make(value, device));
  return slots_[key] = made;
}

Result<Slot> SourceSlots::make(const graph::Value& value, kernels::DeviceId device) {
  const graph::Node* producer = graph_.find(value.producer);
  if (!producer) return Slot{};
  switch (value.kind) {
    case graph::ValueKind::input:
      return input_slot(*producer, value);
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

Result<Slot> SourceSlots::input_slot(const graph::Node& node, const graph::Value& value) {
  ORRERY_ASSIGN(const std::string name, text_attribute(node, "name"));
  if (ops::is_given(node)) {
    ORRERY_ASSIGN(const size_t number, number_of(node, name, value.type));
    return Slot{Slot::Kind::given, number, nullptr};
  }
  if (const auto input = ops::find_step_input(name)) return Slot{Slot::Kind::input, *input, nullptr};
  return Error{ErrorCode::unsupported, fmt::format("A step has no input \"{}\"", name),
               fmt::format("node {}", node.path()), "use one of those in engine/graph/step_inputs.inc"};
}

Result<size_t> SourceSlots::number_of(const graph::Node& node, const std::string& name,
                                      const graph::ValueType& type) {
  const auto known = std::ranges::find(given_, name, &GivenInput::name);
  const auto number = static_cast<size_t>(known - given_.begin());
  if (known == given_.end())
    given_.push_back({name, type});
  else if (known->type != type)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("\"{}\" is given as {}, and as {} to another node", name, to_string(type),
                             to_string(known->type)),
                 fmt::format("node {}", node.path()), "give one of them another name"};
  return number;
}

void SourceSlots::note_use(ValueId value, const GivenInput::Use& use) {
  const graph::Node* producer = graph_.find(graph_.value(value).producer);
  if (!producer || !ops::is_given(*producer)) return;
  const auto* name = std::get_if<std::string>(&producer->attributes.at("name"));
  for (GivenInput& input : given_)
    if (name && input.name == *name) input.uses.push_back(use);
}

Result<const void*> SourceSlots::weight(ValueId value, const kernels::WeightPacking* packing,
                                        kernels::DeviceId device) {
  const graph::Node* producer = graph_.find(graph_.value(value).producer);
  if (!producer || graph_.value(value).kind != graph::ValueKind::weight)
    return Error{ErrorCode::unsupported,
                 fmt::format("\"{}\" is computed, but this kernel reads a weight of the file",
                             graph_.value(value).name),
                 producer ? fmt::format("node {}", producer->path()) : std::string(),
                 "connect a weight to it"};
  ORRERY_TRY(text_attribute(*producer, "tensor"));
  const weights::WeightView view = view_of(*producer);
  if (!view.rows.empty() || !view.columns.empty()) {
    ORRERY_ASSIGN(weights::WeightTensor whole, weights_.tensor(view.whole(), team_));
    taken_apart_.insert(std::move(whole));
  }
  ORRERY_ASSIGN(weights::WeightBytes bytes, weights_.bytes(view, packing, team_, memory_of(device)));
  return held_.insert(std::move(bytes)).first->get();
}

Result<Slot> SourceSlots::make_constant(const graph::Node& node, const graph::Value& value,
                                        kernels::DeviceId device) {
  ORRERY_ASSIGN(const std::vector<std::byte> bytes, ops::constant_bytes(node, value.type));
  ORRERY_ASSIGN(weights::Buffer buffer,
                weights::Buffer::allocate(bytes.size(), memory_of(device), "a constant"));
  ORRERY_TRY(buffer.fill(bytes.data(), bytes.size()));
  const Slot slot{Slot::Kind::fixed, 0, buffer.data()};
  constants_.push_back(std::move(buffer));
  return slot;
}

}  // namespace orrery::compile
