#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/ops/infer_support.h"
#include "engine/ops/lowering.h"
#include "engine/own/file_names.h"
#include "engine/own/graph_file.h"
#include "engine/own/json_attributes.h"

namespace orrery::own {
namespace {

using Written = nlohmann::ordered_json;

/// Without what the schema fills in.
Written attributes_of(const graph::Node& node) {
  Written attributes = Written::object();
  for (const auto& [name, value] : node.attributes) {
    const auto spec = std::ranges::find(node.op->attributes, name, &graph::AttributeSpec::name);
    const bool filled_in = spec != node.op->attributes.end() && spec->fallback && *spec->fallback == value;
    if (!filled_in) attributes[name] = to_json(value);
  }
  return attributes;
}

class Writer {
 public:
  Writer(const graph::Graph& graph, const Places& places, const Given& given,
         const std::filesystem::path& folder, const WeightOfFile& weight_of_file)
      : graph_(graph), places_(places), given_(given), folder_(folder), weight_of_file_(weight_of_file) {}

  Result<std::string> write() {
    for (const NodeId id : graph_.order()) {
      const graph::Node& node = graph_.node(id);
      ORRERY_TRY(check_name(node.path(), node.path()));
      if (ops::is_given(node)) {
        inputs_.push_back(line(input(node), node));
      } else if (node.op->name == "constant") {
        Written entry = {{"name", node.path()}};
        entry.update(attributes_of(node));
        constants_.push_back(line(std::move(entry), node));
      } else if (node.op->name == "weight") {
        ORRERY_ASSIGN(Written entry, constant_file(node));
        constants_.push_back(line(std::move(entry), node));
      } else {
        nodes_.push_back(line(other(node), node));
      }
    }
    std::vector<std::string> outputs;
    for (const ValueId output : graph_.outputs()) outputs.push_back(Written(name_of_value(output)).dump());
    return fmt::format(
        "{{\"orrery_graph\": 1,\n \"inputs\": [{}],\n \"constants\": [{}],\n \"nodes\": [{}],\n \"outputs\": "
        "[{}]}}\n",
        joined(inputs_), joined(constants_), joined(nodes_), fmt::join(outputs, ", "));
  }

 private:
  static std::string joined(const std::vector<std::string>& lines) {
    return lines.empty() ? std::string() : fmt::format("\n  {}", fmt::join(lines, ",\n  "));
  }

  std::string line(Written entry, const graph::Node& node) const {
    const auto place = places_.find(node.path());
    if (place != places_.end() && std::isfinite(place->second.x) && std::isfinite(place->second.y))
      entry["layout"] = {{"x", place->second.x}, {"y", place->second.y}};
    return entry.dump(-1, ' ', false, Written::error_handler_t::replace);
  }

  Written input(const graph::Node& node) const {
    const std::string name(ops::text(node.attributes, "name"));
    Written entry = {{"name", name}, {"dtype", ops::text(node.attributes, "dtype")}};
    Written dims = Written::array();
    for (const Dim& dim : parse_shape(ops::text(node.attributes, "shape")).value_or(Shape()))
      dims.push_back(dim.is_constant() ? Written(dim.constant()) : Written(dim.to_string()));
    entry["shape"] = std::move(dims);
    if (node.path() != name) entry["node"] = node.path();
    if (const auto given = given_.find(node.path()); given != given_.end()) entry["given"] = given->second;
    return entry;
  }

  /// Beside the graph's file by its name from there, others by their whole path; with what differs from how
  /// the file has it.
  Result<Written> constant_file(const graph::Node& node) const {
    const std::filesystem::path path(ops::text(node.attributes, "file"));
    if (path.empty())
      return Error{ErrorCode::unsupported, "It is a weight of a model, which a graph's file has not",
                   node.path(), "save it as an array first"};
    const std::filesystem::path near = path.lexically_relative(folder_);
    const bool inside = !near.empty() && *near.begin() != "..";
    Written entry = {{"name", node.path()}, {"file", (inside ? near : path).string()}};
    const std::string tensor(ops::text(node.attributes, "tensor"));
    auto plain = weight_of_file_(path, "");
    if (!plain.ok() || plain->at("tensor") != graph::Attribute(tensor)) {
      entry["tensor"] = tensor;
      plain = weight_of_file_(path, tensor);
    }
    if (!plain.ok() || plain->at("stamp") != node.attributes.at("stamp"))
      return entry;  // the file is gone or another: what can be saved of the graph is
    const Written own = attributes_of(node);
    Written others = Written::object();
    for (const auto& [name, value] : own.items())
      if (const auto same = plain->find(name); same == plain->end() || to_json(same->second) != value)
        others[name] = value;
    if (!others.empty()) entry["attributes"] = std::move(others);
    return entry;
  }

  Written other(const graph::Node& node) const {
    Written entry = {{"op", node.op->name}, {"name", node.path()}};
    Written inputs = Written::object();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::InputSpec& spec = node.op->inputs[std::min(i, node.op->inputs.size() - 1)];
      if (spec.variadic)
        inputs[spec.name].push_back(name_of_value(node.inputs[i]));
      else if (node.inputs[i].valid())
        inputs[spec.name] = name_of_value(node.inputs[i]);
    }
    if (!inputs.empty()) entry["inputs"] = std::move(inputs);
    if (Written attributes = attributes_of(node); !attributes.empty())
      entry["attributes"] = std::move(attributes);
    return entry;
  }

  std::string name_of_value(ValueId id) const {
    const graph::Value& value = graph_.value(id);
    const graph::Node& maker = graph_.node(value.producer);
    return maker.outputs.size() == 1 ? maker.path() : maker.path() + ":" + value.name;
  }

  const graph::Graph& graph_;
  const Places& places_;
  const Given& given_;
  const std::filesystem::path& folder_;
  const WeightOfFile& weight_of_file_;
  std::vector<std::string> inputs_, constants_, nodes_;
};

}  // namespace

Result<std::string> write_graph(const graph::Graph& graph, const Places& places, const Given& given,
                                const std::filesystem::path& folder, const WeightOfFile& weight_of_file) {
  return Writer(graph, places, given, folder, weight_of_file).write();
}

}  // namespace orrery::own
