#include "engine/api/own_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/api/array_text.h"
#include "engine/api/gradients.h"
#include "engine/api/guard.h"
#include "engine/api/weight_files.h"
#include "engine/graph/own_content.h"
#include "engine/io/reader.h"
#include "engine/ops/aliases.h"
#include "engine/ops/lowering.h"
#include "engine/own/json_attributes.h"

namespace orrery::api {
namespace {

std::vector<std::string> devices_of(const graph::OpSchema& op) {
  std::vector<std::string> devices;
  if (!op.lowering) return devices;
  for (const auto& [kind, name] :
       {std::pair(kernels::DeviceKind::cpu, "cpu"), {kernels::DeviceKind::cuda, "cuda"}})
    if (!op.lowering->rows(kind).empty()) devices.emplace_back(name);
  return devices;
}

/// A whole number that 64 bits do not hold, which JSON reads as a real one.
bool is_too_large(const graph::Attribute& attribute, graph::AttributeType wanted) {
  const double* number = std::get_if<double>(&attribute);
  return wanted == graph::AttributeType::integer && number != nullptr && std::abs(*number) >= 0x1p63;
}

Result<graph::Attributes> attributes_of(const graph::OpSchema& op, const OpRequest& request) {
  graph::Attributes attributes;
  for (const auto& [key, text] : request.attributes) {
    const std::string name = ops::attribute_name(op, key);
    const auto spec = std::ranges::find(op.attributes, name, &graph::AttributeSpec::name);
    const auto wanted = spec == op.attributes.end() ? graph::AttributeType::any : own::type_of(*spec);
    auto attribute = own::attribute_in(std::string_view(text), wanted);
    if (!attribute || is_too_large(*attribute, wanted)) {
      const bool whole = wanted == graph::AttributeType::integer || wanted == graph::AttributeType::list;
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} is no value of {}: it is {}{}", io::shown(text), name, name_of(wanted),
                               whole ? " from -2^63 to 2^63 - 1" : ""),
                   op.name, ""};
    }
    if (!attributes.emplace(name, *std::move(attribute)).second)
      return Error{ErrorCode::invalid_argument, fmt::format("The attribute {} is set twice", name), op.name,
                   ""};
  }
  return attributes;
}

/// Puts sources and the node into a graph of their own.
class Building {
 public:
  Building(graph::OpPtr op, const OpRequest& request) : op_(std::move(op)), request_(request) {}

  Result<OpenedOp> open(const OpenOptions& options) {
    graph::Graph::NewNode node{op_->name, "", free_name(), {}, {}, {}, {}};
    ORRERY_ASSIGN(node.attributes, attributes_of(*op_, request_));
    for (const auto& [name, file] : request_.inputs)
      if (std::ranges::find(op_->inputs, name, &graph::InputSpec::name) == op_->inputs.end())
        return Error{ErrorCode::not_found, fmt::format("{} has no input {}", op_->name, io::shown(name)), "",
                     "its inputs are " + input_names()};
    for (const graph::InputSpec& spec : op_->inputs) ORRERY_TRY(add_inputs(spec, node.inputs));
    ORRERY_ASSIGN(const NodeId id, graph_.add_node(std::move(node)));
    const std::vector<ValueId> outputs = graph_.node(id).outputs;
    graph_.set_outputs(outputs);
    OpenedOp opened;
    for (const ValueId output : outputs) opened.names.push_back(graph_.value(output).name);
    graph::GraphVersion graph;
    if (request_.gradients.empty()) {
      graph = std::make_shared<const graph::Graph>(std::move(graph_));
    } else {
      ORRERY_ASSIGN(GradientGraph made, back(outputs));
      graph = std::move(made.graph);
      opened.names.insert(opened.names.end(), made.names.begin(), made.names.end());
    }
    opened.request = std::move(run_);
    ORRERY_ASSIGN(opened.session, open_graph(std::move(graph), op_->name, options));
    return opened;
  }

 private:
  /// With the gradients of all that is given and holds floats, by those of outputs.
  Result<GradientGraph> back(const std::vector<ValueId>& outputs) {
    if (!op_->gradient) return no_gradient();
    const std::vector<ValueId> by = float_sources(graph_);
    std::vector<GradientEnd> ends;
    for (const auto& [name, file] : request_.gradients) {
      const auto output = std::ranges::find(outputs, name, [&](ValueId id) { return graph_.value(id).name; });
      if (output == outputs.end())
        return Error{ErrorCode::not_found, fmt::format("{} has no output {}", op_->name, io::shown(name)), "",
                     fmt::format("its outputs are {}", fmt::join(op_->outputs, ", "))};
      ORRERY_ASSIGN(const ValueId gradient, add_input("gradient_of_" + name, file));
      ends.push_back({*output, gradient});
    }
    return with_gradients(graph_, ends, by);
  }

