// What an op declares in text: its inputs, outputs and attributes (resources/sdk/orrery_op.h has the form),
// and the types and sizes of its outputs that follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/op_schema.h"
#include "resources/sdk/orrery_op.h"

namespace orrery::custom {

/// One size: a number, or a name that stands for one.
struct Size {
  int64_t number = 0;
  std::string name;  // empty: the number
};

struct Sizes {
  bool given = false;    // false: any shape
  bool leading = false;  // ... before the dims
  std::vector<Size> dims;
};

struct InputPort {
  std::string name;
  bool optional = false;
  std::vector<DType> types;  // empty: any
  Sizes sizes;
};

struct OutputPort {
  std::string name;
  std::optional<DType> type;
  std::string like;  // the input whose type it has, where there is no type
  Sizes sizes;
};

struct Signature {
  std::vector<InputPort> inputs;
  std::vector<OutputPort> outputs;
  std::vector<graph::AttributeSpec> attributes;
};

/// Refused with what is wrong and where it stands.
Result<Signature> parse_signature(std::string_view inputs, std::string_view outputs,
                                  std::string_view attributes);

/// Gives the outputs the types and sizes that are declared. Refused: inputs that do not fit; the error's
/// `where` is the name of the input.
Result<void> declare_outputs(const Signature& signature, orrery_call& call);

DType dtype_of(int32_t dtype);  // of a number that is one of the header's
bool is_dtype(int32_t dtype);
int32_t number_of(DType dtype);  // -1: the header has none for it
/// "f32[3, 4]"
std::string to_string(const orrery_tensor& tensor);
/// Elements of a tensor; 0 for one that was left out.
int64_t elements_of(const orrery_tensor& tensor);
size_t bytes_of(const orrery_tensor& tensor);

}  // namespace orrery::custom
