#include "engine/ops/gradients.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/constant.h"

namespace orrery::ops {
namespace {

constexpr std::string_view kScope = "grad";

std::string scope_of(const graph::Node& node) {
  return node.scope.empty() ? std::string(kScope) : fmt::format("{}.{}", kScope, node.scope);
}

std::string free_name(const graph::Graph& graph, const std::string& scope, const std::string& name) {
  if (!graph.find_path(scope + "." + name).valid()) return name;
  int number = 2;
  while (graph.find_path(fmt::format("{}.{}_{}", scope, name, number)).valid()) ++number;
  return fmt::format("{}_{}", name, number);
}

std::optional<std::vector<int64_t>> fixed(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) {
    if (!dim.is_constant()) return std::nullopt;
    sizes.push_back(dim.constant());
  }
  return sizes;
}

/// The type that a gradient of a value has: that of the value, f32 where it holds no plain elements.
ValueType type_of_gradient(const ValueType& type) {
  return {is_element(type.dtype) ? type.dtype : DType::f32, type.shape};
}

}  // namespace

const ValueType& Term::type() const { return rule_->type(id_); }

Gradients::Gradients(graph::Graph& graph, NodeId node, std::vector<ValueId> gradients,
                     std::vector<bool> wanted)
    : graph_(graph),
      node_(graph.node(node)),
      gradients_(std::move(gradients)),
      wanted_(std::move(wanted)),
      given_(node_.inputs.size()) {}

Term Gradients::input(size_t input) {
  return {this, input < node_.inputs.size() ? node_.inputs[input] : ValueId{}};
}
Term Gradients::output(size_t output) { return {this, node_.outputs[output]}; }
Term Gradients::gradient(size_t output) {
  return {this, output < gradients_.size() ? gradients_[output] : ValueId{}};
}
Term Gradients::gradient_or_zeros(size_t output) {
  return gradients_[output].valid() ? gradient(output) : zeros_like(this->output(output));
}

void Gradients::give(size_t input, Term gradient) {
  if (!wants(input) || !gradient) return;
  const ValueType wanted = type_of_gradient(type(node_.inputs[input]));
  gradient = summed_to(gradient, wanted.shape);
  if (gradient && gradient.type().shape != wanted.shape)
    gradient = repeated_like(gradient, this->input(input));
  if (gradient && gradient.type().dtype != wanted.dtype) gradient = cast(gradient, wanted.dtype);
  given_[input] = gradient.id();
}

void Gradients::refuse(std::string why, std::string advice) {
  if (!refusal_) refusal_ = Error{ErrorCode::unsupported, std::move(why), node_.path(), std::move(advice)};
}

Term Gradients::constant(const ValueType& type, std::vector<double> data, double value) {
  const auto shape = fixed(type.shape);
  if (!shape) refuse("A constant has no size that differs from step to step");
  if (refusal_) return {this, ValueId()};
  Attributes attributes{{"shape", *shape}, {"dtype", std::string(name_of(type.dtype))}};
  if (data.empty())
    attributes.emplace("value", value);
  else
    attributes.emplace("data", std::move(data));
  return apply("constant", {}, std::move(attributes));
}

Term Gradients::number(double value, DType dtype) { return constant({dtype, {}}, {}, value); }

Term Gradients::apply(const std::string& op, const std::vector<Term>& operands, Attributes attributes) {
  const std::vector<Term> made = apply_all(op, operands, std::move(attributes));
  return made.empty() ? Term(this, ValueId()) : made.front();
}

std::vector<Term> Gradients::apply_all(const std::string& op, const std::vector<Term>& operands,
                                       Attributes attributes) {
  if (refusal_) return {};
  graph::Graph::NewNode made{op, scope_of(node_), "", std::move(attributes), {}, {}, {}};
  std::erase_if(made.attributes, [](const auto& entry) { return graph::is_drawing_attribute(entry.first); });
  made.name = free_name(graph_, made.scope, node_.name + "_" + op);
  if (op != "constant")
    for (const std::string_view asked : {graph::kDeviceAttribute, graph::kPrecisionAttribute})
      if (const auto found = node_.attributes.find(asked); found != node_.attributes.end())
        made.attributes.insert(*found);
  for (const Term& operand : operands) made.inputs.push_back(operand.id_);
  Result<NodeId> added = graph_.add_node(std::move(made));
  if (!added.ok()) {
    const Error& error = added.error();
    refuse(fmt::format("{} ({})", error.what, error.where), error.advice);
    return {};
  }
  std::vector<Term> outputs;
  for (const ValueId output : graph_.node(*added).outputs) outputs.push_back(Term(this, output));
  return outputs;
}

Result<std::vector<ValueId>> Gradients::finish() {
  if (!refusal_) return std::move(given_);
  Error error = *refusal_;
  error.what = fmt::format("The gradient of {} is not known here: {}", node_.op->name, error.what);
  return error;
}

// ---- formulas ----

Term apply(const std::string& op, const Term& src, Attributes attributes) {
  return src ? src.rule().apply(op, {src}, std::move(attributes)) : Term();
}

namespace {

Term combined(const char* op, const Term& a, const Term& b) {
  if (!a || !b) return {};
  return a.rule().apply(op, {a, b});
}
/// Refused before: a number needs the type of what it stands beside.
Term number_like(const Term& term, double value) {
  return term ? term.rule().number(value, term.type().dtype) : Term();
}

}  // namespace

