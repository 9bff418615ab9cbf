// Writes a graph as an architecture reads: one call per node. The first failure is kept and the calls after
// it do nothing, so that an architecture need not ask after each; loops over layers stop at failed().
#pragma once

#include <tuple>

#include "engine/io/model_file.h"
#include "engine/ops/lowering.h"

namespace orrery::models {

/// Where a matrix and its bias lie inside a stored tensor: all of it, or some rows, or its transpose.
struct TensorPart {
  bool transposed = false;  // a matrix is stored as (cols, rows)
  std::vector<int64_t> rows =
      {};               // of the weight op: {begin, count} or {begin, count, stride, runs}; empty: all
  int64_t of_rows = 0;  // rows of the whole, where `rows` is given
};

class GraphBuilder {
 public:
  GraphBuilder(const io::ModelFile& file, const io::Adapter* adapter);

  /// The scope of the nodes that follow: "layers.3.attention".
  void enter(std::string scope) { scope_ = std::move(scope); }

  /// A step input, made once; its node has the input's name and no scope.
  ValueId input(std::string_view name);
  /// A weight node NAME of the current scope, or the one made before for the same tensor. The tensor must
  /// have this shape, or the part of it.
  ValueId weight(const std::string& name, const std::string& tensor, const std::vector<int64_t>& shape,
                 const TensorPart& part = {});
  /// A weight node of `count` tensors of this shape, one after another; "*" in their name stands for their
  /// number.
  ValueId stacked_weight(const std::string& name, const std::string& tensors, int64_t count,
                         const std::vector<int64_t>& shape);
  /// Keys and values of each token.
  ValueId state(const std::string& name, int64_t layer, int64_t kv_heads, int64_t head_dim);
  /// Numbers of the text as a whole.
  ValueId record(const std::string& name, int64_t layer, const std::vector<int64_t>& shape);
  /// Another output of the node whose first one this is.
  ValueId output(ValueId first, size_t index) const;
  /// The node's first output.
  ValueId add(const std::string& op, const std::string& name, std::vector<ValueId> inputs,
              graph::Attributes attributes = {});
  /// src * W^T + b with the tensors PREFIX.weight (rows, cols) and, where the file has it, PREFIX.bias
  /// (rows).
  struct Linear {
    std::string name, tensor;
    int64_t rows = 0, cols = 0;
    TensorPart part = {};
  };
  ValueId linear(ValueId src, const Linear& linear);

  /// As the graph sees it: of the adapter if it brings it, else of the file, whose names may have an
  /// encoder's prefix.
  struct Found {
    std::string name;
    DType dtype = DType::f32;
    const std::vector<int64_t>* shape = nullptr;
    bool adapted = false;
    const io::Tensor* stored = nullptr;  // whose elements are read
  };
  std::optional<Found> find(const std::string& tensor) const;
  bool has(const std::string& tensor) const { return find(tensor).has_value(); }

  void refuse(Error error);
  bool failed() const { return error_.has_value(); }
  Result<graph::Graph> finish(std::vector<ValueId> outputs);

 private:
  Result<void> check_adapter_is_used() const;
  ValueId add_node(graph::Graph::NewNode node);
  /// The tensor for node NAME, which can be run and has this shape; else a refusal and nothing.
  std::optional<Found> require(const std::string& name, const std::string& tensor,
                               const std::vector<int64_t>& shape);

  const io::ModelFile& file_;
  const io::Adapter* adapter_;
  graph::Graph graph_;
  std::string scope_;
  std::map<std::string, ValueId, std::less<>> inputs_;
  std::map<std::tuple<std::string, bool, std::vector<int64_t>>, ValueId> weights_;  // by tensor and part
  std::map<std::string_view, const io::Tensor*> unprefixed_;
  std::optional<Error> error_;
};

}  // namespace orrery::models
