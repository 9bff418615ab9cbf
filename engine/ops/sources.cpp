// The sources: weight, input, state, constant. They take nothing and are not lowered: the compiler binds
// their values.
#include <algorithm>
#include <cstdlib>

#include "engine/ops/constant.h"
#include "engine/ops/infer_support.h"
#include "engine/ops/lowering.h"
#include "engine/ops/state_kind.h"

namespace orrery::ops {
namespace {

Error no_element_type(std::string_view what, const Attributes& attributes) {
  return bad_attribute(fmt::format("dtype is \"{}\"; {} is of f32, f16, bf16, i8, i16, i32, i64, u8 or bool",
                                   text(attributes, "dtype"), what));
}

/// The rows of a tensor that a weight is: whether they are as many as its shape says.
Result<void> check_rows(const std::vector<int64_t>& rows, const std::vector<int64_t>& shape) {
  if (rows.empty()) return {};
  const bool strided = rows.size() == 4;
  int64_t count = 0;
  if ((!strided && rows.size() != 2) || shape.empty() ||
      __builtin_mul_overflow(rows[1], strided ? rows[3] : 1, &count) || rows[0] < 0 || rows[1] < 1 ||
      count != shape.front())
    return bad_attribute(fmt::format("rows is [{}]; it must name the {} rows of the shape",
                                     fmt::join(rows, ", "), shape.empty() ? 0 : shape.front()));
  return {};
}

Types infer_weight(const NodeView& view) {
  if (text(*view.attributes, "tensor").empty()) return bad_attribute("tensor is empty");
  const auto dtype = parse_dtype(text(*view.attributes, "dtype"));
  if (!dtype) return bad_attribute(fmt::format("dtype is \"{}\"", text(*view.attributes, "dtype")));
  ORRERY_ASSIGN(ValueType type, fixed_type(*dtype, list(*view.attributes, "shape")));
  ORRERY_TRY(check_rows(list(*view.attributes, "rows"), list(*view.attributes, "shape")));
  if (const std::vector<int64_t> columns = list(*view.attributes, "columns");
      !columns.empty() &&
      (columns.size() != 2 || columns[0] < 0 || type.shape.size() != 2 || type.shape[1] != Dim(columns[1])))
    return bad_attribute(fmt::format("columns is [{}]; it must name the columns of the shape {}",
                                     fmt::join(columns, ", "), to_string(type.shape)));
  if (const int64_t stacked = integer(*view.attributes, "stacked");
      stacked < 0 || (stacked > 0 && (type.shape.size() < 2 || type.shape[0] != Dim(stacked))))
    return bad_attribute(fmt::format("stacked is {}, but the shape is {}", stacked, to_string(type.shape)));
  return std::vector{std::move(type)};
}

Types infer_step_input(const Attributes& attributes) {
  if (!text(attributes, "shape").empty())
    return bad_attribute(
        fmt::format("shape is \"{}\"; an input with a shape has a dtype too", text(attributes, "shape")));
  if (const auto input = find_step_input(text(attributes, "name")))
    return std::vector{step_inputs()[*input].type};
  std::vector<std::string_view> names;
  for (const StepInput& input : step_inputs()) names.push_back(input.name);
  Result<void> known = expect_choice(attributes, "name", names);
  Error error = std::move(known).error();
  error.advice += ", or give it a dtype and a shape";
  return error;
}

/// The largest number in a dim: how far a product of dims is from not fitting.
int64_t magnitude_of(const Dim& dim) {
  int64_t most = std::max<int64_t>(std::abs(dim.constant()), 1);
  for (const auto& [symbol, coefficient] : dim.terms()) most = std::max(most, std::abs(coefficient));
  return most;
}

/// Of an input that is given: its own type. A size is a number or an expression of symbols.
Types infer_given_input(const Attributes& attributes) {
  const auto dtype = parse_dtype(text(attributes, "dtype"));
  if (!dtype || !is_element(*dtype)) return no_element_type("an input", attributes);
  const std::string_view words = text(attributes, "shape");
  std::optional<Shape> shape = parse_shape(words);
  if (!shape)
    return bad_attribute(fmt::format("shape is \"{}\"; write sizes, such as \"n, 64\" or \"2*n+1\"", words));
  int64_t size = 1;
  for (const Dim& dim : *shape) {
    if (dim.is_constant() && dim.constant() < 1)
      return bad_attribute(fmt::format("shape is \"{}\"; sizes begin at 1", words));
    if (__builtin_mul_overflow(size, magnitude_of(dim), &size) || size > kMostElements)
      return bad_attribute("shape has more elements than memory can hold");
  }
  return std::vector{ValueType{*dtype, *std::move(shape)}};
}

Types infer_input(const NodeView& view) {
  if (text(*view.attributes, "name").empty()) return bad_attribute("name is empty");
  return text(*view.attributes, "dtype").empty() ? infer_step_input(*view.attributes)
                                                 : infer_given_input(*view.attributes);
}

Types infer_state(const NodeView& view) {
  ORRERY_TRY(expect_choice(*view.attributes, "kind", {kKeysAndValues, kRecord, kSummary}));
  if (keeps_record(*view.attributes) || keeps_summary(*view.attributes)) {
    const std::vector<int64_t> shape = list(*view.attributes, "shape");
    if (shape.empty()) return bad_attribute("shape is empty; a record and a summary have sizes");
    ORRERY_ASSIGN(ValueType type, fixed_type(DType::f32, shape));
    return std::vector{std::move(type)};
  }
  ORRERY_TRY(expect_positive(*view.attributes, "kv_heads"));
  ORRERY_TRY(expect_positive(*view.attributes, "head_dim"));
  ORRERY_ASSIGN(ValueType type, fixed_type(DType::f16, {integer(*view.attributes, "kv_heads"),
                                                        integer(*view.attributes, "head_dim")}));
  return std::vector{std::move(type)};
}

Types infer_constant(const NodeView& view) {
  const auto dtype = parse_dtype(text(*view.attributes, "dtype"));
  if (!dtype || !is_element(*dtype)) return no_element_type("a constant", *view.attributes);
  ORRERY_ASSIGN(ValueType type, fixed_type(*dtype, list(*view.attributes, "shape")));
  ORRERY_TRY(check_constant(*view.attributes, type));
  return std::vector{std::move(type)};
}

}  // namespace

bool is_given(const graph::Node& node) {
  return node.is_source() && node.op->name == "input" && !text(node.attributes, "dtype").empty();
}

bool keeps_record(const Attributes& attributes) { return text(attributes, "kind") == kRecord; }
bool keeps_summary(const Attributes& attributes) { return text(attributes, "kind") == kSummary; }

OpSchema weight_op() {
  return {
      .name = "weight",
      .family = OpFamily::source,
      .doc = "A tensor of the model file, or of another.",
      .outputs = {"weight"},
      .attributes =
          {{"tensor", "Name of the tensor in its file", {}, AttributeType::text},
           {"dtype",
            "What it is stored in, as the field writes it: f32, bf16, Q4_K; another than the file's: "
            "requantised",
            {},
            AttributeType::text},
           {"shape", "Its sizes, outermost first", {}, AttributeType::list},
           {"transform", "What is done to it before it is used; empty: nothing", Attribute(std::string())},
           {"transposed", "The file holds the transpose of this shape", Attribute(false)},
           {"rows", "Its rows that are taken: begin and count, or begin, count, stride and runs; empty: all",
            Attribute(std::vector<int64_t>())},
           {"columns", "Its columns that are taken: begin and count; empty: all",
            Attribute(std::vector<int64_t>())},
           {"stacked",
            "So many tensors one behind another, * in the name standing for their number; 0: one tensor",
            Attribute(int64_t{0})},
           {"file", "The file that holds it; empty: the model's own", Attribute(std::string())},
           {"stamp", "What the file's size and time of writing were", Attribute(std::string())},
           {"merged", "Adapters whose low-rank matrices are added to it, and their factors",
            Attribute(std::string())}},
      .infer = infer_weight};
}

OpSchema input_op() {
  return {
      .name = "input",
      .family = OpFamily::source,
      .doc =
          "What a step brings: token ids, their positions and types, and which rows belong to which "
          "sequence; or, with a dtype, what is given to it by name.",
      .outputs = {"value"},
      .attributes = {{"name", "Which of the step's inputs, or what it is given by", {}, AttributeType::text},
                     {"dtype", "The type of what is given: f32, i64, bool; empty: it is one of the step's",
                      Attribute(std::string())},
                     {"shape", "The sizes of what is given, outermost first, numbers or symbols: n, 64",
                      Attribute(std::string())}},
      .infer = infer_input};
}

OpSchema state_op() {
  return {
      .name = "state",
      .family = OpFamily::source,
      .doc =
          "What a layer keeps of the tokens that it has read so far: keys and values of each, or a record.",
      .outputs = {"state"},
      .attributes = {{"name", "What the state is called", {}, AttributeType::text},
                     {"layer", "The layer it belongs to", {}, AttributeType::integer},
                     {"kind", "kv: keys and values of each token; record: numbers of the text as a whole",
                      Attribute(std::string(kKeysAndValues))},
                     {"kv_heads", "Key and value heads of kv", Attribute(int64_t{0})},
                     {"head_dim", "Elements of one head of kv", Attribute(int64_t{0})},
                     {"shape", "Sizes of a record, outermost first", Attribute(std::vector<int64_t>())}},
      .infer = infer_state};
}

OpSchema constant_op() {
  return {.name = "constant",
          .family = OpFamily::source,
          .doc = "A tensor of one number, or of those that are given.",
          .outputs = {"value"},
          .attributes = {{"value", "Every element, where there is no data", Attribute(0.0)},
                         {"shape", "Its sizes, outermost first", Attribute(std::vector<int64_t>{1})},
                         {"dtype", "The type of its elements: f32, i64, bool", Attribute(std::string("f32"))},
                         {"data", "Its elements, the last dim fastest; empty: all are value",
                          Attribute(std::vector<double>())}},
          .infer = infer_constant};
}

}  // namespace orrery::ops
