// The packed form of quantised matrices for the CUDA rows of Linear, without a card: what its layout says
// lies where (kernels/cuda/linear_packing.h) is what the stored form holds.
#include "kernels/cuda/linear_packing.h"

#include "kernels/quant_values.h"
#include "linear_testing.h"

namespace orrery::kernels::cuda {
namespace {

using testing::Guard;
using testing::GuardedBytes;

uint32_t word_at(const uint8_t* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

float half_at(const uint8_t* at) {
  uint16_t half;
  std::memcpy(&half, at, sizeof half);
  return float_from_f16(half);
}

/// A column's place as a lane of the kernels finds it.
struct Place {
  int64_t group;
  int t, j, i, e, pair;
  explicit Place(int64_t k)
      : group(k / 128),
        t(static_cast<int>(k % 16 / 4)),
        j(static_cast<int>(k % 128 / 32)),
        i(static_cast<int>(k % 32 / 16)),
        e(static_cast<int>(k % 4)),
        pair(2 * i + e / 2) {}
};

int nibble_at(const uint8_t* row, const Place& p) {
  const uint32_t word = word_at(row + p.group * 64 + 16 * p.t + 4 * p.j);
  return static_cast<int>(word >> (4 * p.pair + 16 * (p.e % 2))) & 15;
}

int high_at(const uint8_t* row, const PackedRow& at, const Place& p) {
  const uint32_t word = word_at(row + at.high + p.group * 32 + 8 * p.t + 4 * (p.j / 2));
  return static_cast<int>(word >> (high_bit(p.j % 2, p.pair) + 16 * (p.e % 2))) & 3;
}

int fifth_at(const uint8_t* row, const PackedRow& at, const Place& p) {
  const uint32_t word = word_at(row + at.high + p.group * 16 + 4 * p.t);
  return static_cast<int>(word >> (fifth_bit(p.j, p.pair) + 16 * (p.e % 2)) & 1U) << 4;
}

/// d s q - m n with the 16-byte head of Q4_K and Q5_K.
float with_mins(const uint8_t* head, const Place& p, int q) {
  const uint8_t* packed = head + 4;
  const int b = static_cast<int>(p.group % 2) * 4 + p.j;
  const int scale = b < 4 ? packed[b] & 63 : (packed[b + 4] & 15) | ((packed[b - 4] >> 6) << 4);
  const int min = b < 4 ? packed[b + 4] & 63 : (packed[b + 4] >> 4) | ((packed[b] >> 6) << 4);
  const float d = half_at(head) * static_cast<float>(scale), m = half_at(head + 2) * static_cast<float>(min);
  return d * static_cast<float>(q) - m;
}

float packed_at(DType dtype, const uint8_t* row, const PackedRow& at, int64_t k) {
  const Place p(k);
  const DTypeLanes planes = lanes_of(dtype);
  const uint8_t* scales = row + at.scales + p.group * planes.scales;
  const uint8_t* deltas = row + at.deltas + p.group / 2 * planes.deltas;
  const uint8_t byte = scales[planes.scales == 4 ? p.j : 2 * p.j + p.i];  // of the types with byte scales
  const auto of_byte = [&](int q) {
    return half_at(deltas) * static_cast<float>(static_cast<int8_t>(byte)) * static_cast<float>(q);
  };
  const auto of_half = [&](int q) { return half_at(scales + 2 * p.j) * static_cast<float>(q); };
  const auto of_pair = [&](int q) {
    return half_at(scales + 4 * p.j) * static_cast<float>(q) + half_at(scales + 4 * p.j + 2);
  };
  switch (dtype) {
    case DType::q4_0:
      return of_half(nibble_at(row, p) - 8);
    case DType::q5_0:
      return of_half((nibble_at(row, p) | fifth_at(row, at, p)) - 16);
    case DType::iq4_nl:
      return of_half(iq4_value(nibble_at(row, p)));
    case DType::q4_1:
      return of_pair(nibble_at(row, p));
    case DType::q5_1:
      return of_pair(nibble_at(row, p) | fifth_at(row, at, p));
    case DType::mxfp4:
      return float_from_bits(mxfp4_scale_bits(byte)) * static_cast<float>(mxfp4_value(nibble_at(row, p)));
    case DType::q8_0: {
      const uint8_t* quants = row + p.group * 128 + 64 * (p.j / 2) + 16 * p.t + 8 * (p.j % 2) + 4 * p.i;
      return of_half(static_cast<int8_t>(quants[p.e]));
    }
    case DType::q4_k:
      return with_mins(row + at.scales + p.group / 2 * 16, p, nibble_at(row, p));
    case DType::q5_k:
      return with_mins(row + at.scales + p.group / 2 * 16, p, nibble_at(row, p) | fifth_at(row, at, p));
    case DType::q2_k:
      return half_at(deltas) * static_cast<float>(byte & 15) * static_cast<float>(nibble_at(row, p)) -
             half_at(deltas + 2) * static_cast<float>(byte >> 4);
    case DType::q3_k:
      return of_byte(nibble_at(row, p) - 4);
    case DType::iq4_xs:
      return of_byte(iq4_value(nibble_at(row, p)));
    default:
      return of_byte((nibble_at(row, p) | (high_at(row, at, p) << 4)) - 32);
  }
}

const WeightPacking& packing_of(DType dtype) {
  Linear::Problem problem;
  problem.cols = 256;
  problem.segments[0] = {1, dtype, false};
  const WeightPacking* packing = linear_packing(problem);
  EXPECT_NE(packing, nullptr);
  return *packing;
}

class CudaPacking : public ::testing::TestWithParam<DType> {
 protected:
  static std::vector<int64_t> columns() {
    if (dtype_info(GetParam()).block_elements == 256) return {256, 768, 2048};
    return {32, 64, 96, 128, 160, 576, 1024};
  }
};

TEST_P(CudaPacking, HoldsWhatIsStored) {
  const WeightPacking& packing = packing_of(GetParam());
  for (const int64_t cols : columns()) {
    for (const int64_t rows : {1, 2, 7}) {
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
        const auto stored = lab::random_weights(GetParam(), rows, cols, 5);
        GuardedBytes packed(packing.bytes(GetParam(), rows, cols), Guard::after, 64);
        ThreadTeam team(threads);
        packing.pack(stored.data(), GetParam(), rows, cols, packed.data(), team);
        const PackedRow at = packed_row(GetParam(), cols);
        ASSERT_EQ(static_cast<size_t>(at.stride * rows), packing.bytes(GetParam(), rows, cols));
        ASSERT_EQ(at.stride % 16, 0);
        std::vector<float> expected(static_cast<size_t>(cols));
        for (int64_t r = 0; r < rows; ++r) {
          const size_t bytes = row_bytes(GetParam(), cols).value();
          dequantise_row(GetParam(), stored.data() + static_cast<size_t>(r) * bytes, cols, expected.data());
          const auto* row = reinterpret_cast<const uint8_t*>(packed.data()) + r * at.stride;
          for (int64_t k = 0; k < cols; ++k)
            ASSERT_EQ(packed_at(GetParam(), row, at, k), expected[static_cast<size_t>(k)]) << r << ", " << k;
        }
      }
    }
  }
}

/// Kernels read whole groups: what is behind the last column must not count.
class CudaPackingOfShortRows : public ::testing::TestWithParam<DType> {};

TEST_P(CudaPackingOfShortRows, BehindTheLastColumnScalesAreZero) {
  const WeightPacking& packing = packing_of(GetParam());
  const auto stored = lab::random_weights(GetParam(), 3, 160, 6);
  std::vector<std::byte> packed(packing.bytes(GetParam(), 3, 160), std::byte{0xFF});
  ThreadTeam team(2);
  packing.pack(stored.data(), GetParam(), 3, 160, packed.data(), team);
  const PackedRow at = packed_row(GetParam(), 160);
  for (int64_t r = 0; r < 3; ++r) {
    const auto* row = reinterpret_cast<const uint8_t*>(packed.data()) + r * at.stride;
    for (int64_t k = 160; k < 256; ++k) ASSERT_EQ(packed_at(GetParam(), row, at, k), 0.0F) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaPacking,
                         ::testing::Values(DType::q4_0, DType::q4_1, DType::q8_0, DType::q4_k, DType::q6_k,
                                           DType::q5_0, DType::q5_1, DType::q2_k, DType::q3_k, DType::q5_k,
                                           DType::iq4_nl, DType::iq4_xs, DType::mxfp4),
                         [](const auto& info) { return std::string(name_of(info.param)); });

INSTANTIATE_TEST_SUITE_P(Kernels, CudaPackingOfShortRows,
                         ::testing::Values(DType::q4_0, DType::q4_1, DType::q8_0, DType::q5_0, DType::q5_1,
                                           DType::iq4_nl, DType::mxfp4),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(CudaPackingTypes, DenseTypesStayAsTheyAre) {
  Linear::Problem problem;
  problem.cols = 96;
  problem.segments[0] = {4, DType::f16, false};
  EXPECT_EQ(linear_packing(problem), nullptr);
  problem.segment_count = 2;
  problem.segments[1] = {4, DType::q4_0, false};
  const WeightPacking* packing = linear_packing(problem);
  ASSERT_NE(packing, nullptr);
  const auto stored = lab::random_weights(DType::f16, 4, 96, 7);
  std::vector<std::byte> packed(packing->bytes(DType::f16, 4, 96));
  ThreadTeam team(3);
  packing->pack(stored.data(), DType::f16, 4, 96, packed.data(), team);
  EXPECT_EQ(packed, stored);
}

// Every 8-bit float is a float16.
TEST(CudaPackingTypes, EightBitFloatsBecomeF16) {
  for (const DType dtype : {DType::f8_e4m3, DType::f8_e5m2}) {
    Linear::Problem problem;
    problem.cols = 64;
    problem.segments[0] = {4, dtype, false};
    const WeightPacking* packing = linear_packing(problem);
    ASSERT_NE(packing, nullptr);
    EXPECT_EQ(packed_form(problem).segments[0].weight, DType::f16);
    EXPECT_EQ(weight_stride(problem, 0), 128);
    std::vector<uint8_t> stored(256);  // every code
    for (size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<uint8_t>(i);
    std::vector<uint8_t> packed(packing->bytes(dtype, 4, 64));
    ASSERT_EQ(packed.size(), 512);
    ThreadTeam team(3);
    packing->pack(stored.data(), dtype, 4, 64, packed.data(), team);
    std::vector<float> expected(256);
    dequantise_row(dtype, stored.data(), 256, expected.data());
    for (size_t i = 0; i < stored.size(); ++i) {
      const float value = half_at(packed.data() + 2 * i);
      if (std::isnan(expected[i]))
        EXPECT_TRUE(std::isnan(value)) << i;
      else
        EXPECT_EQ(value, expected[i]) << i;
    }
  }
}

}  // namespace
}  // namespace orrery::kernels::cuda
