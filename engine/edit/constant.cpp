// constant as=NAME file=F | value=V shape=S dtype=D: numbers that the graph holds itself.
#include "engine/ops/constant.h"

#include <fmt/format.h>

#include "engine/edit/files.h"
#include "engine/edit/names.h"
#include "engine/edit/number_in.h"
#include "engine/edit/words.h"

namespace orrery::edit {
namespace {

Result<graph::Attributes> attributes_of(const io::Tensor& tensor, const std::string& file) {
  const std::string advice = "read it with the verb weight, which leaves the numbers in the file";
  if (!is_element(tensor.dtype))
    return refusal(fmt::format("The tensor is {}, which no constant is of", name_of(tensor.dtype)), file,
                   advice);
  graph::ValueType type{tensor.dtype, {}};
  for (const int64_t size : tensor.shape) type.shape.emplace_back(size);
  if (const auto count = element_count(type.shape, {});
      !count || *count > static_cast<int64_t>(ops::kMostData))
    return refusal(fmt::format("The tensor has more numbers than a constant holds, {}", ops::kMostData), file,
                   advice);
  auto attributes = ops::constant_attributes(type, tensor.data.data());
  if (!attributes) return refusal("The tensor has numbers that cannot be written in a graph", file, advice);
  return std::move(*attributes);
}

Result<std::vector<int64_t>> shape_in(const std::string& text) {
  std::vector<int64_t> shape;
  for (const std::string_view part : split(text, ',')) {
    const auto size = number_in<int64_t>(part);
    if (!size || *size < 1)
      return refusal(fmt::format("\"{}\" is no shape", text.substr(0, 80)), "shape",
                     "write its sizes, outermost first: 4,64");
    shape.push_back(*size);
  }
  return shape;
}

Result<graph::Attributes> attributes_from(const Edit& edit) {
  const auto field = [&](const char* name) -> const std::string& { return edit.fields.at(name); };
  if (const std::string& path = field("file"); !path.empty()) {
    for (const char* other : {"value", "shape", "dtype"})
      if (!field(other).empty())
        return refusal(fmt::format("{} is given as well as a file, which already says it", other), path,
                       "leave it out");
    ORRERY_ASSIGN(const NamedFile file, open_tensors(path));
    ORRERY_ASSIGN(const io::Tensor* tensor, find_tensor(file, ""));
    return attributes_of(*tensor, path);
  }
  if (field("value").empty())
    return refusal("A constant needs a value or a file", edit.fields.at("as"), "add value=1, or file=V.npy");
  graph::Attributes attributes{{"value", *number_in<double>(field("value"))}};
  if (!field("dtype").empty()) attributes.emplace("dtype", field("dtype"));
  if (!field("shape").empty()) {
    ORRERY_ASSIGN(std::vector<int64_t> shape, shape_in(field("shape")));
    attributes.emplace("shape", std::move(shape));
  }
  return attributes;
}

Result<graph::Journal> constant(graph::Graph& graph, const Edit& edit) {
  const std::string& path = edit.fields.at("as");
  ORRERY_TRY(check_free(graph, path));
  ORRERY_ASSIGN(graph::Attributes attributes, attributes_from(edit));
  graph::Transaction transaction(graph, fmt::format("constant {}", path));
  Path split = split_path(path);
  ORRERY_TRY(transaction.add_node(
      {"constant", std::move(split.scope), std::move(split.name), std::move(attributes), {}, {}, {}}));
  return transaction.commit();
}

}  // namespace

Verb constant_verb() {
  static const Field kFields[] = {
      {"as", FieldKind::name, "its scope and name"},
      {"file", FieldKind::file, "an array of NumPy with its numbers", false},
      {"value", FieldKind::real, "what every element is, where there is no file", false},
      {"shape", FieldKind::text, "sizes, outermost first: 4,64; 1", false},
      {.name = "dtype",
       .kind = FieldKind::choice,
       .doc = "the type of its elements; f32",
       .required = false,
       .choices = kElementTypes}};
  return {"constant", "numbers that the graph holds itself, to be connected", kFields, constant};
}

}  // namespace orrery::edit
