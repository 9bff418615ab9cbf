// A graph of one's own as C++ writes it, with the names of the MAX Graph API:
//
//   GraphBuilder graph;
//   const GraphValue x = graph.input("x", DType::f32, {"n", 64});
//   const GraphValue y = softmax(matmul(x, graph.constant(weights)) + 1.0);
//   graph.output(y);
//   auto session = graph.open(options);           // a session as any other: drawn, edited, run by
//   run_graph()
//
// Whatever the registry has is there by its name: graph.apply("causal_convolution", ...). A refusal (shapes
// that do not fit, an op that is not there) is kept, what is made of its value is nothing either, and open()
// returns it with the node that it is about: an expression needs no check of its own.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/own_graph.h"

namespace orrery::api {

class GraphBuilder;

/// A value of a graph that is being built; the builder outlives it.
class GraphValue {
 public:
  GraphValue() = default;
  /// Nothing where its op was refused.
  std::optional<graph::ValueType> type() const;
  GraphBuilder& builder() const { return *builder_; }

 private:
  friend class GraphBuilder;
  GraphValue(GraphBuilder* builder, ValueId id) : builder_(builder), id_(id) {}
  GraphBuilder* builder_ = nullptr;
  ValueId id_;
};

/// A size of an input: a number, or a symbol whose size is that of what is given: "n", "2*n+1".
struct GraphDim {
  GraphDim(int64_t number) : text(std::to_string(number)) {}  // NOLINT: implicit on purpose
  GraphDim(int number) : GraphDim(int64_t{number}) {}         // NOLINT
  GraphDim(const char* symbol) : text(symbol) {}              // NOLINT
  std::string text;
};

class GraphBuilder {
 public:
  GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  /// What a run is given by its name.
  GraphValue input(const std::string& name, DType dtype, const std::vector<GraphDim>& shape);
  GraphValue constant(double value, DType dtype = DType::f32);
  GraphValue constant(const Array& array);

  /// The outputs of a new node of an op, or of one that it is known by (ops/aliases.h); operands in the op's
  /// order, absent ones GraphValue(). Named after the op where no name is given.
  std::vector<GraphValue> apply_all(const std::string& op, const std::vector<GraphValue>& operands,
                                    graph::Attributes attributes = {}, const std::string& name = "");
  /// The first of them.
  GraphValue apply(const std::string& op, const std::vector<GraphValue>& operands,
                   graph::Attributes attributes = {}, const std::string& name = "");

  /// How much a value of one element moves with each of others, each of its shape: nodes of the graph like
  /// any other (engine/passes/differentiate.h).
  std::vector<GraphValue> gradients(const GraphValue& of, const std::vector<GraphValue>& by);

  /// What a run returns, in the order of the calls.
  void output(const GraphValue& value);

  /// The first refusal, or the graph of what was built so far.
  Result<graph::GraphVersion> graph() const;
  Result<std::shared_ptr<Session>> open(const OpenOptions& options, const std::string& name = "graph") const;

 private:
  friend class GraphValue;
  GraphValue source(const std::string& op, const std::string& name, graph::Attributes attributes);
  std::string free_name(const std::string& wanted) const;
  void refuse(Error error);

