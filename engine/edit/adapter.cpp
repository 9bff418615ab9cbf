// adapter dir=D strength=X scope=S: the low-rank matrices of an adapter as nodes beside the linears that they
// change,
//   y = linear(x, W)  ->  add(y, scale(linear(linear(x, A), B)))
// and its whole tensors in the place of the model's. The pass merge_low_rank joins them again where it pays.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/files.h"
#include "engine/edit/names.h"
#include "engine/edit/number_in.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"
#include "engine/io/adapter_names.h"
#include "engine/ops/infer_support.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kMadeFor = "choose an adapter that was made for this model";
constexpr std::string_view kOpenWith = "open the model with it instead (--adapter)";

std::vector<int64_t> shape_of(const graph::Graph& graph, const graph::Node& weight) {
  std::vector<int64_t> shape;
  for (const Dim& dim : graph.value(weight.outputs[0]).type.shape) shape.push_back(dim.constant());
  return shape;
}

/// What one edit puts on a graph.
class Putting {
 public:
  /// No region: all that the adapter changes.
  Putting(const graph::Graph& graph, graph::Transaction& transaction, weights::OtherFile file,
          double strength, std::optional<Region> region)
      : graph_(graph),
        transaction_(transaction),
        file_(std::move(file)),
        strength_(strength),
        region_(std::move(region)) {}

  Result<void> low_rank(const io::Adapter::LowRank& pair) {
    ORRERY_ASSIGN(const std::vector<NodeId> weights, weights_of(pair.target, kMadeFor));
    for (const NodeId weight : weights)
      for (const graph::Use& use : graph_.users(graph_.node(weight).outputs[0])) {
        if (region_ && !region_->contains(use.node)) continue;
        ORRERY_TRY(check(pair, weight, use));
        ORRERY_TRY(beside(pair, weight, use.node));
        ++changed_;
      }
    return {};
  }

  Result<void> whole(const io::Tensor& tensor) {
    ORRERY_ASSIGN(const std::vector<NodeId> weights, weights_of(tensor.name, kOpenWith));
    for (const NodeId weight : weights) {
      const auto readers = graph_.users(graph_.node(weight).outputs[0]);
      const auto named = [&](const graph::Use& use) { return region_->contains(use.node); };
      if (region_ && std::ranges::none_of(readers, named)) continue;
      ORRERY_TRY(replace(tensor, weight));
      ++changed_;
    }
    return {};
  }

  int changed() const { return changed_; }

 private:
  Error refusal(ErrorCode code, std::string what, std::string_view advice) const {
    return {code, std::move(what), file_.path, std::string(advice)};
  }

  /// The weight nodes of the model's own file that are the tensor, whole or in parts.
  Result<std::vector<NodeId>> weights_of(const std::string& tensor, std::string_view advice) const {
    std::vector<NodeId> found;
    for (const NodeId id : graph_.order()) {
      const graph::Node& node = graph_.node(id);
      if (node.op->name == "weight" && ops::text(node.attributes, "file").empty() &&
          io::may_be_same_tensor(ops::text(node.attributes, "tensor"), tensor))
        found.push_back(id);
    }
    if (!found.empty()) return found;
    return refusal(
        ErrorCode::not_found,
        fmt::format("The adapter changes {}, which the graph does not read", tensor.substr(0, 200)), advice);
  }

  Result<void> check(const io::Adapter::LowRank& pair, NodeId weight_id, const graph::Use& use) const {
    const graph::Node &weight = graph_.node(weight_id), &reader = graph_.node(use.node);
    const bool taken_apart =
        !ops::list(weight.attributes, "columns").empty() || ops::integer(weight.attributes, "stacked") > 0;
    if (reader.op->name != "linear" || use.input != 1 || taken_apart ||
        ops::text(reader.attributes, "epilogue") != "none")
      return refusal(ErrorCode::unsupported,
                     fmt::format("The adapter changes {}, which {} reads: low-rank matrices stand beside a "
                                 "linear without an epilogue",
                                 pair.target.substr(0, 200), reader.path()),
                     kOpenWith);
    const std::vector<int64_t> shape = shape_of(graph_, weight), rows = ops::list(weight.attributes, "rows");
    const int64_t end = rows.empty() ? shape.front() : rows[0] + rows[1];
    const bool fits = rows.empty() ? end == pair.b.shape[0] : end <= pair.b.shape[0];
    if (shape.back() == pair.a.shape[1] && fits) return {};
    return refusal(
        ErrorCode::shape_mismatch,
        fmt::format("The adapter changes {} as [{}, {}], and {} reads [{}]", pair.target.substr(0, 200),
                    pair.b.shape[0], pair.a.shape[1], reader.path(), fmt::join(shape, ", ")),
        kMadeFor);
  }