  Error no_gradient() const {
    Error error{ErrorCode::unsupported, fmt::format("{} has no backward form", op_->name), "--grad",
                "Leave it out"};
    if (!graph::content_of(*op_)) return error;
    if (op_->name.ends_with("_backward")) {
      error.what = fmt::format("{} is a backward body itself, and has none of its own", op_->name);
    } else {
      error.what = fmt::format("{} has no backward body, so it has no gradients", op_->name);
      error.advice =
          "write .cpu_backward in its ORRERY_OP and add it again (resources/sdk/examples/vector_addition.cpp "
          "shows one), or leave --grad out";
    }
    return error;
  }

  /// That of the op, unless an input has it.
  std::string free_name() const {
    const bool taken =
        std::ranges::find(op_->inputs, op_->name, &graph::InputSpec::name) != op_->inputs.end();
    return taken ? op_->name + "_op" : op_->name;
  }

  std::string input_names() const {
    std::string names;
    for (const graph::InputSpec& spec : op_->inputs) (names += names.empty() ? "" : ", ") += spec.name;
    return names.empty() ? "none" : names;
  }

  Result<void> add_inputs(const graph::InputSpec& spec, std::vector<ValueId>& inputs) {
    size_t count = 0;
    for (const auto& [name, file] : request_.inputs) {
      if (name != spec.name) continue;
      if (count > 0 && !spec.variadic)
        return Error{ErrorCode::invalid_argument, fmt::format("{} is given twice", name), op_->name, ""};
      const std::string own = spec.variadic ? fmt::format("{}_{}", name, count) : name;
      ORRERY_ASSIGN(const ValueId value, spec.stored ? add_constant(own, file) : add_input(own, file));
      inputs.push_back(value);
      ++count;
    }
    if (count == 0 && !spec.variadic) inputs.emplace_back();
    return {};
  }

  Result<ValueId> add_source(std::string op, const std::string& name, graph::Attributes attributes) {
    ORRERY_ASSIGN(const NodeId id,
                  graph_.add_node({std::move(op), "", name, std::move(attributes), {}, {}, {}}));
    return graph_.node(id).outputs.front();
  }

  Result<ValueId> add_constant(const std::string& name, const std::string& file) {
    if (std::error_code error; !std::filesystem::exists(file, error))
      return Error{ErrorCode::not_found,
                   fmt::format("{} is a weight, which is read from a file, and there is no such file", name),
                   file, "write it to a .npy file, or name a model's file"};
    ORRERY_ASSIGN(graph::Attributes attributes,
                  weight_of_file_(std::filesystem::absolute(file).lexically_normal(), ""));
    return add_source("weight", name, std::move(attributes));
  }

  Result<ValueId> add_input(const std::string& name, const std::string& given) {
    ORRERY_ASSIGN(Array array, array_in(given));
    const graph::Attributes attributes{{"name", name},
                                       {"dtype", std::string(name_of(array.dtype))},
                                       {"shape", fmt::format("{}", fmt::join(array.shape, ","))}};
    run_.inputs.emplace(name, std::move(array));
    return add_source("input", name, attributes);
  }

  graph::OpPtr op_;
  const OpRequest& request_;
  graph::Graph graph_{ops::registry()};
  own::WeightOfFile weight_of_file_ = weights_of_files();
  RunRequest run_;
};

}  // namespace

std::vector<OpInfo> list_ops() {
  return guarded_or_empty([] {
    std::vector<OpInfo> infos;
    for (const graph::OpPtr& op : ops::registry()->all()) infos.push_back({op, devices_of(*op)});
    return infos;
  });
}

Result<OpInfo> find_op(const OpRequest& request) {
  return guarded([&]() -> Result<OpInfo> {
    std::vector<std::string> inputs, attributes;
    for (const auto& [name, file] : request.inputs) inputs.push_back(name);
    for (const auto& [name, text] : request.attributes) attributes.push_back(name);
    if (graph::OpPtr op = ops::find_op(*ops::registry(), request.op, inputs, attributes))
      return OpInfo{op, devices_of(*op)};
    return Error{ErrorCode::not_found, fmt::format("There is no op {}", io::shown(request.op)), "",
                 "orrery-cli ops lists them"};
  });
}

Result<OpenedOp> open_op(const OpRequest& request, const OpenOptions& options) {
  return guarded([&]() -> Result<OpenedOp> {
    ORRERY_ASSIGN(OpInfo info, find_op(request));
    return Building(std::move(info.op), request).open(options);
  });
}

}  // namespace orrery::api
