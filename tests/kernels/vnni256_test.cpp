// The rows of 256 bits with VNNI, which this machine may have only as part of AVX-512: their sources are
// built for that here, and give what the rows of AVX2 give.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/linear.h"
#include "kernels/lab/inputs.h"

namespace orrery::kernels {

namespace evex_vnni {
extern const LinearTable kLinear;
}

namespace {

constexpr int64_t kCols = 1024, kRows = 21, kTokens = 5;

std::vector<std::byte> activations(DType weight, uint32_t seed) {
  const ActivationBlock block = activation_block(weight);
  const size_t bytes = activation_layout(block, kCols, 2).bytes;
  const std::vector<float> src = lab::random_floats(kTokens * kCols, seed, 1.0F, lab::Distribution::heavy);
  std::vector<std::byte> records(kTokens * bytes);
  for (int64_t t = 0; t < kTokens; ++t)
    avx2::kLinear.quantise(block, 2, src.data() + t * kCols, kCols,
                           records.data() + static_cast<size_t>(t) * bytes);
  return records;
}

std::vector<float> sums(const LinearTable& table, DType weight, const std::vector<std::byte>& matrix,
                        const std::vector<std::byte>& records) {
  std::vector<float> dst(kTokens * kRows, NAN);
  table.quant_rows({.weight = weight,
                    .matrix = matrix.data(),
                    .row_bytes = matrix.size() / kRows,
                    .cols = kCols,
                    .activations = records.data(),
                    .halves = 2,
                    .tokens = kTokens,
                    .dst = dst.data(),
                    .dst_stride = kRows,
                    .begin = 0,
                    .end = kRows,
                    .scratch = nullptr});
  return dst;
}

/// Their lanes hold other columns, which float32 adds in another order.
bool has_other_lanes(DType weight) {
  return weight == DType::q8_0 || weight == DType::iq4_nl || weight == DType::iq4_xs;
}

TEST(Vnni256, gives_the_sums_of_avx2) {
  const CpuFeatures needed = kAvx512Vnni;
  if (!missing(needed, this_machine()).empty()) GTEST_SKIP() << missing(needed, this_machine());
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    const auto weight = static_cast<DType>(i);
    if (!is_quantised(weight)) continue;
    SCOPED_TRACE(std::string(name_of(weight)));
    const std::vector<std::byte> matrix = lab::random_weights(weight, kRows, kCols, 7);
    const std::vector<std::byte> records = activations(weight, 9);
    const std::vector<float> expected = sums(avx2::kLinear, weight, matrix, records);
    const std::vector<float> actual = sums(evex_vnni::kLinear, weight, matrix, records);
    float scale = 0;
    for (const float x : expected) scale = std::max(scale, std::abs(x));
    ASSERT_GT(scale, 0.0F);
    for (size_t k = 0; k < expected.size(); ++k) {
      if (has_other_lanes(weight))
        EXPECT_NEAR(actual[k], expected[k], 1e-6F * scale) << k;
      else
        EXPECT_EQ(actual[k], expected[k]) << k;
    }
  }
}

}  // namespace
}  // namespace orrery::kernels
