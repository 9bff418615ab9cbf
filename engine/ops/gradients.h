// How an op declares its gradient (OpSchema::gradient): a rule sees a node, its values and the gradients of
// its outputs, and adds nodes that compute the gradients of its inputs. It is written as formulas:
//
//   .gradient = [](Gradients& at) { at.give(0, at.gradient() * apply("cos", at.input(0))); }    // of sin
//
// What a rule adds are nodes of ordinary ops: they are drawn, compiled and run as any other, and are
// differentiated again where their ops have rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/ops/infer_support.h"

namespace orrery::ops {

class Gradients;

/// A value in a rule's formulas. What is made of one that could not be made is nothing either: the first
/// refusal is kept, and no formula checks for it.
class Term {
 public:
  Term() = default;
  explicit operator bool() const { return id_.valid(); }
  ValueId id() const { return id_; }
  Gradients& rule() const { return *rule_; }
  /// It must be there.
  const ValueType& type() const;

 private:
  friend class Gradients;
  Term(Gradients* rule, ValueId id) : rule_(rule), id_(id) {}
  Gradients* rule_ = nullptr;
  ValueId id_;
};

/// One node on its way back.
class Gradients {
 public:
  /// `gradients`: of the node's outputs; none where nothing comes back. `wanted`: of which inputs they are
  /// asked for. New nodes stand in the scope "grad." before the node's own, at the end of the order.
  Gradients(graph::Graph& graph, NodeId node, std::vector<ValueId> gradients, std::vector<bool> wanted);

  const Attributes& attributes() const { return node_.attributes; }
  size_t inputs() const { return node_.inputs.size(); }
  /// None where an optional one is absent.
  Term input(size_t input);
  Term output(size_t output = 0);
  const ValueType& type(ValueId value) const { return graph_.value(value).type; }

  /// Whether the gradient of an input is asked for: what is not need not be made.
  bool wants(size_t input) const { return input < wanted_.size() && wanted_[input]; }
  /// Of an output; none where the node has no such one or nothing comes back to it, which comes to one at
  /// least.
  Term gradient(size_t output = 0);
  /// The same, or zeros.
  Term gradient_or_zeros(size_t output);
  /// The gradient of an input, nothing where none is wanted. Dims along which the input was broadcast are
  /// summed, missing ones are repeated, and it is cast to the input's type (f32 of a weight that is stored in
  /// blocks).
  void give(size_t input, Term gradient);
  /// Why the rule does not know the gradient of this node.
  void refuse(std::string why, std::string advice = "");

  /// A number of a type, of no dims.
  Term number(double value, DType dtype);
  /// The first output of a new node, or all; operands that are absent are Term().
  Term apply(const std::string& op, const std::vector<Term>& operands, Attributes attributes = {});
  std::vector<Term> apply_all(const std::string& op, const std::vector<Term>& operands,
                              Attributes attributes = {});
  /// Another constant: its elements, or one number for all.
  Term constant(const ValueType& type, std::vector<double> data, double value = 0);

  /// By input, as they were given. The rule's refusal, with the node and its op.
  Result<std::vector<ValueId>> finish();

 private:
  graph::Graph& graph_;
  const graph::Node node_;  // its own copy: adding nodes moves those of the graph
  std::vector<ValueId> gradients_;
  std::vector<bool> wanted_;
  std::vector<ValueId> given_;
  std::optional<Error> refusal_;
};

// ---- formulas; operands must be there ----

Term apply(const std::string& op, const Term& src, Attributes attributes = {});
Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator-(const Term& src);
/// With a number of the term's type.
Term operator+(const Term& a, double b);
Term operator-(double a, const Term& b);
Term operator*(const Term& a, double b);
Term operator>(const Term& a, double b);
Term operator==(const Term& a, double b);
Term where(const Term& condition, const Term& a, const Term& b);
Term matmul(const Term& a, const Term& b, bool transpose_a = false, bool transpose_b = false);
Term cast(const Term& src, DType dtype);
Term transpose(const Term& src, std::vector<int64_t> permutation);
Term unsqueeze(const Term& src, int64_t axis);
/// Over neighbouring axes.
Term sum(const Term& src, std::vector<int64_t> axes, bool keepdims = true);

/// The axis from the front.
size_t place_of(int64_t axis, size_t rank);
/// One number for each element of a value, of another type perhaps.
Term filled_like(const Term& shape, double value, DType dtype);
Term zeros_like(const Term& shape);
/// Dims of 1 and missing ones repeated until it has the shape of another.
Term repeated_like(const Term& src, const Term& shape);
/// Dims along which a value of `shape` was broadcast summed, so that it has that shape.
Term summed_to(Term src, const Shape& shape);
/// The same elements in a shape. Of its sizes that differ from step to step all but one must stand where they
/// stand in src.
Term reshaped(const Term& src, const Shape& shape);
/// The number of each element along an axis of a value's shape: 0, 1, 2, ..
Term numbered(const Term& shape, int64_t axis, DType dtype);
/// dst[i] = src[i0, .., indices[i], ..]: an element along an axis for each of the indices.
Term taken_along(const Term& src, const Term& indices, int64_t axis);
/// Zeros of the shape of `whole`, with src on an axis at `first`, first + step, ..: what slicing takes.
Term padded(const Term& src, const Term& whole, size_t axis, int64_t first, int64_t step = 1);

}  // namespace orrery::ops
