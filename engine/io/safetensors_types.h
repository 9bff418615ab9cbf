// The element types of safetensors, by the names that its header has for them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "kernels/dtype.h"

namespace orrery::io {

struct SafetensorsType {
  std::string_view name;
  int bytes;
  std::optional<DType> dtype = {};  // none: listed, not run
};
inline constexpr std::array kSafetensorsTypes = {SafetensorsType{"F32", 4, DType::f32},
                                                 SafetensorsType{"F16", 2, DType::f16},
                                                 SafetensorsType{"BF16", 2, DType::bf16},
                                                 SafetensorsType{"F8_E4M3", 1, DType::f8_e4m3},
                                                 SafetensorsType{"F8_E5M2", 1, DType::f8_e5m2},
                                                 SafetensorsType{"I8", 1, DType::i8},
                                                 SafetensorsType{"I32", 4, DType::i32},
                                                 SafetensorsType{"I64", 8, DType::i64},
                                                 SafetensorsType{"F64", 8},
                                                 SafetensorsType{"C64", 8},
                                                 SafetensorsType{"F8_E8M0", 1},
                                                 SafetensorsType{"I16", 2},
                                                 SafetensorsType{"U8", 1},
                                                 SafetensorsType{"U16", 2},
                                                 SafetensorsType{"U32", 4},
                                                 SafetensorsType{"U64", 8},
                                                 SafetensorsType{"BOOL", 1}};

}  // namespace orrery::io
