#include "engine/api/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/api/guard.h"
#include "engine/ops/aliases.h"
#include "engine/ops/elements.h"
#include "engine/ops/lowering.h"
#include "engine/passes/differentiate.h"

namespace orrery::api {

std::optional<graph::ValueType> GraphValue::type() const {
  if (!id_.valid()) return std::nullopt;
  return builder_->graph_.value(id_).type;
}

GraphBuilder::GraphBuilder() : graph_(ops::registry()) {}

void GraphBuilder::refuse(Error error) {
  if (!refusal_) refusal_ = std::move(error);
}

std::string GraphBuilder::free_name(const std::string& wanted) const {
  if (!graph_.find_path(wanted).valid()) return wanted;
  for (int number = 2;; ++number)
    if (std::string name = fmt::format("{}_{}", wanted, number); !graph_.find_path(name).valid()) return name;
}

GraphValue GraphBuilder::source(const std::string& op, const std::string& name,
                                graph::Attributes attributes) {
  auto node = graph_.add_node({op, "", name, std::move(attributes), {}, {}, {}});
  if (node.ok()) return {this, graph_.node(*node).outputs.front()};
  refuse(std::move(node).error());
  return {this, ValueId()};
}

GraphValue GraphBuilder::input(const std::string& name, DType dtype, const std::vector<GraphDim>& shape) {
  std::string sizes;
  for (const GraphDim& dim : shape) (sizes += sizes.empty() ? "" : ",") += dim.text;
  return source("input", name,
                {{"name", name}, {"dtype", std::string(name_of(dtype))}, {"shape", std::move(sizes)}});
}

GraphValue GraphBuilder::constant(double value, DType dtype) {
  return source(
      "constant", free_name("constant"),
      {{"value", value}, {"dtype", std::string(name_of(dtype))}, {"shape", std::vector<int64_t>()}});
}

GraphValue GraphBuilder::constant(const Array& array) {
  std::vector<double> numbers;
  ops::for_each_number(array.dtype, array.view(), [&](double number) { numbers.push_back(number); });
  return source(
      "constant", free_name("constant"),
      {{"data", std::move(numbers)}, {"dtype", std::string(name_of(array.dtype))}, {"shape", array.shape}});
}

std::vector<GraphValue> GraphBuilder::apply_all(const std::string& op,
                                                const std::vector<GraphValue>& operands,
                                                graph::Attributes attributes, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [attribute, value] : attributes) names.push_back(attribute);
  const graph::OpPtr schema = ops::find_op(*ops::registry(), op, {}, names);
  if (!schema) {
    refuse({ErrorCode::not_found, fmt::format("There is no op {}", op), name, "orrery-cli ops lists them"});
    return {};
  }
  std::vector<GraphValue> made(schema->outputs.size(), GraphValue(this, ValueId()));
  graph::Graph::NewNode node{
      schema->name, "", name.empty() ? free_name(schema->name) : name, std::move(attributes), {}, {}, {}};
  for (const GraphValue& operand : operands) {
    if (operand.builder_ != nullptr && operand.builder_ != this)
      refuse({ErrorCode::invalid_argument, "An operand belongs to another graph", node.name, ""});
    if (operand.builder_ == this && !operand.id_.valid()) return made;  // of what was refused before
    node.inputs.push_back(operand.id_);
  }
  if (refusal_) return made;
  auto added = graph_.add_node(std::move(node));
  if (!added.ok()) {
    refuse(std::move(added).error());
    return made;
  }
  const std::vector<ValueId>& outputs = graph_.node(*added).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) made[i].id_ = outputs[i];
  return made;
}

GraphValue GraphBuilder::apply(const std::string& op, const std::vector<GraphValue>& operands,
                               graph::Attributes attributes, const std::string& name) {
  const std::vector<GraphValue> made = apply_all(op, operands, std::move(attributes), name);
  return made.empty() ? GraphValue(this, ValueId()) : made.front();
}

std::vector<GraphValue> GraphBuilder::gradients(const GraphValue& of, const std::vector<GraphValue>& by) {
  std::vector<GraphValue> made(by.size(), GraphValue(this, ValueId()));
  std::vector<ValueId> values;
  for (const GraphValue& value : by) values.push_back(value.id_);
  if (refusal_) return made;
  const passes::Differentiated end{of.id_};
  auto derivatives = passes::differentiate(graph_, {&end, 1}, values);
  if (!derivatives.ok()) {
    refuse(std::move(derivatives).error());
    return made;
  }
  graph_ = std::move(derivatives->graph);
  for (size_t i = 0; i < made.size(); ++i) made[i].id_ = derivatives->values[i];
  return made;
}

