// quantise scope=S type=T: the matrices that linears and embeddings of S read are stored as T in memory, made
// of the file's values when they are first needed. The file stays as it is.
#include "engine/edit/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/edit/edit.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/words.h"
#include "engine/ops/infer_support.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kFile = "file";
constexpr DType kBlockTypes[] = {DType::q8_0, DType::q6_k, DType::q5_k, DType::q4_k, DType::q3_k,
                                 DType::q2_k, DType::q5_1, DType::q5_0, DType::q4_1, DType::q4_0,
                                 DType::f16,  DType::bf16, DType::f32};

/// Of the attribute `transform`, after what else is done: "adapter, quantised from f32".
constexpr std::string_view kQuantisedFrom = "quantised from ";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

DType type_of(const graph::Node& weight) {
  return ops::parse_dtype(ops::text(weight.attributes, "dtype")).value_or(DType::f32);
}

/// What the transform says beside this verb, and the type before it.
struct Before {
  std::string transform;
  DType dtype;
};
Before before(const graph::Node& weight) {
  const std::string_view transform = ops::text(weight.attributes, "transform");
  const size_t at = transform.find(kQuantisedFrom);
  if (at == std::string_view::npos) return {std::string(transform), type_of(weight)};
  const auto dtype = ops::parse_dtype(transform.substr(at + kQuantisedFrom.size()));
  return {std::string(transform.substr(0, at > 2 ? at - 2 : 0)), dtype.value_or(type_of(weight))};
}

bool is_matrix(const graph::Value& value) {
  return value.kind == graph::ValueKind::weight && value.type.shape.size() >= 2;
}

/// Whether the node multiplies or looks up matrices.
bool reads_matrices(const graph::Node& node) {
  return node.op->family == graph::OpFamily::linear || node.op->family == graph::OpFamily::embedding;
}

/// The weight nodes, in the order of the graph.
std::vector<NodeId> matrices_in(const graph::Graph& graph, const std::set<NodeId>& nodes) {
  std::vector<NodeId> found;
  const auto add = [&](const graph::Value& value) {
    if (is_matrix(value) && std::ranges::find(found, value.producer) == found.end())
      found.push_back(value.producer);
  };
  for (const NodeId id : graph.order()) {
    if (!nodes.contains(id)) continue;
    const graph::Node& node = graph.node(id);
    if (reads_matrices(node)) {
      for (const ValueId input : node.inputs)
        if (input.valid()) add(graph.value(input));
    } else if (node.op->name == "weight") {
      for (const graph::Use& use : graph.users(node.outputs[0]))
        if (reads_matrices(graph.node(use.node))) add(graph.value(node.outputs[0]));
    }
  }
  return found;
}

/// "; output.lm_head reads it too" where a matrix has several readers and not all of them were named.
std::string shared_with(const graph::Graph& graph, const std::vector<NodeId>& weights,
                        const std::set<NodeId>& nodes) {
  std::set<std::string> readers;
  for (const NodeId weight : weights) {
    const std::vector<graph::Use> uses = graph.users(graph.node(weight).outputs[0]);
    for (const graph::Use& use : uses)
      if (uses.size() > 1 && !nodes.contains(use.node)) readers.insert(graph.node(use.node).path());
  }
  if (readers.empty()) return "";
  return fmt::format("; {}{} it too", *readers.begin(),
                     readers.size() == 1 ? " reads" : fmt::format(" and {} more read", readers.size() - 1));
}

/// Names those whose rows do not divide into the type's blocks.
Result<void> check_rows(const graph::Graph& graph, const std::vector<NodeId>& weights, DType type,
                        const std::string& pattern) {
  std::vector<std::string> unfit;
  for (const NodeId id : weights) {
    const int64_t cols = graph.value(graph.node(id).outputs[0]).type.shape.back().constant();
    if (!row_bytes(type, cols))
      unfit.push_back(fmt::format("{} has rows of {}", graph.node(id).path(), cols));
  }
  if (unfit.empty()) return {};
  const size_t more = unfit.size() - std::min<size_t>(unfit.size(), 3);
  unfit.resize(unfit.size() - more);
  Error error =
      refusal(fmt::format("The blocks of {} hold {} elements, and {}{}", name_of(type),
                          dtype_info(type).block_elements, fmt::join(unfit, ", "),
                          more > 0 ? fmt::format(", and {} more", more) : ""),
              pattern,
              is_super_block(type) ? "name other scopes, or use a type with blocks of 32, such as q8_0"
                                   : "name other scopes, or use f16");
  error.code = ErrorCode::shape_mismatch;
  return error;
}

Result<void> store_as(graph::Transaction& transaction, const graph::Node& weight, const graph::Value& value,
                      std::optional<DType> type) {
  const Before was = before(weight);
  const DType now = type.value_or(was.dtype);
  std::string transform = was.transform;
  if (now != was.dtype)
    transform += fmt::format("{}{}{}", transform.empty() ? "" : ", ", kQuantisedFrom, name_of(was.dtype));
  const graph::ValueType stored{now, value.type.shape};
  const NodeId id = weight.id;
  const ValueId output = value.id;
  ORRERY_TRY(transaction.set_attribute(id, "dtype", graph::Attribute(std::string(name_of(now)))));
  ORRERY_TRY(transaction.set_attribute(id, "transform", graph::Attribute(transform)));
  return transaction.set_value_type(output, stored);
}

Result<graph::Journal> quantise(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &word = edit.fields.at("type");
  const std::optional<DType> type = quantised_type(word);  // none: the file's
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  std::set<NodeId> nodes;
  for (const std::string& scope : scopes)
    for (const NodeId id : graph.in_scope(scope)) nodes.insert(id);
  std::vector<NodeId> weights = matrices_in(graph, nodes);
  if (weights.empty())
    return refusal("No linear or embedding reads a matrix in it", pattern,
                   "name a layer, a linear such as layers.0.mlp.down_proj, or * for the whole model");
  std::erase_if(weights, [&](NodeId id) {
    const graph::Node& weight = graph.node(id);
    return type_of(weight) == type.value_or(before(weight).dtype);
  });
  if (weights.empty())
    return refusal(type ? fmt::format("All of it is {} already", name_of(*type)) : "It is as the file has it",
                   pattern, "");
  if (type) ORRERY_TRY(check_rows(graph, weights, *type, pattern));
  graph::Transaction transaction(
      graph, fmt::format("quantise {} to {}{}", pattern, type ? name_of(*type) : "the file's types",
                         shared_with(graph, weights, nodes)));
  for (const NodeId id : weights)
    ORRERY_TRY(store_as(transaction, graph.node(id), graph.value(graph.node(id).outputs[0]), type));
  return transaction.commit();
}

}  // namespace

std::optional<DType> quantised_type(std::string_view word) {
  for (const DType type : kBlockTypes)
    if (lower(name_of(type)) == word) return type;
  return std::nullopt;
}

Verb quantise_verb() {
  static const auto kNames = [] {
    std::vector<std::string> names;
    for (const DType type : kBlockTypes) names.push_back(lower(name_of(type)));
    names.emplace_back(kFile);
    return names;
  }();
  static const std::vector<std::string_view> kChoices(kNames.begin(), kNames.end());
  static const Field kFields[] = {
      {"scope", FieldKind::scopes, "whose linears' and embeddings' matrices are meant; * is the whole model"},
      {.name = "type",
       .kind = FieldKind::choice,
       .doc = "what they are stored as in memory; file takes it back",
       .choices = kChoices}};
  return {"quantise", "stores weights in another type, in memory", kFields, quantise};
}

}  // namespace orrery::edit
