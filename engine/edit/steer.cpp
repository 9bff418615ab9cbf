// steer scope=S file=V strength=X: X times a vector is added to the stream that leaves S. The nodes stand in
// S, so that it takes them along when it is moved, repeated or bypassed.
// steer scope=S toward=T from=F: the vector is what T makes of that stream less what F makes of it (steer.h).
#include "engine/edit/steer.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/base64.h"

#include "engine/edit/files.h"
#include "engine/edit/names.h"
#include "engine/edit/number_in.h"
#include "engine/edit/rewire.h"
#include "engine/edit/scope_pattern.h"
#include "engine/edit/words.h"
#include "engine/ops/constant.h"

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

/// The elements of a row of the stream.
Result<int64_t> width_of(const graph::Graph& graph, ValueId stream, const std::string& scope) {
  const graph::ValueType& type = graph.value(stream).type;
  if (type.shape.size() == 2 && is_float(type.dtype) && type.shape.back().is_constant())
    return type.shape.back().constant();
  return Error{ErrorCode::shape_mismatch,
               fmt::format("What leaves is {}, to which no vector can be added", described(graph, stream)),
               scope, "name a layer, or a part of one that one stream leaves"};
}

Result<void> check_width(const graph::Graph& graph, ValueId stream, const io::Tensor& vector,
                         const std::string& scope) {
  const auto width = width_of(graph, stream, scope);
  if (width.ok() && vector.shape.size() == 1 && is_float(vector.dtype) && *width == vector.shape[0])
    return {};
  return Error{ErrorCode::shape_mismatch,
               fmt::format("The vector is {}[{}], and what leaves is {}", name_of(vector.dtype),
                           fmt::join(vector.shape, ", "), described(graph, stream)),
               scope, "use a vector that was made for this model"};
}

/// The source node of a vector.
struct Vector {
  std::string op;
  graph::Attributes attributes;
};

Result<void> steer_one(const graph::Graph& graph, graph::Transaction& transaction, Vector vector,
                       ValueId stream, const std::string& nodes, double strength) {
  const NodeId before = next_in_order(graph, graph.value(stream).producer);
  ORRERY_ASSIGN(const NodeId source,
                transaction.add_node(
                    {std::move(vector.op), nodes, "vector", std::move(vector.attributes), {}, {}, before}));
  ORRERY_ASSIGN(
      const NodeId scaled,
      transaction.add_node(
          {"scale", nodes, "scale", {{"factor", strength}}, {graph.node(source).outputs[0]}, {}, before}));
  ORRERY_TRY(
      insert_after(graph, transaction, {"add", nodes + ".add", {}, {stream, graph.node(scaled).outputs[0]}}));
  return {};
}

std::string field_of(const Edit& edit, const char* name) {
  const auto found = edit.fields.find(name);
  return found == edit.fields.end() ? std::string() : found->second;
}

/// Whether the edit has a file, or two texts, and not both.
Result<void> check_origin(const Edit& edit) {
  const std::string file = field_of(edit, "file"), toward = field_of(edit, "toward"),
                    from = field_of(edit, "from"), vector = field_of(edit, "vector");
  if (!file.empty()) {
    if (toward.empty() && from.empty() && vector.empty()) return {};
    return refusal("A file brings the vector, and texts would make another", file,
                   "leave out the file, or toward, from and vector");
  }
  if (toward.empty() || from.empty())
    return refusal("A vector needs a file, or two texts", field_of(edit, "scope"),
                   "add file=V.npy, or toward=\"...\" and from=\"...\"");
  if (toward == from)
    return refusal("Both texts are the same, and make no difference", toward.substr(0, 200),
                   "write two texts that differ in what is to be steered by");
  return {};
}

/// What two texts make is a vector of one place.
Result<std::string> scope_of_texts(const graph::Graph& graph, const std::string& pattern) {
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  if (scopes.size() == 1) return scopes.front();
  return refusal(fmt::format("Two texts make a vector for one scope, and there are {}", scopes.size()),
                 pattern, "name one layer, and steer the others by edits of their own");
}