  graph::Graph graph_;
  std::vector<ValueId> outputs_;
  std::optional<Error> refusal_;
};

// ---- ops, by name ----

#define ORRERY_GRAPH_UNARY(name) \
  inline GraphValue name(const GraphValue& src) { return src.builder().apply(#name, {src}); }
ORRERY_GRAPH_UNARY(abs)
ORRERY_GRAPH_UNARY(acos)
ORRERY_GRAPH_UNARY(atanh)
ORRERY_GRAPH_UNARY(bitwise_not)
ORRERY_GRAPH_UNARY(cos)
ORRERY_GRAPH_UNARY(erf)
ORRERY_GRAPH_UNARY(exp)
ORRERY_GRAPH_UNARY(floor)
ORRERY_GRAPH_UNARY(is_inf)
ORRERY_GRAPH_UNARY(is_nan)
ORRERY_GRAPH_UNARY(log)
ORRERY_GRAPH_UNARY(log1p)
ORRERY_GRAPH_UNARY(logical_not)
ORRERY_GRAPH_UNARY(negate)
ORRERY_GRAPH_UNARY(relu)
ORRERY_GRAPH_UNARY(round)
ORRERY_GRAPH_UNARY(rsqrt)
ORRERY_GRAPH_UNARY(sigmoid)
ORRERY_GRAPH_UNARY(silu)
ORRERY_GRAPH_UNARY(sin)
ORRERY_GRAPH_UNARY(sqrt)
ORRERY_GRAPH_UNARY(tanh)
ORRERY_GRAPH_UNARY(trunc)
#undef ORRERY_GRAPH_UNARY

#define ORRERY_GRAPH_BINARY(name)                                    \
  inline GraphValue name(const GraphValue& a, const GraphValue& b) { \
    return a.builder().apply(#name, {a, b});                         \
  }
ORRERY_GRAPH_BINARY(add)
ORRERY_GRAPH_BINARY(sub)
ORRERY_GRAPH_BINARY(mul)
ORRERY_GRAPH_BINARY(div)
ORRERY_GRAPH_BINARY(floor_div)
ORRERY_GRAPH_BINARY(mod)
ORRERY_GRAPH_BINARY(pow)
ORRERY_GRAPH_BINARY(maximum)
ORRERY_GRAPH_BINARY(minimum)
ORRERY_GRAPH_BINARY(equal)
ORRERY_GRAPH_BINARY(not_equal)
ORRERY_GRAPH_BINARY(less)
ORRERY_GRAPH_BINARY(less_equal)
ORRERY_GRAPH_BINARY(greater)
ORRERY_GRAPH_BINARY(greater_equal)
ORRERY_GRAPH_BINARY(logical_and)
ORRERY_GRAPH_BINARY(logical_or)
ORRERY_GRAPH_BINARY(logical_xor)
ORRERY_GRAPH_BINARY(bitwise_and)
ORRERY_GRAPH_BINARY(bitwise_or)
ORRERY_GRAPH_BINARY(bitwise_xor)
ORRERY_GRAPH_BINARY(outer)
#undef ORRERY_GRAPH_BINARY

/// Operators of two values, and of a value and a number, which becomes a constant of the value's type.
#define ORRERY_GRAPH_OPERATOR(symbol, name)                                                               \
  inline GraphValue operator symbol(const GraphValue& a, const GraphValue& b) { return name(a, b); }      \
  inline GraphValue operator symbol(const GraphValue& a, double b) { return name(a, number_like(a, b)); } \
  inline GraphValue operator symbol(double a, const GraphValue& b) { return name(number_like(b, a), b); }
GraphValue number_like(const GraphValue& value, double number);
ORRERY_GRAPH_OPERATOR(+, add)
ORRERY_GRAPH_OPERATOR(-, sub)
ORRERY_GRAPH_OPERATOR(*, mul)
ORRERY_GRAPH_OPERATOR(/, div)
ORRERY_GRAPH_OPERATOR(<, less)
ORRERY_GRAPH_OPERATOR(<=, less_equal)
ORRERY_GRAPH_OPERATOR(>, greater)
ORRERY_GRAPH_OPERATOR(>=, greater_equal)
#undef ORRERY_GRAPH_OPERATOR
inline GraphValue operator-(const GraphValue& src) { return negate(src); }

/// Over the axes; none: all. See engine/ops/README.md.
#define ORRERY_GRAPH_REDUCTION(name)                                                                    \
  inline GraphValue name(const GraphValue& src, std::vector<int64_t> axis = {}, bool keepdims = true) { \
    return src.builder().apply(#name, {src}, {{"axis", std::move(axis)}, {"keepdims", keepdims}});      \
  }
ORRERY_GRAPH_REDUCTION(sum)
ORRERY_GRAPH_REDUCTION(mean)
ORRERY_GRAPH_REDUCTION(prod)
ORRERY_GRAPH_REDUCTION(max)
ORRERY_GRAPH_REDUCTION(min)
ORRERY_GRAPH_REDUCTION(argmax)
ORRERY_GRAPH_REDUCTION(argmin)
#undef ORRERY_GRAPH_REDUCTION

GraphValue matmul(const GraphValue& a, const GraphValue& b);
GraphValue where(const GraphValue& condition, const GraphValue& a, const GraphValue& b);
GraphValue softmax(const GraphValue& src, int64_t axis = -1);
GraphValue logsoftmax(const GraphValue& src, int64_t axis = -1);
/// approximation: none, tanh or quick.
GraphValue gelu(const GraphValue& src, const std::string& approximation = "none");
GraphValue cumsum(const GraphValue& src, int64_t axis = -1, bool exclusive = false, bool reverse = false);
GraphValue cast(const GraphValue& src, DType dtype);
GraphValue reshape(const GraphValue& src, std::vector<int64_t> shape);
GraphValue transpose(const GraphValue& src, std::vector<int64_t> permutation = {});
GraphValue squeeze(const GraphValue& src, int64_t axis);
GraphValue unsqueeze(const GraphValue& src, int64_t axis);
GraphValue flatten(const GraphValue& src, int64_t start_dim = 0, int64_t end_dim = -1);
GraphValue broadcast_to(const GraphValue& src, std::vector<int64_t> shape);
GraphValue tile(const GraphValue& src, std::vector<int64_t> repeats);
GraphValue repeat_interleave(const GraphValue& src, int64_t repeats, int64_t axis = -1);
/// At least one part.
GraphValue concat(const std::vector<GraphValue>& parts, int64_t axis = 0);
GraphValue stack(const std::vector<GraphValue>& parts, int64_t axis = 0);
std::vector<GraphValue> chunk(const GraphValue& src, int64_t chunks, int64_t axis = 0);
std::vector<GraphValue> split(const GraphValue& src, std::vector<int64_t> sizes, int64_t axis = 0);

}  // namespace orrery::api
