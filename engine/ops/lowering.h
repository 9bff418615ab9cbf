// How a node becomes a step of a plan. An op's lowering describes its kernel Problem, selects a row, and
// returns a closure that finds its operands in the StepContext and runs the row.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "kernels/attention.h"
#include "kernels/device_module.h"
#include "kernels/linear.h"
#include "kernels/row_list.h"
#include "kernels/sample.h"

namespace orrery::ops {

/// The step inputs in the order of Slot::offset; names in graph::step_input.
enum class StepInput : size_t { token_ids, positions, token_types, sequence_starts, kv_lengths, output_rows };

/// Where a value's bytes are found when a step runs.
struct Slot {
  enum class Kind : uint8_t { none, arena, input, fixed, state };
  Kind kind = Kind::none;
  size_t offset = 0;            // arena: bytes; input: a StepInput; state: index into StepContext::states
  const void* fixed = nullptr;  // weights and constants
};

/// Everything that changes from step to step. Owned by the executor; pointers stay valid during the step.
struct StepContext {
  int64_t tokens = 0, sequences = 0, outputs = 0;
  const int32_t* token_ids = nullptr;                  // (tokens)
  const int32_t* positions = nullptr;                  // (tokens)
  const int32_t* token_types = nullptr;                // (tokens), 0 but in the second text of a pair
  const int32_t* sequence_starts = nullptr;            // (sequences + 1)
  const int32_t* kv_lengths = nullptr;                 // (sequences), after this step
  const int32_t* output_rows = nullptr;                // (outputs)
  const int32_t* page_table = nullptr;                 // (sequences, max_pages)
  int64_t max_pages = 0, max_length = 0;               // max_length: a bound of kv_lengths
  const kernels::Sample::Request* sampling = nullptr;  // (outputs)
  kernels::Sample::Choice* choices = nullptr;          // (outputs), written by the sample node
  std::span<const kernels::PagedKv> states;            // by state index
  std::byte* arena = nullptr;
  std::byte* workspace = nullptr;
  kernels::ThreadTeam* team = nullptr;
  void* stream = nullptr;  // of a device; the pointers above are the device's then

  Bindings bindings() const { return {{kTokens, tokens}, {kSequences, sequences}, {kOutputs, outputs}}; }
  double mean_context() const;  // of kv_lengths; 0 without them
  const kernels::PagedKv& state(const Slot& slot) const { return states[slot.offset]; }
  kernels::Ragged ragged() const {
    return {sequence_starts, kv_lengths, page_table, sequences, max_pages, max_length};
  }
  kernels::Launch launch() const { return {team, workspace, stream}; }
  /// The typed bytes of an arena, input or fixed slot; null for none.
  template <class T>
  T* data(const Slot& slot) const {
    return static_cast<T*>(const_cast<void*>(address(slot)));
  }
  const void* address(const Slot& slot) const;
};

/// What a lowering may ask of the compiler.
class LowerContext {
 public:
  virtual ~LowerContext() = default;
  virtual const graph::Graph& graph() const = 0;
  virtual Slot slot(ValueId value) const = 0;
  /// A weight's bytes in the stored form (packing null) or packed; built once and shared. The shape is (rows,
  /// cols).
  virtual Result<const void*> weight(ValueId value, const kernels::WeightPacking* packing) = 0;
  virtual const graph::ValueType& type(ValueId value) const = 0;
  /// How the plan keeps an activation of type f32: so, or in the 16-bit type that its maker can write and
  /// that all its readers would round it to.
  virtual DType kept(ValueId) const { return DType::f32; }
  /// Bounds of the plan's bucket.
  virtual int64_t min_tokens() const = 0;
  virtual int64_t max_tokens() const = 0;
  virtual int64_t max_outputs() const = 0;
  virtual DType kv_dtype() const = 0;
  /// Tokens of the longest text that the plan serves; 0: not known.
  virtual int64_t context() const = 0;
  virtual kernels::Linear::Accuracy accuracy() const = 0;
  virtual kernels::DeviceKind device() const = 0;
  /// What the rows are asked for.
  virtual const kernels::Machine& machine() const { return kernels::machine_of(device()); }
  virtual int threads() const = 0;
};

struct Lowered {
  std::string kernel;                     // the chosen row
  std::vector<kernels::Refusal> refused;  // rows asked before it
  std::vector<std::string> after;         // rows not asked, after it
  size_t workspace_bytes = 0;
  std::function<void(const StepContext&)> run;  // must not throw
  Arithmetic arithmetic = Arithmetic::f32;
};

/// What the row that a lowering would choose does with its activations: the type that it rounds its first
/// input to, and the one that it can write all its outputs in (kernels/row.h). f32: neither.
struct Rounding {
  DType reads = DType::f32, writes = DType::f32;
};

/// How the nodes of an op run: what graph::OpSchema::lowering points at. The sources have none, as the
/// compiler binds their values, nor has transfer, whose step it makes.
struct Lowering {
  std::function<Result<Lowered>(LowerContext&, const graph::Node&)> lower;
  std::function<Rounding(LowerContext&, const graph::Node&)> rounding;  // none: no row of it rounds
  /// What its kernels are chosen from. The lists live as long as the op.
  std::function<kernels::RowList(kernels::DeviceKind)> rows;
};

/// Of the node's op; refused where it has none.
Result<Lowered> lower_node(LowerContext& context, const graph::Node& node);
Rounding rounding_of(LowerContext& context, const graph::Node& node);

/// The engine's ops; one instance, which every model's graph is made with.
std::shared_ptr<graph::OpRegistry> registry();

}  // namespace orrery::ops
