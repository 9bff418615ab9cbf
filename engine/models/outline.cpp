// What can be drawn of a file whose architecture is not known: its tensors, in the places that their names
// say.
#include <algorithm>
#include <charconv>

#include "engine/models/builder.h"
#include "engine/ops/lowering.h"

namespace orrery::models {
namespace {

/// "model.layers.0.mlp.up_proj.weight" is up_proj.weight in model.layers.0.mlp.
struct Place {
  std::string scope, name;
};

Place place_of(const std::string& tensor) {
  const size_t last = tensor.rfind('.');
  if (last == std::string::npos || last == 0) return {"", tensor};
  const size_t before = tensor.rfind('.', last - 1);
  if (before == std::string::npos) return {"", tensor};
  return {tensor.substr(0, before), tensor.substr(before + 1)};
}

/// Tensors in the order of the file, but numbered parts in the order of their numbers: "layers.2" before
/// "layers.10", which sorted names put the other way.
class Order {
 public:
  std::vector<const io::Tensor*> of(const std::vector<io::Tensor>& tensors) {
    std::vector<std::pair<Key, const io::Tensor*>> keyed;
    for (const io::Tensor& tensor : tensors) keyed.emplace_back(key_of(tensor.name), &tensor);
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const io::Tensor*> ordered;
    for (const auto& [key, tensor] : keyed) ordered.push_back(tensor);
    return ordered;
  }

 private:
  /// Of each part whether it is a number, and then the number or when its prefix was first seen.
  using Key = std::vector<std::pair<bool, uint64_t>>;

  Key key_of(const std::string& name) {
    Key key;
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('.', begin), name.size());
      uint64_t number = 0;
      const auto [rest, error] = std::from_chars(name.data() + begin, name.data() + end, number);
      const bool numbered = error == std::errc() && rest == name.data() + end;
      key.emplace_back(
          numbered, numbered ? number : seen_.try_emplace(name.substr(0, end), seen_.size()).first->second);
      begin = end + 1;
    }
    return key;
  }

  std::unordered_map<std::string, uint64_t> seen_;
};

}  // namespace

BuiltModel build_outline(const io::ModelFile& file) {
  graph::Graph graph(ops::registry());
  std::vector<ValueId> outputs;
  for (const io::Tensor* listed : Order().of(file.tensors)) {
    const io::Tensor& tensor = *listed;
    const Place place = place_of(tensor.name);
    // A type that is not run has no name of ours; its shape is what is drawn.
    const DType dtype = tensor.foreign_type.empty() ? tensor.dtype : DType::f16;
    graph::Attributes attributes = {
        {"tensor", tensor.name}, {"dtype", std::string(name_of(dtype))}, {"shape", tensor.shape}};
    // One that no weight can be (it is empty, or larger than memory) is left to the list of tensors.
    const auto node = graph.add_node({"weight", place.scope, place.name, std::move(attributes), {}, {}, {}});
    if (node.ok()) outputs.push_back(graph.node(*node).outputs.front());
  }
  graph.set_outputs(std::move(outputs));
  return BuiltModel{std::move(graph)};
}

}  // namespace orrery::models
