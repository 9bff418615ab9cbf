// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) on the first rope_dims of each head:
//   angle(t, i) = positions[t] * frequency_scale * base^(-2i / rope_dims) / frequency_factors[i]
//   interleaved: pairs (2i, 2i+1) (GGUF llama order);  half: pairs (i, i + rope_dims/2) (Hugging Face order)
//   src, dst (tokens, heads * head_dim) f32 with row strides; dst may be src
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Rope {
  enum class Style : uint8_t { interleaved, half };
  struct Problem {
    Style style = Style::interleaved;
    int64_t head_dim = 0, rope_dims = 0;
  };
  struct Args {
    Style style = Style::interleaved;
    const float* src = nullptr;
    float* dst = nullptr;
    int64_t src_stride = 0, dst_stride = 0;
    const int32_t* positions = nullptr;  // (tokens)
    int64_t tokens = 0, heads = 0, head_dim = 0, rope_dims = 0;
    float base = 10000.0F, frequency_scale = 1.0F;
    const float* frequency_factors = nullptr;  // (rope_dims / 2) or null
  };
};
std::span<const Row<Rope>> rope_rows();

}  // namespace orrery::kernels
