#include "engine/models/graph_builder.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <set>

#include "engine/ops/state_kind.h"

namespace orrery::models {

GraphBuilder::GraphBuilder(const io::ModelFile& file, const io::Adapter* adapter)
    : file_(file), adapter_(adapter), graph_(ops::registry()) {
  for (const io::Tensor& tensor : file.tensors)
    unprefixed_.emplace(io::without_encoder_prefix(tensor.name), &tensor);
}

ValueId GraphBuilder::add_node(graph::Graph::NewNode node) {
  if (failed()) return {};
  auto added = graph_.add_node(std::move(node));
  if (added) return graph_.node(*added).outputs.front();
  Error error = std::move(added).error();
  error.where = error.where.empty() ? file_.path.string() : file_.path.string() + ", " + error.where;
  refuse(std::move(error));
  return {};
}

ValueId GraphBuilder::input(std::string_view name) {
  if (const auto made = inputs_.find(name); made != inputs_.end()) return made->second;
  const ValueId value = add_node({"input", "", std::string(name), {{"name", std::string(name)}}, {}, {}, {}});
  return inputs_[std::string(name)] = value;
}

std::optional<GraphBuilder::Found> GraphBuilder::require(const std::string& name, const std::string& tensor,
                                                         const std::vector<int64_t>& shape) {
  if (failed()) return {};
  const auto found = find(tensor);
  if (!found) {
    refuse({ErrorCode::corrupt_file, fmt::format("The file has no tensor {}", tensor), file_.path.string(),
            fmt::format("Its metadata ask for it as {}.{}: the file is cut short, or its metadata belong to "
                        "another model",
                        scope_, name)});
    return {};
  }
  if (*found->shape != shape) {
    refuse({ErrorCode::shape_mismatch,
            fmt::format("The tensor {} is [{}], but the metadata ask for [{}]", found->name,
                        fmt::join(*found->shape, ", "), fmt::join(shape, ", ")),
            file_.path.string(),
            fmt::format("It would be {}.{}: the metadata belong to another model", scope_, name)});
    return {};
  }
  if (auto runs = io::check_runnable(*found->stored, file_.path); !runs.ok()) {
    refuse(std::move(runs).error());
    return {};
  }
  return found;
}

ValueId GraphBuilder::weight(const std::string& name, const std::string& tensor,
                             const std::vector<int64_t>& shape, const TensorPart& part) {
  std::vector<int64_t> stored = shape;
  if (!part.rows.empty()) stored.front() = part.of_rows;
  if (part.transposed) std::reverse(stored.begin(), stored.end());
  const auto found = require(name, tensor, stored);
  if (!found) return {};
  std::tuple key(found->name, part.transposed, part.rows);
  if (const auto made = weights_.find(key); made != weights_.end()) return made->second;
  graph::Attributes attributes = {
      {"tensor", found->name}, {"dtype", std::string(name_of(found->dtype))}, {"shape", shape}};
  if (part.transposed) attributes["transposed"] = true;
  if (!part.rows.empty()) attributes["rows"] = part.rows;
  if (found->adapted) attributes["transform"] = std::string("adapter");
  const ValueId value = add_node({"weight", scope_, name, std::move(attributes), {}, {}, {}});
  return weights_[std::move(key)] = value;
}

ValueId GraphBuilder::stacked_weight(const std::string& name, const std::string& tensors, int64_t count,
                                     const std::vector<int64_t>& shape) {
  const size_t star = tensors.find('*');
  std::optional<Found> first;
  for (int64_t i = 0; i < count; ++i) {
    const std::string tensor = tensors.substr(0, star) + std::to_string(i) + tensors.substr(star + 1);
    const auto found = require(name, tensor, shape);
    if (!found) return {};
    if (!first) first = found;
    if (found->dtype != first->dtype) {
      refuse({ErrorCode::unsupported,
              fmt::format("The tensor {} is {}, but {} is {}", found->name, name_of(found->dtype),
                          first->name, name_of(first->dtype)),
              file_.path.string(), "Experts of one layer must be stored in one type"});
      return {};
    }
  }
  if (!first) return {};
  std::vector<int64_t> all = shape;
  all.insert(all.begin(), count);
  graph::Attributes attributes = {{"tensor", tensors},
                                  {"dtype", std::string(name_of(first->dtype))},
                                  {"shape", std::move(all)},
                                  {"stacked", count}};
  if (first->adapted) attributes["transform"] = std::string("adapter");
  return add_node({"weight", scope_, name, std::move(attributes), {}, {}, {}});
}

ValueId GraphBuilder::output(ValueId first, size_t index) const {
  return failed() ? ValueId{} : graph_.node(graph_.value(first).producer).outputs[index];
}

ValueId GraphBuilder::state(const std::string& name, int64_t layer, int64_t kv_heads, int64_t head_dim) {
  graph::Attributes attributes = {
      {"name", scope_ + "." + name}, {"layer", layer}, {"kv_heads", kv_heads}, {"head_dim", head_dim}};
  return add_node({"state", scope_, name, std::move(attributes), {}, {}, {}});
}

ValueId GraphBuilder::record(const std::string& name, int64_t layer, const std::vector<int64_t>& shape) {
  graph::Attributes attributes = {
      {"name", scope_ + "." + name}, {"layer", layer}, {"kind", std::string(ops::kRecord)}, {"shape", shape}};
  return add_node({"state", scope_, name, std::move(attributes), {}, {}, {}});
}

ValueId GraphBuilder::add(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
                          graph::Attributes attributes) {
  return add_node({op, scope_, name, std::move(attributes), std::move(inputs), {}, {}});
}

ValueId GraphBuilder::linear(ValueId src, const Linear& linear) {
  const ValueId matrix =
      weight(linear.name + ".weight", linear.tensor + ".weight", {linear.rows, linear.cols}, linear.part);
  const bool biased = has(linear.tensor + ".bias");
  const ValueId bias = biased ? weight(linear.name + ".bias", linear.tensor + ".bias", {linear.rows},
                                       {false, linear.part.rows, linear.part.of_rows})
                              : ValueId{};
  return add("linear", linear.name, {src, matrix, bias});
}

std::optional<GraphBuilder::Found> GraphBuilder::find(const std::string& tensor) const {
  const std::string_view short_name = io::without_encoder_prefix(tensor);
  const io::Tensor* base = file_.find(tensor);
  if (const auto found = unprefixed_.find(short_name); !base && found != unprefixed_.end())
    base = found->second;
  if (adapter_) {
    for (const io::Tensor& whole : adapter_->whole)
      if (whole.name == short_name)
        return Found{base ? base->name : whole.name, whole.dtype, &whole.shape, true, &whole};
    for (const io::Adapter::LowRank& low_rank : adapter_->low_rank)
      if (base && low_rank.target == short_name)
        return Found{base->name, DType::f32, &base->shape, true, base};
  }
  return base ? std::optional(Found{base->name, base->dtype, &base->shape, false, base}) : std::nullopt;
}

void GraphBuilder::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

/// What the adapter brings whole must be in the graph: else it would be left out in silence.
Result<void> GraphBuilder::check_adapter_is_used() const {
  if (!adapter_) return {};
  std::set<std::string, std::less<>> used;
  for (const NodeId id : graph_.order())
    if (const graph::Attributes& attributes = graph_.node(id).attributes; attributes.contains("tensor"))
      used.emplace(io::without_encoder_prefix(std::get<std::string>(attributes.at("tensor"))));
  for (const io::Tensor& whole : adapter_->whole)
    if (!used.contains(whole.name))
      return Error{
          ErrorCode::not_found,
          fmt::format("The adapter brings {}, which the model does not use", whole.name.substr(0, 200)),
          adapter_->path.string(), "choose an adapter that was made for this model"};
  return {};
}

Result<graph::Graph> GraphBuilder::finish(std::vector<ValueId> outputs) {
  if (error_) return *error_;
  ORRERY_TRY(check_adapter_is_used());
  graph_.set_outputs(std::move(outputs));
  return std::move(graph_);
}

}  // namespace orrery::models
