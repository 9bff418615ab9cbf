// The sources: weight, input, state, constant. They take nothing and are not lowered: the compiler binds
// their values.
#include "engine/graph/graph.h"
#include "engine/ops/infer_support.h"

namespace orrery::ops {
namespace {

/// A shape of positive sizes whose bytes can be counted.
Result<ValueType> fixed_type(DType dtype, const std::vector<int64_t>& sizes) {
  int64_t elements = 1;
  Shape shape;
  for (const int64_t size : sizes) {
    if (size <= 0) return bad_attribute(fmt::format("shape has the size {}; sizes begin at 1", size));
    if (__builtin_mul_overflow(elements, size, &elements) || elements > (int64_t{1} << 56))
      return bad_attribute("shape has more elements than memory can hold");
    shape.emplace_back(size);
  }
  if (!sizes.empty() && !row_bytes(dtype, sizes.back()))
    return bad_attribute(fmt::format("rows of {} elements cannot be stored as {}: its blocks hold {}",
                                     sizes.back(), name_of(dtype), dtype_info(dtype).block_elements));
  return ValueType{dtype, std::move(shape)};
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
  if (const int64_t stacked = integer(*view.attributes, "stacked");
      stacked < 0 || (stacked > 0 && (type.shape.size() < 2 || type.shape[0] != Dim(stacked))))
    return bad_attribute(fmt::format("stacked is {}, but the shape is {}", stacked, to_string(type.shape)));
  return std::vector{std::move(type)};
}

Types infer_input(const NodeView& view) {
  const std::string_view name = text(*view.attributes, "name");
  using namespace graph::step_input;
  const auto row = [](Dim size) { return std::vector{ValueType{DType::i32, {std::move(size)}}}; };
  if (name == token_ids || name == positions || name == token_types) return row(kTokens);
  if (name == sequence_starts) return row(Dim(kSequences) + 1);
  if (name == kv_lengths) return row(kSequences);
  if (name == output_rows) return row(kOutputs);
  ORRERY_TRY(expect_choice(*view.attributes, "name",
                           {token_ids, positions, token_types, sequence_starts, kv_lengths, output_rows}));
  return row(0);
}

Types infer_state(const NodeView& view) {
  ORRERY_TRY(expect_positive(*view.attributes, "kv_heads"));
  ORRERY_TRY(expect_positive(*view.attributes, "head_dim"));
  ORRERY_ASSIGN(ValueType type, fixed_type(DType::f16, {integer(*view.attributes, "kv_heads"),
                                                        integer(*view.attributes, "head_dim")}));
  return std::vector{std::move(type)};
}

Types infer_constant(const NodeView& view) {
  ORRERY_ASSIGN(ValueType type, fixed_type(DType::f32, list(*view.attributes, "shape")));
  return std::vector{std::move(type)};
}

}  // namespace

OpSchema weight_op() {
  return {
      .name = "weight",
      .family = OpFamily::source,
      .doc = "A tensor of the model file.",
      .outputs = {"weight"},
      .attributes =
          {{"tensor", "Name of the tensor in the model file", {}, AttributeType::text},
           {"dtype", "How it is stored, as the field writes it: f32, bf16, Q4_K", {}, AttributeType::text},
           {"shape", "Its sizes, outermost first", {}, AttributeType::list},
           {"transform", "What is done to it before it is used; empty: nothing", Attribute(std::string())},
           {"transposed", "The file holds the transpose of this shape", Attribute(false)},
           {"rows", "Its rows that are taken: begin and count, or begin, count, stride and runs; empty: all",
            Attribute(std::vector<int64_t>())},
           {"stacked",
            "So many tensors one behind another, * in the name standing for their number; 0: one tensor",
            Attribute(int64_t{0})}},
      .infer = infer_weight};
}

OpSchema input_op() {
  return {.name = "input",
          .family = OpFamily::source,
          .doc =
              "What a step brings: token ids, their positions and types, and which rows belong to which "
              "sequence.",
          .outputs = {"value"},
          .attributes = {{"name", "Which of the step's inputs", {}, AttributeType::text}},
          .infer = infer_input};
}

OpSchema state_op() {
  return {.name = "state",
          .family = OpFamily::source,
          .doc = "The keys and values of all tokens that a layer has read so far.",
          .outputs = {"state"},
          .attributes = {{"name", "What the state is called", {}, AttributeType::text},
                         {"layer", "The layer it belongs to", {}, AttributeType::integer},
                         {"kv_heads", "Key and value heads", {}, AttributeType::integer},
                         {"head_dim", "Elements of one head", {}, AttributeType::integer}},
          .infer = infer_state};
}

OpSchema constant_op() {
  return {.name = "constant",
          .family = OpFamily::source,
          .doc = "A tensor of one number.",
          .outputs = {"value"},
          .attributes = {{"value", "Every element", {}, AttributeType::real},
                         {"shape", "Its sizes, outermost first", Attribute(std::vector<int64_t>{1})}},
          .infer = infer_constant};
}

}  // namespace orrery::ops
