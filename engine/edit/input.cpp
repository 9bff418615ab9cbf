// input as=NAME dtype=T shape=S: a value that whoever runs the graph gives it.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"

namespace orrery::edit {
namespace {

Result<graph::Journal> input(graph::Graph& graph, const Edit& edit) {
  const std::string& path = edit.fields.at("as");
  ORRERY_TRY(check_free(graph, path));
  const Path split = split_path(path);
  graph::Transaction transaction(graph, "input " + path);
  ORRERY_TRY(transaction.add_node(
      {"input",
       split.scope,
       split.name,
       {{"name", path}, {"dtype", edit.fields.at("dtype")}, {"shape", edit.fields.at("shape")}},
       {},
       {},
       {}}));
  return transaction.commit();
}

}  // namespace

Verb input_verb() {
  static constexpr std::string_view kTypes[] = {"f32", "f16", "bf16", "i8",  "i16",
                                                "i32", "i64", "u8",   "bool"};
  static constexpr Field kFields[] = {
      {"as", FieldKind::name, "its name, by which the values are given"},
      {.name = "dtype", .kind = FieldKind::choice, .doc = "the type of its elements", .choices = kTypes},
      {"shape", FieldKind::text, "sizes with commas between, each a number or a name: n,64"}};
  return {"input", "a value that is given to the graph", kFields, input};
}

}  // namespace orrery::edit