  Result<void> beside(const io::Adapter::LowRank& pair, NodeId weight_id, NodeId linear_id) {
    const graph::Node& linear = graph_.node(linear_id);
    const std::string scope = free_path(graph_, linear.path() + "_lora");
    const NodeId before = next_in_order(graph_, linear_id);
    const ValueId src = linear.inputs[0], dst = linear.outputs[0];
    const int64_t rank = pair.a.shape[0], rows = shape_of(graph_, graph_.node(weight_id)).front();
    const auto add = [&](const char* op, const char* name, graph::Attributes attributes,
                         std::vector<ValueId> inputs) -> Result<ValueId> {
      ORRERY_ASSIGN(
          const NodeId id,
          transaction_.add_node({op, scope, name, std::move(attributes), std::move(inputs), {}, before}));
      return graph_.node(id).outputs[0];
    };
    ORRERY_ASSIGN(const ValueId a, add("weight", "lora_a.weight",
                                       matrix(weight_id, true, pair.a.dtype, {rank, pair.a.shape[1]}), {}));
    ORRERY_ASSIGN(const ValueId b,
                  add("weight", "lora_b.weight", matrix(weight_id, false, pair.b.dtype, {rows, rank}), {}));
    ORRERY_ASSIGN(const ValueId inner, add("linear", "lora_a", {}, {src, a}));
    ORRERY_ASSIGN(const ValueId outer, add("linear", "lora_b", {}, {inner, b}));
    ORRERY_ASSIGN(const ValueId scaled, add("scale", "scale", {{"factor", strength_ * pair.scale}}, {outer}));
    ORRERY_TRY(insert_after(graph_, transaction_, {"add", scope + ".add", {}, {dst, scaled}}));
    return {};
  }

  /// Of A or B. Those of a tensor that the file keeps transposed stand in each other's place, transposed too.
  graph::Attributes matrix(NodeId base_id, bool is_a, DType dtype, std::vector<int64_t> shape) const {
    const graph::Attributes& base = graph_.node(base_id).attributes;
    const bool transposed = ops::flag(base, "transposed");
    graph::Attributes attributes =
        weight_attributes(file_,
                          fmt::format("{}{}", ops::text(base, "tensor"),
                                      is_a != transposed ? weights::kLowRankA : weights::kLowRankB),
                          dtype, std::move(shape));
    if (transposed) attributes["transposed"] = true;
    if (!is_a) attributes["rows"] = ops::list(base, "rows");
    return attributes;
  }

  Result<void> replace(const io::Tensor& tensor, NodeId weight_id) {
    const std::string name = tensor.name.substr(0, 200);
    const std::vector<int64_t> shape = shape_of(graph_, graph_.node(weight_id));
    const bool in_parts = !ops::list(graph_.node(weight_id).attributes, "rows").empty();
    if (strength_ != 1)
      return refusal(ErrorCode::invalid_argument,
                     fmt::format("The adapter brings {} whole, which has no strength but 1", name),
                     "leave strength out, or name scopes that do not read it");
    if (!in_parts && shape != tensor.shape)
      return refusal(ErrorCode::shape_mismatch,
                     fmt::format("The adapter brings {} as [{}], and the model's is [{}]", name,
                                 fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")),
                     kMadeFor);
    const ValueId value = graph_.node(weight_id).outputs[0];
    const graph::ValueType type{tensor.dtype, graph_.value(value).type.shape};
    for (const auto& [key, text] : {std::pair("file", file_.path), std::pair("stamp", file_.stamp),
                                    std::pair("dtype", std::string(name_of(tensor.dtype)))})
      ORRERY_TRY(transaction_.set_attribute(weight_id, key, graph::Attribute(text)));
    return transaction_.set_value_type(value, type);
  }

  const graph::Graph& graph_;
  graph::Transaction& transaction_;
  weights::OtherFile file_;
  double strength_;
  std::optional<Region> region_;
  int changed_ = 0;
};

Result<weights::OtherFile> named(const std::string& dir) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(dir, error).lexically_normal();
  weights::OtherFile file{path.string(), ""};
  ORRERY_ASSIGN(file.stamp, weights::stamp_of(path));
  return file;
}

Result<graph::Journal> adapter(graph::Graph& graph, const Edit& edit) {
  const std::string &dir = edit.fields.at("dir"), &pattern = edit.fields.at("scope");
  const double strength = *number_in<double>(edit.fields.at("strength"));
  ORRERY_ASSIGN(weights::OtherFile file, named(dir));
  ORRERY_ASSIGN(const auto opened, io::open_adapter(file.path));
  std::optional<Region> region;
  if (!pattern.empty()) {
    ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
    region = region_of(graph, scopes);
  }
  graph::Transaction transaction(
      graph, fmt::format("adapter {}{}", std::filesystem::path(file.path).filename().string(),
                         strength == 1 ? "" : fmt::format(", strength {}", strength)));
  Putting putting(graph, transaction, std::move(file), strength, std::move(region));
  for (const io::Adapter::LowRank& pair : opened->low_rank) ORRERY_TRY(putting.low_rank(pair));
  for (const io::Tensor& tensor : opened->whole) ORRERY_TRY(putting.whole(tensor));
  if (putting.changed() == 0)
    return Error{ErrorCode::invalid_argument, "The adapter changes nothing of it", pattern,
                 "name other scopes, or leave scope out"};
  return transaction.commit();
}

}  // namespace

Verb adapter_verb() {
  static constexpr Field kFields[] = {
      {"dir", FieldKind::folder, "the folder of a PEFT LoRA adapter, or a GGUF file of one"},
      {"strength", FieldKind::real, "its matrices' product is multiplied by it; 0 leaves the model as it is",
       false, "1"},
      {"scope", FieldKind::scopes, "what it may change; all that it was made for", false}};
  return {"adapter", "puts a LoRA adapter on: low-rank matrices beside the linears that they change", kFields,
          adapter};
}

}  // namespace orrery::edit
