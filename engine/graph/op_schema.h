// An op: what it is called, what it takes, how shapes follow, what it costs and, opaque here, how it runs.
// Ops live in a registry (op_registry.h); each node of a graph holds its op, so that an op lives as long as
// anything that was made of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/shape.h"
#include "kernels/dtype.h"

namespace orrery::ops {
struct Lowering;  // engine/ops/lowering.h
class Gradients;  // engine/ops/gradients.h
}  // namespace orrery::ops

namespace orrery::graph {

using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;
/// For a person; many numbers are the first of them, their count and a hash.
std::string to_string(const Attribute& attribute);

/// The families that the view colours.
enum class OpFamily : uint8_t {
  attention,
  linear,
  norm,
  activation,
  elementwise,
  embedding,
  sampling,
  data_movement,
  source,
  custom
};

std::string_view name_of(OpFamily family);  // "data_movement"

enum class ValueKind : uint8_t { activation, weight, state, input, constant };

struct ValueType {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

std::string to_string(const ValueType& type);  // "f32[tokens, 576]"
/// Bytes of a value with the symbols bound; 0 where a symbol is free.
double bytes_of(const ValueType& type, const Bindings& bindings);

/// Numbers by which a kernel finds rows of the node's first input. They are never checked while it runs, so a
/// step that is given them checks them before.
enum class Finds : uint8_t {
  nothing,
  rows,       // each the number of a row
  starts,     // of runs of rows: from 0, rising, to the number of rows
  sequences,  // the same, of the step's own sequences
};

/// The name of inputs that take a state, and of outputs that are one.
inline constexpr std::string_view kStateName = "state";

struct InputSpec {
  std::string name;  // "src", "weight", "bias", "residual", "query"
  bool optional = false;
  bool variadic = false;  // last input only: zero or more of it
  Finds finds = Finds::nothing;
  bool stored = false;  // only a weight is read there, in the form that its file has
};

/// In the order of Attribute's alternatives; any: what the fallback has, or unchecked when there is none.
enum class AttributeType : uint8_t { flag, integer, real, text, list, numbers, any };
std::string_view name_of(AttributeType type);  // "a whole number"

struct AttributeSpec {
  std::string name;
  std::string doc;
  std::optional<Attribute> fallback;        // required when absent; its type is the attribute's type
  AttributeType type = AttributeType::any;  // for attributes without a fallback
};

/// What one run of a node costs with the symbols bound.
struct Cost {
  double flops = 0;
  double bytes = 0;        // read and written, weights included, each once
  double activations = 0;  // of these: values of the step, which were written just before; by Graph::cost
};

/// What inference, cost and lowering of one node see. Absent optional inputs are null.
struct NodeView {
  const Attributes* attributes;
  std::vector<const ValueType*> inputs;
  std::vector<const ValueType*> outputs;  // empty during inference
  std::vector<bool> is_read = {};         // of each output: another node or the caller reads it
};

struct OpSchema {
  std::string name;  // "rms_norm"
  OpFamily family = OpFamily::custom;
  std::string doc;  // one or two sentences for the palette and the inspector
  std::vector<InputSpec> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<AttributeSpec> attributes = {};
  /// Types of the outputs, or why the inputs do not fit (code shape_mismatch; names both shapes).
  /// Error::where may be the name of the input at fault: the graph puts the node and the value in its place.
  std::function<Result<std::vector<ValueType>>(const NodeView&)> infer;
  std::function<Cost(const NodeView&, const Bindings&)> cost = {};  // none: it costs nothing
  /// Its output is its first input's bytes under another shape: it lies where that lies, if that is an
  /// activation.
  bool view = false;
  /// Its output is its input, type and all: feed hashes look through it.
  bool identity = false;
  /// What the gradients of its inputs are, given those of its outputs: nodes that it adds to the graph of a
  /// node. None: not known, so that passes::differentiate() refuses what lies behind such a node.
  std::function<void(ops::Gradients&)> gradient = {};
  /// No gradient flows through it, which is no lack: what it gives does not move where its inputs move a
  /// little (comparisons, roundings, places of elements).
  bool stops_gradient = false;
  /// How its nodes run. None: the compiler has a way of its own for them, or they are only drawn and checked.
  std::shared_ptr<const ops::Lowering> lowering = {};
  /// How many ops of this name the registry had before it, so that what one of them computed is not taken for
  /// what another would. The registry sets it.
  uint32_t revision = 0;
};
using OpPtr = std::shared_ptr<const OpSchema>;

/// The spec of an input; the last one again for what a variadic input takes. Null when there are too many.
const InputSpec* input_spec(const OpSchema& op, size_t input);
bool is_variadic(const OpSchema& op, size_t input);

/// Where a node is asked to run: "cpu" or "cuda:N". Every op but the sources may carry it; absent, the node
/// runs on the model's own device.
inline constexpr std::string_view kDeviceAttribute = "device";
/// The device that every machine has.
inline constexpr std::string_view kCpu = "cpu";
/// Whether the text is "cpu" or "cuda:N".
bool is_device_name(std::string_view text);

/// How much a node may round what it multiplies, by the name of a kernels::Precision. Every op but the
/// sources may carry it; absent, the model's own default holds.
inline constexpr std::string_view kPrecisionAttribute = "precision";

/// The 16-bit float type that what a node makes is stored in, by its name; absent, it has the type that its
/// op gives. Every op but the sources may carry it; inference gives it to all outputs, which are f32 without
/// it.
inline constexpr std::string_view kStoredAttribute = "stored";

/// What is drawn around nodes and written on them: the title of the frame that a node stands in, and a note.
/// Every op but the sources may carry them; nothing that runs looks at them.
inline constexpr std::string_view kFrameAttribute = "frame", kNoteAttribute = "note";
inline constexpr size_t kLongestTitle = 200, kLongestNote = 4000;  // bytes
bool is_drawing_attribute(std::string_view name);

/// Whether every op but the sources may carry an attribute of this name, which no schema has.
bool is_common_attribute(std::string_view name);

/// The attributes with absent ones filled in by their fallbacks and whole numbers made real where the schema
/// says so, or which one is unknown, missing or of another type.
Result<Attributes> complete_attributes(const OpSchema& schema, Attributes attributes);

}  // namespace orrery::graph