void GraphBuilder::output(const GraphValue& value) {
  if (value.id_.valid()) outputs_.push_back(value.id_);
}

Result<graph::GraphVersion> GraphBuilder::graph() const {
  if (refusal_) return *refusal_;
  auto graph = std::make_shared<graph::Graph>(graph_);
  graph->set_outputs(outputs_);
  return graph::GraphVersion(std::move(graph));
}

Result<std::shared_ptr<Session>> GraphBuilder::open(const OpenOptions& options,
                                                    const std::string& name) const {
  return guarded([&]() -> Result<std::shared_ptr<Session>> {
    ORRERY_ASSIGN(graph::GraphVersion built, graph());
    return open_graph(std::move(built), name, options);
  });
}

GraphValue number_like(const GraphValue& value, double number) {
  const auto type = value.type();
  return value.builder().constant(number, type ? type->dtype : DType::f32);
}

GraphValue matmul(const GraphValue& a, const GraphValue& b) { return a.builder().apply("matmul", {a, b}); }
GraphValue where(const GraphValue& condition, const GraphValue& a, const GraphValue& b) {
  return condition.builder().apply("where", {condition, a, b});
}
GraphValue softmax(const GraphValue& src, int64_t axis) {
  return src.builder().apply("softmax", {src}, {{"axis", axis}});
}
GraphValue logsoftmax(const GraphValue& src, int64_t axis) {
  return src.builder().apply("logsoftmax", {src}, {{"axis", axis}});
}
GraphValue gelu(const GraphValue& src, const std::string& approximation) {
  return src.builder().apply("gelu", {src}, {{"approximation", approximation}});
}
GraphValue cumsum(const GraphValue& src, int64_t axis, bool exclusive, bool reverse) {
  return src.builder().apply("cumsum", {src},
                             {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
}
GraphValue cast(const GraphValue& src, DType dtype) {
  return src.builder().apply("cast", {src}, {{"dtype", std::string(name_of(dtype))}});
}
GraphValue reshape(const GraphValue& src, std::vector<int64_t> shape) {
  return src.builder().apply("reshape", {src}, {{"shape", std::move(shape)}});
}
GraphValue transpose(const GraphValue& src, std::vector<int64_t> permutation) {
  return src.builder().apply("transpose", {src}, {{"permutation", std::move(permutation)}});
}
GraphValue squeeze(const GraphValue& src, int64_t axis) {
  return src.builder().apply("squeeze", {src}, {{"axis", axis}});
}
GraphValue unsqueeze(const GraphValue& src, int64_t axis) {
  return src.builder().apply("unsqueeze", {src}, {{"axis", axis}});
}
GraphValue flatten(const GraphValue& src, int64_t start_dim, int64_t end_dim) {
  return src.builder().apply("flatten", {src}, {{"start_dim", start_dim}, {"end_dim", end_dim}});
}
GraphValue broadcast_to(const GraphValue& src, std::vector<int64_t> shape) {
  return src.builder().apply("broadcast_to", {src}, {{"shape", std::move(shape)}});
}
GraphValue tile(const GraphValue& src, std::vector<int64_t> repeats) {
  return src.builder().apply("tile", {src}, {{"repeats", std::move(repeats)}});
}
GraphValue repeat_interleave(const GraphValue& src, int64_t repeats, int64_t axis) {
  return src.builder().apply("repeat_interleave", {src}, {{"repeats", repeats}, {"axis", axis}});
}
GraphValue concat(const std::vector<GraphValue>& parts, int64_t axis) {
  return parts.front().builder().apply("concat", parts, {{"axis", axis}});
}
GraphValue stack(const std::vector<GraphValue>& parts, int64_t axis) {
  return parts.front().builder().apply("stack", parts, {{"axis", axis}});
}
std::vector<GraphValue> chunk(const GraphValue& src, int64_t chunks, int64_t axis) {
  std::vector<GraphValue> parts =
      src.builder().apply_all("chunk", {src}, {{"chunks", chunks}, {"axis", axis}});
  parts.resize(std::min(parts.size(), static_cast<size_t>(std::max<int64_t>(chunks, 0))));
  return parts;
}
std::vector<GraphValue> split(const GraphValue& src, std::vector<int64_t> sizes, int64_t axis) {
  const size_t count = sizes.size();
  std::vector<GraphValue> parts =
      src.builder().apply_all("split_into", {src}, {{"sizes", std::move(sizes)}, {"axis", axis}});
  parts.resize(std::min(parts.size(), count));
  return parts;
}

}  // namespace orrery::api
