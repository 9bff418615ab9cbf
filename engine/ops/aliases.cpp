#include "engine/ops/aliases.h"

#include <algorithm>

namespace orrery::ops {
namespace {

struct OpAlias {
  std::string_view name, op;
};
/// The spellings of TensorFlow and ONNX. One counts when its op is there.
constexpr OpAlias kOps[] = {{"reduce_max", "max"},
                            {"reduce_mean", "mean"},
                            {"reduce_min", "min"},
                            {"reduce_prod", "prod"},
                            {"reduce_sum", "sum"}};

struct AttributeAlias {
  std::string_view op, name, attribute;
};
constexpr AttributeAlias kAttributes[] = {{"transpose", "axes", "permutation"},
                                          {"transpose", "perm", "permutation"}};

bool has_attribute(const graph::OpSchema& op, std::string_view name) {
  return std::ranges::find(op.attributes, name, &graph::AttributeSpec::name) != op.attributes.end();
}

}  // namespace

graph::OpPtr find_op(const graph::OpRegistry& registry, std::string_view name) {
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
