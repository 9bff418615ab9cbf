// The names that a pickle of tensors may use, and the element types that PyTorch has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/dtype.h"

namespace orrery::io {

/// An element type as its storage class, as torch.dtype and as safetensors names it.
struct TorchType {
  std::string_view storage;  // "FloatStorage"; empty: it has none
  std::string_view dtype;    // "float32"
  std::string_view name;     // "F32"
  int bytes;
  std::optional<DType> runs = {};  // none: listed, not run
};

/// What a name stands for.
struct PickleName {
  // The arguments of what may be called stand beside it.
  enum class Kind : uint8_t {
    ordered_dict,       // (), or a list of pairs
    size,               // (dims)
    rebuild_tensor,     // (storage, offset, size, stride)
    rebuild_tensor_v2,  // (storage, offset, size, stride, requires_grad, hooks [, metadata])
    rebuild_tensor_v3,  // (storage, offset, size, stride, requires_grad, hooks, dtype [, metadata])
    rebuild_parameter,  // (tensor, requires_grad, hooks [, state])
    storage_type,
    dtype
  };
  Kind kind;
  const TorchType* type = nullptr;  // storage_type (null: untyped), dtype
};

/// Nothing for a name that is not on the list: using it would run code.
std::optional<PickleName> find_pickle_name(std::string_view module, std::string_view name);

}  // namespace orrery::io
