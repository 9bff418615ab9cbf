// How a node becomes a step of a plan. An op's lowering describes its kernel Problem, selects a row, and
// returns a closure that finds its operands in the StepContext and runs the row.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "kernels/attention.h"
#include "kernels/device_module.h"
#include "kernels/fastmax_scan.h"
#include "kernels/linear.h"
#include "kernels/precision.h"
#include "kernels/row_list.h"
#include "kernels/sample.h"

namespace orrery::ops {

/// Where a value's bytes are found when a step runs.
struct Slot {
  enum class Kind : uint8_t { none, arena, input, given, fixed, state };
  Kind kind = Kind::none;
  size_t offset = 0;  // arena: bytes; input: index into step_inputs(); given: into StepContext::given; state:
                      // into StepContext::states
  const void* fixed = nullptr;  // weights and constants

  friend bool operator==(const Slot&, const Slot&) = default;
};

/// What a step is given for an input that is none of the step's own.
struct GivenBytes {
  const void* data = nullptr;
  size_t bytes = 0;
};
/// Where it is given, it lies at multiples of so many bytes.
inline constexpr size_t kGivenAlignment = 64;
/// An input node that is given bytes by its name: its type is its own (ops/README.md).
bool is_given(const graph::Node& node);

/// Everything that changes from step to step. Owned by the executor; pointers stay valid during the step.
struct StepContext {
  int64_t tokens = 0, sequences = 0, outputs = 0;
#define ORRERY_STEP_INPUT(name, dtype, ...) const Element<DType::dtype>* name = nullptr;
#include "engine/graph/step_inputs.inc"
#undef ORRERY_STEP_INPUT
  const int32_t* page_table = nullptr;                 // (sequences, max_pages)
  int64_t max_pages = 0, max_length = 0;               // max_length: a bound of kv_lengths
  const kernels::Sample::Request* sampling = nullptr;  // (outputs)
  kernels::Sample::Choice* choices = nullptr;          // (outputs), written by the sample node
  const kernels::RecordUse* records = nullptr;         // (sequences), of the states that keep a summary
  std::span<const kernels::PagedKv> states;            // by state index; of a summary only base and stride
  std::vector<GivenBytes> given;                       // by the plan's number of the input
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
  /// The typed bytes of an arena, input, given or fixed slot; null for none.
  template <class T>
  T* data(const Slot& slot) const {
    return static_cast<T*>(const_cast<void*>(address(slot)));
  }
  const void* address(const Slot& slot) const;
};

/// A dim as plain numbers, so that a closure can carry it.
struct RowCount {
  int64_t constant = 0, tokens = 0, sequences = 0, outputs = 0;
  int64_t at(const StepContext& context) const {
    return constant + tokens * context.tokens + sequences * context.sequences + outputs * context.outputs;
  }
  friend bool operator==(const RowCount&, const RowCount&) = default;
};
/// Nothing for a symbol that a step does not bind.
std::optional<RowCount> row_count_of(const Dim& dim);

/// A step input: engine/graph/step_inputs.inc has them.
struct StepInput {
  std::string_view name;
  graph::ValueType type;
  std::vector<RowCount> extents;  // of the type's shape
  const void* (*read)(const StepContext&) = nullptr;
  void (*point)(StepContext&, const void*) = nullptr;

  size_t bytes(const StepContext& step) const;
};
/// In the order of Slot::offset.
std::span<const StepInput> step_inputs();
/// None for another name.
std::optional<size_t> find_step_input(std::string_view name);

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
  /// Bounds of the plan's bucket.
  virtual int64_t min_tokens() const = 0;
  virtual int64_t max_tokens() const = 0;
  virtual int64_t max_outputs() const = 0;
  virtual DType kv_dtype() const = 0;
  /// Tokens of the longest text that the plan serves; 0: not known.
  virtual int64_t context() const = 0;
  /// The model's own, of nodes that do not ask for another.
  virtual kernels::Precision default_precision() const = 0;
  kernels::Precision precision(const graph::Node& node) const;
  virtual kernels::DeviceKind device() const = 0;
  /// What the rows are asked for.
  virtual const kernels::Machine& machine() const { return kernels::machine_of(device()); }
  virtual int threads() const = 0;
};

/// What a node that multiplies rounds, and why that is finer than what it asked for.
struct Computed {
  kernels::Precision asked = kernels::Precision::balanced;
  kernels::Rounded rounds = kernels::Rounded::no;
  std::string reason;  // empty where it computes as it asked
};

/// A size that a step must have at least, where its symbols decide it: kernels take it for granted, so it is
/// looked at before the step runs.
struct LeastSize {
  RowCount size;
  int64_t least = 0;
  std::string what, where;  // "axis 1 of %3", the node
};

struct Lowered {
  std::string kernel;                     // the chosen row
  std::vector<kernels::Refusal> refused;  // rows asked before it
  std::vector<std::string> after;         // rows not asked, after it
  size_t workspace_bytes = 0;
  /// Must not throw. Any thread may call it, several at once: a step runs while another captures it.
  std::function<void(const StepContext&)> run;
  Arithmetic arithmetic = Arithmetic::f32;
  std::optional<Computed> computed = {};  // none: its kernels multiply nothing that could be rounded
  std::optional<LeastSize> least = {};    // none: any step will do
};

/// What the row that a lowering would choose does with its activations: the type that it rounds its first
/// inputs to and so takes as well, all of them or none, and the one that it can write all its outputs in
/// (kernels/row.h). f32: neither.
struct Rounding {
  DType reads = DType::f32, writes = DType::f32;
  int inputs = 1;
};

/// How the nodes of an op run: what graph::OpSchema::lowering points at. The sources have none, as the
/// compiler binds their values, nor has transfer, whose step it makes.
struct Lowering {
  std::function<Result<Lowered>(LowerContext&, const graph::Node&)> lower;
  std::function<Rounding(LowerContext&, const graph::Node&)> rounding;  // none: no row of it rounds
  /// What its kernels are chosen from. The lists live as long as the op.
  std::function<kernels::RowTable(kernels::DeviceKind)> rows;
};

/// Of the node's op; refused where it has none, and where its row cannot write what the node stores.
Result<Lowered> lower_node(LowerContext& context, const graph::Node& node);
Rounding rounding_of(LowerContext& context, const graph::Node& node);

/// The engine's ops; one instance, which every model's graph is made with.
std::shared_ptr<graph::OpRegistry> registry();

}  // namespace orrery::ops