Term operator+(const Term& a, const Term& b) { return combined("add", a, b); }
Term operator-(const Term& a, const Term& b) { return combined("sub", a, b); }
Term operator*(const Term& a, const Term& b) { return combined("mul", a, b); }
Term operator/(const Term& a, const Term& b) { return combined("div", a, b); }
Term operator-(const Term& src) { return src ? apply("negate", src) : Term(); }
Term operator+(const Term& a, double b) { return a + number_like(a, b); }
Term operator-(double a, const Term& b) { return number_like(b, a) - b; }
Term operator*(const Term& a, double b) { return a * number_like(a, b); }
Term operator>(const Term& a, double b) { return combined("greater", a, number_like(a, b)); }
Term operator==(const Term& a, double b) { return combined("equal", a, number_like(a, b)); }

Term where(const Term& condition, const Term& a, const Term& b) {
  if (!condition || !a || !b) return {};
  return a.rule().apply("where", {condition, a, b});
}
Term matmul(const Term& a, const Term& b, bool transpose_a, bool transpose_b) {
  if (!a || !b) return {};
  return a.rule().apply("matmul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}
Term cast(const Term& src, DType dtype) {
  if (!src || src.type().dtype == dtype) return src;
  return apply("cast", src, {{"dtype", std::string(name_of(dtype))}});
}
Term transpose(const Term& src, std::vector<int64_t> permutation) {
  return src ? apply("transpose", src, {{"permutation", std::move(permutation)}}) : Term();
}
Term unsqueeze(const Term& src, int64_t axis) {
  return src ? apply("unsqueeze", src, {{"axis", axis}}) : Term();
}
Term sum(const Term& src, std::vector<int64_t> axes, bool keepdims) {
  return src ? apply("sum", src, {{"axis", std::move(axes)}, {"keepdims", keepdims}}) : Term();
}

size_t place_of(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

Term filled_like(const Term& shape, double value, DType dtype) {
  if (!shape) return {};
  if (fixed(shape.type().shape)) return shape.rule().constant({dtype, shape.type().shape}, {}, value);
  return repeated_like(shape.rule().number(value, dtype), shape);
}

Term zeros_like(const Term& shape) {
  return shape ? filled_like(shape, 0, type_of_gradient(shape.type()).dtype) : Term();
}

/// Where sizes differ from step to step it is chosen by a condition of that shape, with one value in both
/// cases.
Term repeated_like(const Term& src, const Term& shape) {
  if (!src || !shape || src.type().shape == shape.type().shape) return src;
  if (auto sizes = fixed(shape.type().shape))
    return apply("broadcast_to", src, {{"shape", std::move(*sizes)}});
  return where(combined("equal", shape, shape), src, src);
}

Term summed_to(Term src, const Shape& shape) {
  if (!src) return src;
  if (const size_t rank = src.type().shape.size(); rank > shape.size()) {
    std::vector<int64_t> axes(rank - shape.size());
    std::iota(axes.begin(), axes.end(), int64_t{0});
    src = sum(src, std::move(axes), false);
  }
  for (size_t d = 0; src && d < src.type().shape.size();) {
    const Shape& from = src.type().shape;
    const size_t more = shape.size() - from.size();
    const auto repeated = [&](size_t at) {
      return at < from.size() && shape[at + more] == Dim(1) && from[at] != Dim(1);
    };
    std::vector<int64_t> axes;
    while (repeated(d)) axes.push_back(static_cast<int64_t>(d++));
    if (axes.empty())
      ++d;
    else
      src = sum(src, std::move(axes));
  }
  return src;
}

Term reshaped(const Term& src, const Shape& shape) {
  if (!src || src.type().shape == shape) return src;
  const Shape& from = src.type().shape;
  std::vector<int64_t> sizes;
  bool open = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool kept = d < from.size() && from[d] == shape[d];
    if (shape[d].is_constant()) {
      sizes.push_back(shape[d].constant());
    } else if (kept || open) {
      sizes.push_back(0);  // refused by reshape where it is another dim
    } else {
      sizes.push_back(-1);
      open = true;
    }
  }
  const Term made = apply("reshape", src, {{"shape", std::move(sizes)}});
  if (made && made.type().shape != shape)
    made.rule().refuse(
        fmt::format("{} cannot be seen as {}: it has several sizes that differ from step to step",
                    orrery::to_string(from), orrery::to_string(shape)));
  return made;
}

Term numbered(const Term& shape, int64_t axis, DType dtype) {
  if (!shape) return {};
  return apply("cumsum", filled_like(shape, 1, dtype), {{"axis", axis}, {"exclusive", true}});
}

Term taken_along(const Term& src, const Term& indices, int64_t axis) {
  if (!src || !indices) return {};
  const size_t rank = src.type().shape.size(), along = place_of(axis, rank);
  std::vector<Term> places;
  for (size_t d = 0; d < rank; ++d)
    places.push_back(d == along ? indices : numbered(indices, static_cast<int64_t>(d), indices.type().dtype));
  const Term place = src.rule().apply("stack", places, {{"axis", int64_t{-1}}});
  return src.rule().apply("gather_nd", {src, place});
}

Term padded(const Term& src, const Term& whole, size_t axis, int64_t first, int64_t step) {
  if (!src || !whole) return {};
  const Shape& shape = src.type().shape;
  std::vector<double> places(static_cast<size_t>(shape[axis].constant()));
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<double>(first + static_cast<int64_t>(i) * step);
  Shape line(shape.size(), Dim(1));
  line[axis] = shape[axis];
  const Term indices = src.rule().constant({DType::i64, line}, std::move(places));
  return src.rule().apply("scatter", {zeros_like(whole), src, repeated_like(indices, src)},
                          {{"axis", static_cast<int64_t>(axis)}});
}

}  // namespace orrery::ops
