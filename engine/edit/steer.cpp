// steer scope=S file=V strength=X: X times a vector is added to the stream that leaves S. The nodes stand in
// S, so that it takes them along when it is moved, repeated or bypassed.
#include <fmt/format.h>

#include <algorithm>

#include "engine/edit/files.h"
#include "engine/edit/names.h"
#include "engine/edit/number_in.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/words.h"

namespace orrery::edit {
namespace {

/// Control vectors of GGUF have one for each layer: direction.N is added behind layer N.
constexpr std::string_view kDirection = "direction.";

/// The layer that a scope belongs to: 4 of "layers.4", "layers.4.mlp" and of the copy "layers.4@2".
std::optional<int64_t> layer_of(std::string_view scope) {
  for (const std::string_view part : split(scope, '.'))
    if (const auto number = number_in<int64_t>(part.substr(0, part.find('@')))) return number;
  return std::nullopt;
}

struct Vectors {
  NamedFile file;
  bool by_layer = false;
};

Result<Vectors> open_vectors(const std::string& path) {
  Vectors vectors;
  ORRERY_ASSIGN(vectors.file, open_tensors(path));
  vectors.by_layer = std::ranges::any_of(vectors.file.file->tensors(), [](const io::Tensor& tensor) {
    return tensor.name.starts_with(kDirection);
  });
  return vectors;
}

/// Null where the file has none for the scope's layer.
Result<const io::Tensor*> vector_for(const Vectors& vectors, const std::string& scope) {
  if (!vectors.by_layer) return find_tensor(vectors.file, "");
  const auto layer = layer_of(scope);
  if (!layer)
    return refusal("The file has a vector for each layer, and the scope is none", scope,
                   "name a layer: layers.10");
  const std::string name = fmt::format("{}{}", kDirection, *layer);
  if (!vectors.file.file->find(name)) return static_cast<const io::Tensor*>(nullptr);
  return find_tensor(vectors.file, name);
}

/// The one activation that leaves the scope.
Result<ValueId> leaving(const graph::Graph& graph, const std::string& scope) {
  const std::vector<ValueId> values =
      border_of(graph, region_of(graph, graph.in_scope(scope)), live_nodes(graph)).leaving;
  if (values.size() == 1) return values.front();
  return refusal(values.empty() ? "Nothing that runs leaves it"
                                : fmt::format("{} values leave it, not one: {}", values.size(),
                                              described(graph, values)),
                 scope, "steer takes a layer, or a part of one that one stream leaves");
}

Result<void> check_width(const graph::Graph& graph, ValueId stream, const io::Tensor& vector,
                         const std::string& scope) {
  const graph::ValueType& type = graph.value(stream).type;
  const bool fits = vector.shape.size() == 1 && type.shape.size() == 2 && is_float(type.dtype) &&
                    is_float(vector.dtype) && type.shape.back() == Dim(vector.shape[0]);
  if (fits) return {};
  return Error{ErrorCode::shape_mismatch,
               fmt::format("The vector is {}[{}], and what leaves is {}", name_of(vector.dtype),
                           fmt::join(vector.shape, ", "), described(graph, stream)),
               scope, "use a vector that was made for this model"};
}

Result<void> steer_one(const graph::Graph& graph, graph::Transaction& transaction, const NamedFile& file,
                       const io::Tensor& vector, ValueId stream, const std::string& nodes, double strength) {
  const NodeId before = next_in_order(graph, graph.value(stream).producer);
  ORRERY_ASSIGN(const NodeId weight,
                transaction.add_node({"weight",
                                      nodes,
                                      "vector",
                                      weight_attributes(file.named, vector.name, DType::f32, vector.shape),
                                      {},
                                      {},
                                      before}));
  ORRERY_ASSIGN(
      const NodeId scaled,
      transaction.add_node(
          {"scale", nodes, "scale", {{"factor", strength}}, {graph.node(weight).outputs[0]}, {}, before}));
  ORRERY_TRY(
      insert_after(graph, transaction, {"add", nodes + ".add", {}, {stream, graph.node(scaled).outputs[0]}}));
  return {};
}

Result<graph::Journal> steer(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &path = edit.fields.at("file"),
                    &as = edit.fields.at("as");
  const double strength = *number_in<double>(edit.fields.at("strength"));
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  if (!as.empty() && scopes.size() > 1)
    return refusal("One name is given for several scopes", as, "leave as out, or name one scope");
  ORRERY_ASSIGN(const Vectors vectors, open_vectors(path));
  graph::Transaction transaction(graph,
                                 fmt::format("steer {} by {} of {}", pattern, edit.fields.at("strength"),
                                             std::filesystem::path(path).filename().string()));
  int steered = 0;
  for (const std::string& scope : scopes) {
    ORRERY_ASSIGN(const io::Tensor* vector, vector_for(vectors, scope));
    if (!vector) continue;
    ORRERY_ASSIGN(const ValueId stream, leaving(graph, scope));
    ORRERY_TRY(check_width(graph, stream, *vector, scope));
    if (!as.empty()) ORRERY_TRY(check_free(graph, as));
    const std::string nodes = as.empty() ? free_path(graph, scope + ".steer") : as;
    ORRERY_TRY(steer_one(graph, transaction, vectors.file, *vector, stream, nodes, strength));
    ++steered;
  }
  if (steered == 0)
    return refusal("The file has no vector for any of these layers", pattern,
                   "name layers that it was made for");
  return transaction.commit();
}

}  // namespace

Verb steer_verb() {
  static constexpr Field kFields[] = {
      {"scope", FieldKind::scopes, "layers, or parts of them that one stream leaves"},
      {"file", FieldKind::file,
       "one vector as an array of NumPy, or a GGUF control vector, which has one per layer"},
      {"strength", FieldKind::real, "the vector is multiplied by it", false, "1"},
      {"as", FieldKind::name, "scope of the new nodes; SCOPE.steer", false}};
  return {"steer", "adds a vector to the stream that leaves a scope", kFields, steer};
}

}  // namespace orrery::edit
