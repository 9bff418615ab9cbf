// Embedding: dst[t, :] = scale * table[ids[t], :] as float32; without ids the first rows in order. Ids
// outside the table give zeros (the api checks them first).
//   ids (tokens) i32      table (vocabulary, cols) any stored dtype      dst (tokens, cols) f32
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Embedding {
  static constexpr std::string_view kName = "embedding";
  struct Problem {
    DType table = DType::f32;
    int64_t cols = 0;
  };
  struct Args {
    const int32_t* ids = nullptr;
    const void* table = nullptr;
    float* dst = nullptr;
    int64_t tokens = 0, vocabulary = 0, cols = 0;
    DType dtype = DType::f32;
    float scale = 1.0F;
  };
};
std::span<const Row<Embedding>> embedding_rows();
namespace cuda {
std::span<const Row<Embedding>> embedding_rows();
}
namespace ref {
void embedding(const Embedding::Args& args, const Launch& launch);
std::string legal(const Embedding::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
