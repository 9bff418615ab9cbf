// What the inferences and costs of the ops share: reading attributes, and checks whose messages name both
// shapes. An error's `where` is the name of the input at fault; the graph puts the node and the value in its
// place.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/op_schema.h"

namespace orrery::ops {

using graph::Attribute;
using graph::Attributes;
using graph::AttributeSpec;
using graph::AttributeType;
using graph::Cost;
using graph::InputSpec;
using graph::NodeView;
using graph::OpFamily;
using graph::OpSchema;
using graph::ValueType;
using Types = Result<std::vector<ValueType>>;

/// The attribute, or a zero of its type where it is absent (the graph completes them).
int64_t integer(const Attributes& attributes, std::string_view name);
double real(const Attributes& attributes, std::string_view name);
bool flag(const Attributes& attributes, std::string_view name);
std::string_view text(const Attributes& attributes, std::string_view name);
std::vector<int64_t> list(const Attributes& attributes, std::string_view name);

std::optional<DType> parse_dtype(std::string_view name);

Error mismatch(std::string_view input, std::string what);
Error bad_attribute(std::string what);
/// a * b, or nothing when it does not fit.
std::optional<int64_t> product(int64_t a, int64_t b);

/// Elements that a shape may have, so that bytes can be counted.
inline constexpr int64_t kMostElements = int64_t{1} << 56;
/// A value of that shape; refuses sizes that are not positive, and rows that the type's blocks do not fill.
Result<ValueType> fixed_type(DType dtype, const std::vector<int64_t>& sizes);

/// Refuses anything but a positive value / a finite value of at least 0 / one of the choices.
Result<void> expect_positive(const Attributes& attributes, std::string_view name);
Result<void> expect_not_negative(const Attributes& attributes, std::string_view name);
Result<void> expect_choice(const Attributes& attributes, std::string_view name,
                           std::span<const std::string_view> choices);
inline Result<void> expect_choice(const Attributes& attributes, std::string_view name,
                                  std::initializer_list<std::string_view> choices) {
  return expect_choice(attributes, name, std::span(choices.begin(), choices.size()));
}

struct Matrix {
  Dim rows;
  int64_t cols = 0;
};
/// f32[rows, cols] with constant cols.
Result<Matrix> activation(const NodeView& view, size_t input, std::string_view name);
/// The same where rows may take it rounded: f32, f16 or bf16.
Result<Matrix> rounded_activation(const NodeView& view, size_t input, std::string_view name);
/// The same type as another input, already checked.
Result<void> expect_same(const NodeView& view, size_t input, std::string_view name, size_t other,
                         std::string_view other_name);
/// [size] of f32, f16 or bf16; an absent one passes.
Result<void> expect_vector(const NodeView& view, size_t input, std::string_view name, int64_t size,
                           std::string_view reader);
/// A matrix weight (rows, cols) of any stored dtype.
struct Stored {
  int64_t rows = 0, cols = 0;
};
Result<Stored> stored_matrix(const NodeView& view, size_t input, std::string_view name);
/// i32[n]; returns n.
Result<Dim> indices(const NodeView& view, size_t input, std::string_view name);

inline ValueType f32(Dim rows, int64_t cols) { return {DType::f32, {std::move(rows), cols}}; }

/// Elements and bytes with the symbols bound; 0 for what cannot be evaluated.
double count(const Shape& shape, const Bindings& bindings);
double bytes(const ValueType& type, const Bindings& bindings);
double bytes(const ValueType* type, const Bindings& bindings);  // 0 for null
double rows_of(const ValueType& type, const Bindings& bindings);
/// Bytes that a state keeps of one token: its key and its value, in the KV cache's dtype when that is bound.
double kept_bytes(const ValueType& state, const Bindings& bindings);

}  // namespace orrery::ops