/// Zeros where it is not known: then a graph can tell whether the edit fits it, and nothing else.
Result<Vector> vector_in(const std::string& text, int64_t width, const std::string& scope) {
  const auto bytes = text.empty() ? std::string(static_cast<size_t>(width) * sizeof(float), '\0')
                                  : from_base64(text).value_or("");
  const graph::ValueType type{DType::f32, {Dim(width)}};
  if (bytes.size() != static_cast<size_t>(width) * sizeof(float))
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("The vector is no base64 of {} float32, which the stream has", width), scope,
                 "leave vector out, and it is made of the texts"};
  auto attributes = ops::constant_attributes(type, reinterpret_cast<const std::byte*>(bytes.data()));
  if (attributes) return Vector{"constant", std::move(*attributes)};
  return refusal("The vector has numbers that are not finite", scope,
                 "leave it out, and it is made of the texts");
}

Result<graph::Journal> steer_by_texts(graph::Graph& graph, const Edit& edit) {
  ORRERY_ASSIGN(const std::string scope, scope_of_texts(graph, edit.fields.at("scope")));
  ORRERY_ASSIGN(const ValueId stream, leaving(graph, scope));
  ORRERY_ASSIGN(const int64_t width, width_of(graph, stream, scope));
  ORRERY_ASSIGN(Vector vector, vector_in(edit.fields.at("vector"), width, scope));
  const std::string &as = edit.fields.at("as"), &strength = edit.fields.at("strength");
  if (!as.empty()) ORRERY_TRY(check_free(graph, as));
  graph::Transaction transaction(graph, fmt::format("steer {} by {} of two texts", scope, strength));
  ORRERY_TRY(steer_one(graph, transaction, std::move(vector), stream,
                       as.empty() ? free_path(graph, scope + ".steer") : as, *number_in<double>(strength)));
  return transaction.commit();
}

Result<graph::Journal> steer(graph::Graph& graph, const Edit& edit) {
  ORRERY_TRY(check_origin(edit));
  const std::string &pattern = edit.fields.at("scope"), &path = edit.fields.at("file"),
                    &as = edit.fields.at("as");
  if (path.empty()) return steer_by_texts(graph, edit);
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
    ORRERY_TRY(
        steer_one(graph, transaction,
                  {"weight", weight_attributes(vectors.file.named, vector->name, DType::f32, vector->shape)},
                  stream, as.empty() ? free_path(graph, scope + ".steer") : as, strength));
    ++steered;
  }
  if (steered == 0)
    return refusal("The file has no vector for any of these layers", pattern,
                   "name layers that it was made for");
  return transaction.commit();
}

}  // namespace

bool wants_vector(const Edit& edit) {
  return edit.op == "steer" && field_of(edit, "file").empty() && field_of(edit, "vector").empty();
}

Result<TextsToSteer> texts_to_steer(const graph::Graph& graph, const Edit& edit) {
  if (const std::optional<Error> refused = refusal(graph, edit)) return *refused;
  ORRERY_ASSIGN(const std::string scope, scope_of_texts(graph, field_of(edit, "scope")));
  ORRERY_ASSIGN(const ValueId stream, leaving(graph, scope));
  return TextsToSteer{stream, field_of(edit, "toward"), field_of(edit, "from")};
}

Edit with_vector(Edit edit, std::span<const float> vector) {
  edit.fields["vector"] = to_base64(std::as_bytes(vector));
  return edit;
}

Verb steer_verb() {
  static constexpr Field kFields[] = {
      {"scope", FieldKind::scopes, "layers, or parts of them that one stream leaves"},
      {"file", FieldKind::file,
       "one vector as an array of NumPy, or a GGUF control vector, which has one per layer", false},
      {"toward", FieldKind::text, "instead of a file: a text as it is to become", false},
      {"from", FieldKind::text, "and one as it is now; the vector is the difference that they make", false},
      {"vector", FieldKind::text, "what the texts made, as a recipe keeps it; made again where left out",
       false},
      {"strength", FieldKind::real, "the vector is multiplied by it", false, "1"},
      {"as", FieldKind::name, "scope of the new nodes; SCOPE.steer", false}};
  return {"steer", "adds a vector to the stream that leaves a scope", kFields, steer};
}

}  // namespace orrery::edit
