// weight as=NAME file=F tensor=T: a tensor of a file, for nodes to read.
#include <fmt/format.h>

#include "engine/edit/files.h"
#include "engine/edit/names.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> weight(graph::Graph& graph, const Edit& edit) {
  const std::string& path = edit.fields.at("as");
  ORRERY_TRY(check_free(graph, path));
  ORRERY_ASSIGN(const NamedFile file, open_tensors(edit.fields.at("file")));
  ORRERY_ASSIGN(const io::Tensor* tensor, find_tensor(file, edit.fields.at("tensor")));
  graph::Transaction transaction(graph, fmt::format("weight {}", path));
  Path split = split_path(path);
  ORRERY_TRY(transaction.add_node({"weight",
                                   std::move(split.scope),
                                   std::move(split.name),
                                   weight_attributes(file.named, tensor->name, tensor->dtype, tensor->shape),
                                   {},
                                   {},
                                   {}}));
  return transaction.commit();
}

}  // namespace

Verb weight_verb() {
  static constexpr Field kFields[] = {
      {"as", FieldKind::name, "its scope and name: layers.3.extra.weight"},
      {"file", FieldKind::file, "an array of NumPy, a safetensors or a GGUF file"},
      {"tensor", FieldKind::text, "which of its tensors, where it has several", false}};
  return {"weight", "a tensor of a file, to be connected", kFields, weight};
}

}  // namespace orrery::edit
