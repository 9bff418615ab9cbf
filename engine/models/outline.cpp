// What can be drawn of a file whose architecture is not known: its tensors, in the places that their names
// say.
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

}  // namespace

BuiltModel build_outline(const io::ModelFile& file) {
  graph::Graph graph(ops::registry());
  for (const io::Tensor& tensor : file.tensors) {
    const Place place = place_of(tensor.name);
    // A type that is not run has no name of ours; its shape is what is drawn.
    const DType dtype = tensor.foreign_type.empty() ? tensor.dtype : DType::f16;
    graph::Attributes attributes = {
        {"tensor", tensor.name}, {"dtype", std::string(name_of(dtype))}, {"shape", tensor.shape}};
    // One that no weight can be (it is empty, or larger than memory) is left to the list of tensors.
    (void)graph.add_node({"weight", place.scope, place.name, std::move(attributes), {}, {}, {}});
  }
  return BuiltModel{std::move(graph)};
}

}  // namespace orrery::models
