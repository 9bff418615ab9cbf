// Where a sweep tries its edits.
#include <fmt/format.h>

#include <set>

#include "engine/api/sweep.h"
#include "engine/edit/mask.h"
#include "engine/edit/quantise.h"

namespace orrery::api {
namespace {

/// "layers.3" of "layers.3.attention": up to the first part that is counted; empty: no part is.
std::string_view layer_of(std::string_view scope) {
  for (size_t begin = 0; begin < scope.size();) {
    const size_t end = std::min(scope.find('.', begin), scope.size());
    if (scope[begin] >= '0' && scope[begin] <= '9') return scope.substr(0, end);
    begin = end + 1;
  }
  return {};
}

/// The matrix that a linear or an embedding reads; none of other nodes.
ValueId matrix_of(const graph::Graph& graph, const graph::Node& node) {
  if (node.op->family != graph::OpFamily::linear && node.op->family != graph::OpFamily::embedding) return {};
  for (const ValueId input : node.inputs)
    if (input.valid() && graph.value(input).kind == graph::ValueKind::weight &&
        graph.value(input).type.shape.size() >= 2)
      return input;
  return {};
}

/// Adds the places of live nodes, one after another.
class SweepPlaces {
 public:
  SweepPlaces(const graph::Graph& graph, const SweepRequest& request) : graph_(graph), request_(request) {}

  std::vector<SweepPlace> all() {
    const std::vector<bool> live = graph_.live();
    for (size_t i = 0; i < live.size(); ++i)
      if (const graph::Node& node = graph_.node(graph_.order()[i]); live[i] && !node.is_source()) add(node);
    return std::move(places_);
  }

 private:
  /// The layer of the node where it is the first one; empty: it is not.
  std::string new_layer(const graph::Node& node) {
    std::string layer(layer_of(node.scope));
    return layers_.insert(layer).second ? layer : std::string();
  }

  SweepPlace::Stored stored(const graph::ValueType& matrix) const {
    SweepPlace::Stored bytes{static_cast<uint64_t>(graph::bytes_of(matrix, {}))};
    const std::optional<DType> type = edit::quantised_type(request_.to);
    const int64_t cols = matrix.shape.back().constant();
    if (const auto row = type ? row_bytes(*type, cols) : std::nullopt)
      bytes.after = *row * static_cast<uint64_t>(element_count(matrix.shape, {}).value_or(0) / cols);
    return bytes;
  }

  void add(const graph::Node& node) {
    switch (request_.what) {
      case SweepKind::bypass_layers:
        if (const std::string layer = new_layer(node); !layer.empty())
          places_.push_back({layer, {"bypass", {{"scope", layer}}}});
        return;
      case SweepKind::place_layers:
        if (const std::string layer = new_layer(node); !layer.empty())
          places_.push_back({layer, {"place", {{"scope", layer}, {"device", request_.to}}}});
        return;
      case SweepKind::quantise_tensors:  // a matrix that two nodes read is one place, at the first
        if (const ValueId matrix = matrix_of(graph_, node); matrix.valid() && matrices_.insert(matrix).second)
          places_.push_back({node.path(),
                             {"quantise", {{"scope", node.path()}, {"type", request_.to}}},
                             stored(graph_.value(matrix).type)});
        return;
      case SweepKind::zero_heads:
        for (int64_t head = 0; head < edit::heads_of(node).value_or(0); ++head)
          places_.push_back(
              {node.path(), {"zero", {{"node", node.path()}, {"heads", std::to_string(head)}}}});
        return;
      case SweepKind::precision:
        if (matrix_of(graph_, node).valid() && node.op->family == graph::OpFamily::linear)
          places_.push_back({node.path(), {"precision", {{"scope", node.path()}, {"dtype", request_.to}}}});
        return;
    }
  }

  const graph::Graph& graph_;
  const SweepRequest& request_;
  std::set<std::string> layers_;
  std::set<ValueId> matrices_;
  std::vector<SweepPlace> places_;
};

/// The field of the edits that `to` is; null: they have none.
const edit::Field* field_of(SweepKind what) {
  if (what == SweepKind::quantise_tensors) return edit::find_verb("quantise")->field("type");
  if (what == SweepKind::precision) return edit::find_verb("precision")->field("dtype");
  if (what == SweepKind::place_layers) return edit::find_verb("place")->field("device");
  return nullptr;
}

Result<void> check_to(const SweepRequest& request) {
  const std::string name(name_of(request.what));
  if (const edit::Field* field = field_of(request.what)) return edit::check_field(*field, request.to);
  if (request.to.empty()) return {};
  return Error{ErrorCode::invalid_argument, fmt::format("The sweep {} turns nothing to another type", name),
               request.to.substr(0, 80), "leave the type out"};
}

}  // namespace

Result<std::vector<SweepPlace>> sweep_places(const graph::Graph& graph, const SweepRequest& request) {
  ORRERY_TRY(check_to(request));
  std::vector<SweepPlace> places = SweepPlaces(graph, request).all();
  if (places.empty())
    return Error{ErrorCode::not_found, "The graph has no place for such an edit",
                 std::string(name_of(request.what)), "choose another sweep"};
  return places;
}

}  // namespace orrery::api
