// The tensor types of GGUF by number (enum ggml_type): how they are stored, and which of them are run. The
// numbers and block sizes are those of ggml (ggml.h, ggml-common.h, gguf-py constants); numbers that are
// missing were given to formats that ggml removed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/dtype.h"

namespace orrery::io {

struct GgufTensorType {
  uint32_t id;
  std::string_view name;
  int block_elements, block_bytes;
  std::optional<DType> dtype = {};  // none: listed, not run
};
inline constexpr std::array kGgufTensorTypes = {GgufTensorType{0, "F32", 1, 4, DType::f32},
                                                GgufTensorType{1, "F16", 1, 2, DType::f16},
                                                GgufTensorType{2, "Q4_0", 32, 18, DType::q4_0},
                                                GgufTensorType{3, "Q4_1", 32, 20, DType::q4_1},
                                                GgufTensorType{6, "Q5_0", 32, 22, DType::q5_0},
                                                GgufTensorType{7, "Q5_1", 32, 24, DType::q5_1},
                                                GgufTensorType{8, "Q8_0", 32, 34, DType::q8_0},
                                                GgufTensorType{9, "Q8_1", 32, 36},
                                                GgufTensorType{10, "Q2_K", 256, 84, DType::q2_k},
                                                GgufTensorType{11, "Q3_K", 256, 110, DType::q3_k},
                                                GgufTensorType{12, "Q4_K", 256, 144, DType::q4_k},
                                                GgufTensorType{13, "Q5_K", 256, 176, DType::q5_k},
                                                GgufTensorType{14, "Q6_K", 256, 210, DType::q6_k},
                                                GgufTensorType{15, "Q8_K", 256, 292},
                                                GgufTensorType{16, "IQ2_XXS", 256, 66},
                                                GgufTensorType{17, "IQ2_XS", 256, 74},
                                                GgufTensorType{18, "IQ3_XXS", 256, 98},
                                                GgufTensorType{19, "IQ1_S", 256, 50},
                                                GgufTensorType{20, "IQ4_NL", 32, 18, DType::iq4_nl},
                                                GgufTensorType{21, "IQ3_S", 256, 110},
                                                GgufTensorType{22, "IQ2_S", 256, 82},
                                                GgufTensorType{23, "IQ4_XS", 256, 136, DType::iq4_xs},
                                                GgufTensorType{24, "I8", 1, 1, DType::i8},
                                                GgufTensorType{25, "I16", 1, 2},
                                                GgufTensorType{26, "I32", 1, 4, DType::i32},
                                                GgufTensorType{27, "I64", 1, 8, DType::i64},
                                                GgufTensorType{28, "F64", 1, 8},
                                                GgufTensorType{29, "IQ1_M", 256, 56},
                                                GgufTensorType{30, "BF16", 1, 2, DType::bf16},
                                                GgufTensorType{34, "TQ1_0", 256, 54},
                                                GgufTensorType{35, "TQ2_0", 256, 66},
                                                GgufTensorType{39, "MXFP4", 32, 17, DType::mxfp4},
                                                GgufTensorType{40, "NVFP4", 64, 36},
                                                GgufTensorType{41, "Q1_0", 128, 18}};

static_assert(std::all_of(kGgufTensorTypes.begin(), kGgufTensorTypes.end(), [](const GgufTensorType& type) {
  return !type.dtype || (dtype_info(*type.dtype).block_elements == type.block_elements &&
                         dtype_info(*type.dtype).block_bytes == type.block_bytes);
}));

/// Null for a number that no type has.
constexpr const GgufTensorType* find_gguf_type(uint32_t id) {
  for (const GgufTensorType& type : kGgufTensorTypes)
    if (type.id == id) return &type;
  return nullptr;
}

}  // namespace orrery::io
