// The tensor types of GGUF by number (enum ggml_type), those that are read and those that are known by name
// only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/dtype.h"

namespace orrery::io {

struct GgufTensorType {
  uint32_t id;
  std::string_view name;
  std::optional<DType> dtype;  // none: known by name, not read
};
inline constexpr std::array kGgufTensorTypes = {
    GgufTensorType{0, "F32", DType::f32},    GgufTensorType{1, "F16", DType::f16},
    GgufTensorType{2, "Q4_0", DType::q4_0},  GgufTensorType{3, "Q4_1", DType::q4_1},
    GgufTensorType{6, "Q5_0", {}},           GgufTensorType{7, "Q5_1", {}},
    GgufTensorType{8, "Q8_0", DType::q8_0},  GgufTensorType{9, "Q8_1", {}},
    GgufTensorType{10, "Q2_K", {}},          GgufTensorType{11, "Q3_K", {}},
    GgufTensorType{12, "Q4_K", DType::q4_k}, GgufTensorType{13, "Q5_K", {}},
    GgufTensorType{14, "Q6_K", DType::q6_k}, GgufTensorType{15, "Q8_K", {}},
    GgufTensorType{16, "IQ2_XXS", {}},       GgufTensorType{17, "IQ2_XS", {}},
    GgufTensorType{18, "IQ3_XXS", {}},       GgufTensorType{19, "IQ1_S", {}},
    GgufTensorType{20, "IQ4_NL", {}},        GgufTensorType{21, "IQ3_S", {}},
    GgufTensorType{22, "IQ2_S", {}},         GgufTensorType{23, "IQ4_XS", {}},
    GgufTensorType{24, "I8", DType::i8},     GgufTensorType{25, "I16", {}},
    GgufTensorType{26, "I32", DType::i32},   GgufTensorType{27, "I64", DType::i64},
    GgufTensorType{28, "F64", {}},           GgufTensorType{29, "IQ1_M", {}},
    GgufTensorType{30, "BF16", DType::bf16}, GgufTensorType{34, "TQ1_0", {}},
    GgufTensorType{35, "TQ2_0", {}},         GgufTensorType{39, "MXFP4", {}}};

}  // namespace orrery::io
