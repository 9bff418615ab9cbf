#include "engine/ops/aliases.h"

#include <algorithm>

namespace orrery::ops {
namespace {

struct OpAlias {
  std::string_view name, op;
};
/// The spellings of TensorFlow, ONNX and the Graph API. One counts when its op is there.
constexpr OpAlias kOps[] = {{"allgather", "all_gather"},
                            {"allreduce", "all_reduce"},
                            {"dequantize", "dequantise"},
                            {"log_softmax", "logsoftmax"},
                            {"gaussian", "random_gaussian"},
                            {"negative", "negate"},
                            {"normal", "random_gaussian"},
                            {"permute", "transpose"},
                            {"random.gaussian", "random_gaussian"},
                            {"random.normal", "random_gaussian"},
                            {"random.uniform", "random_uniform"},
                            {"reduce_max", "max"},
                            {"reduce_mean", "mean"},
                            {"reduce_min", "min"},
                            {"reduce_prod", "prod"},
                            {"reduce_sum", "sum"},
                            {"slice_tensor", "slice"},
                            {"transfer_to", "transfer"},
                            {"uniform", "random_uniform"}};

/// Names that the Graph API has for a function of one operand and for another of two.
constexpr OpAlias kOfTwo[] = {{"max", "maximum"}, {"min", "minimum"}};

struct AttributeAlias {
  std::string_view op, name, attribute;
};
constexpr AttributeAlias kAttributes[] = {{"avg_pool2d", "count_boundary", "count_include_pad"},
                                          {"avg_pool2d", "kernel_size", "kernel"},
                                          {"fold", "kernel_size", "kernel"},
                                          {"group_norm", "eps", "epsilon"},
                                          {"max_pool2d", "kernel_size", "kernel"},
                                          {"layer_norm", "epsilon", "eps"},
                                          {"nonzero", "out_dim", "size"},
                                          {"pad", "padding", "paddings"},
                                          {"rms_norm", "epsilon", "eps"},
                                          {"split_into", "split_sizes", "sizes"},
                                          {"gelu", "approximate", "approximation"},
                                          {"transpose", "axes", "permutation"},
                                          {"transpose", "dims", "permutation"},
                                          {"transpose", "perm", "permutation"}};

bool has_attribute(const graph::OpSchema& op, std::string_view name) {
  return std::ranges::find(op.attributes, name, &graph::AttributeSpec::name) != op.attributes.end();
}

}  // namespace

graph::OpPtr find_op(const graph::OpRegistry& registry, std::string_view name,
                     std::span<const std::string> inputs, std::span<const std::string> attributes) {
  const auto has_sizes = [](const std::string& attribute) {
    return attribute == "sizes" || attribute == "split_sizes";
  };
  if (name == "split" && std::ranges::any_of(attributes, has_sizes)) name = "split_into";
  if (std::ranges::find(inputs, "b") != inputs.end())
    if (const auto alias = std::ranges::find(kOfTwo, name, &OpAlias::name); alias != std::end(kOfTwo))
      name = alias->op;
  if (graph::OpPtr op = registry.find(name)) return op;
  const auto alias = std::ranges::find(kOps, name, &OpAlias::name);
  return alias == std::end(kOps) ? nullptr : registry.find(alias->op);
}

std::string attribute_name(const graph::OpSchema& op, std::string_view name) {
  if (!has_attribute(op, name))
    for (const AttributeAlias& alias : kAttributes)
      if (alias.op == op.name && alias.name == name && has_attribute(op, alias.attribute))
        return std::string(alias.attribute);
  return std::string(name);
}

}  // namespace orrery::ops
