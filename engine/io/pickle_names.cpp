#include "engine/io/pickle_names.h"

#include <algorithm>
#include <array>

namespace orrery::io {
namespace {

constexpr std::array kTorchTypes = {TorchType{"FloatStorage", "float32", "F32", 4, DType::f32},
                                    TorchType{"HalfStorage", "float16", "F16", 2, DType::f16},
                                    TorchType{"BFloat16Storage", "bfloat16", "BF16", 2, DType::bf16},
                                    TorchType{"CharStorage", "int8", "I8", 1, DType::i8},
                                    TorchType{"IntStorage", "int32", "I32", 4, DType::i32},
                                    TorchType{"LongStorage", "int64", "I64", 8, DType::i64},
                                    TorchType{"DoubleStorage", "float64", "F64", 8},
                                    TorchType{"ShortStorage", "int16", "I16", 2},
                                    TorchType{"ByteStorage", "uint8", "U8", 1},
                                    TorchType{"BoolStorage", "bool", "BOOL", 1},
                                    TorchType{"ComplexFloatStorage", "complex64", "C64", 8},
                                    TorchType{"ComplexDoubleStorage", "complex128", "C128", 16},
                                    TorchType{"", "uint16", "U16", 2},
                                    TorchType{"", "uint32", "U32", 4},
                                    TorchType{"", "uint64", "U64", 8},
                                    TorchType{"", "float8_e4m3fn", "F8_E4M3", 1, DType::f8_e4m3},
                                    TorchType{"", "float8_e5m2", "F8_E5M2", 1, DType::f8_e5m2}};

struct Callable {
  std::string_view module, name;
  PickleName::Kind kind;
};
constexpr std::array kCallables = {
    Callable{"collections", "OrderedDict", PickleName::Kind::ordered_dict},
    Callable{"torch", "Size", PickleName::Kind::size},
    Callable{"torch._utils", "_rebuild_tensor", PickleName::Kind::rebuild_tensor},
    Callable{"torch._utils", "_rebuild_tensor_v2", PickleName::Kind::rebuild_tensor_v2},
    Callable{"torch._utils", "_rebuild_tensor_v3", PickleName::Kind::rebuild_tensor_v3},
    Callable{"torch._utils", "_rebuild_parameter", PickleName::Kind::rebuild_parameter},
    Callable{"torch._utils", "_rebuild_parameter_with_state", PickleName::Kind::rebuild_parameter}};

}  // namespace

std::optional<PickleName> find_pickle_name(std::string_view module, std::string_view name) {
  for (const Callable& callable : kCallables)
    if (callable.module == module && callable.name == name) return PickleName{callable.kind};
  if (module == "torch.storage" && name == "UntypedStorage")
    return PickleName{PickleName::Kind::storage_type};
  if (module != "torch" || name.empty()) return std::nullopt;
  for (const TorchType& type : kTorchTypes) {
    if (type.storage == name) return PickleName{PickleName::Kind::storage_type, &type};
    if (type.dtype == name) return PickleName{PickleName::Kind::dtype, &type};
  }
  return std::nullopt;
}

}  // namespace orrery::io
