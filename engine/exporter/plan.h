// What an export would write, before a byte is written.
#pragma once

#include "engine/exporter/candidate.h"

namespace orrery::exporter {

/// Where folded values lie between those of a tensor's type.
enum class FoldedAs : uint8_t {
  exact,  // the tensor becomes f32, unless its own type holds them exactly
  stored  // they are rounded to the tensor's own type
};

/// The weight that lies in a tensor, or in a part of it, and what is done to it.
struct Part {
  weights::WeightView place = "";   // of the tensor: its rows, transposed
  weights::WeightView source = "";  // in the type that the graph asks for
  DType dtype = DType::f32;         // of the source
  std::vector<Step> steps = {};
  bool made = false;     // zeros, to which the steps add
  bool adapted = false;  // by the adapter that the model was opened with
};

struct PlannedTensor {
  io::Tensor header;        // name, type and shape as they will be written
  std::vector<Part> parts;  // none: the original's bytes as they are
  const io::Tensor* original = nullptr;
  bool as_it_is = false;  // the bytes are those of the original
  std::string how = {};   // "as it is", "Q8_0 of Q4_1", "with what was folded in, f32"
};

struct Plan {
  std::vector<Difference> differences = {};  // what the format cannot express: none, or nothing is written
  std::vector<std::string> dropped = {};
  Candidate candidate = {};
  std::vector<PlannedTensor> tensors = {};  // in the order of the file
  graph::Graph folded;                      // what the written file must give
  uint64_t bytes = 0;                       // of the tensors
};

struct Edited {
  const graph::Graph &graph, &opened;
  const io::Adapter* adapter;  // that the model was opened with; null: none
};
Result<Plan> plan(const Edited& edited, weights::WeightStore& weights, FoldedAs folded_as,
                  kernels::ThreadTeam& team);

}  // namespace orrery::exporter
