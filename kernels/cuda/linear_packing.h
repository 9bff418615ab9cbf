// "CUDA lanes": quantised matrices as the kernels of Linear read them, in aligned 16-byte pieces.
//
// Rows stay rows, one record each, `stride` bytes (a multiple of 16), of these planes. A group is 128 columns
// (4 blocks of 32); columns behind the last are zero weights with zero scales.
//   quants  64 B a group: codes of 4 bits, or the low four of more (Q2_K, Q3_K: all two or three bits); Q8_0:
//   128 B high    Q6_K: 32 B a group, the upper two bits; Q5_0, Q5_1, Q5_K: 16 B a group, the fifth bits
//   scales  Q4_0, Q5_0, Q8_0, IQ4_NL: 4 f16 d a group; Q4_1, Q5_1: 4 pairs f16 d, m; MXFP4: 4 exponents;
//           IQ4_XS: 4 i8, Q3_K, Q6_K: 8 i8 a group; Q2_K: 8 bytes as stored (scale in the low, min in the
//           high nibble); Q4_K, Q5_K: the 16-byte head of each 256-block (d, m, 12 B of 6-bit scales and
//           mins)
//   deltas  Q3_K, Q6_K, IQ4_XS: f16 d of each 256-block; Q2_K: f16 d, m
//
// The order inside a group suits mma.m16n8k16, whose four lanes t of a row take four columns each an
// instruction i, two instructions a block j: column 32j + 16i + 4t + e belongs to lane t, and
//   nibbles: word j of the lane's 16 bytes (at 16t), pair p = 2i + e / 2, bits 4p + 16 (e % 2)
//   Q8_0:    byte 64 (j / 2) + 16t + 8 (j % 2) + 4i + e
//   high:    Q6_K: word j / 2 of the lane's 8 bytes (at 8t), bits high_bit(j % 2, p) + 16 (e % 2)
//            fifth bits: the lane's word (at 4t), bit fifth_bit(j, p) + 16 (e % 2)
// 8-bit floats are packed as f16, exactly: packed_form() says as what a problem's rows then see its weights.
// Other types are packed as they are (a fused linear may mix types).
#pragma once

#include "kernels/host_device.h"
#include "kernels/linear.h"

namespace orrery::kernels::cuda {

constexpr int64_t kGroup = 128;  // columns

/// Whether rows of the type are put in lanes.
constexpr bool is_packed(DType dtype) { return is_quantised(dtype); }
template <DType dtype>
inline constexpr bool kPacked = is_packed(dtype);

/// Byte offsets inside a row's record.
struct PackedRow {
  int64_t groups = 0;
  int64_t high = 0, scales = 0, deltas = 0;
  int64_t stride = 0;
};

ORRERY_HOST_DEVICE constexpr PackedRow packed_row(DType dtype, int64_t cols) {
  PackedRow row;
  row.groups = (cols + kGroup - 1) / kGroup;
  const DTypeLanes lanes = lanes_of(dtype);
  row.high = row.groups * lanes.quants;
  row.scales = row.high + row.groups * lanes.high;
  row.deltas = row.scales + row.groups * lanes.scales;
  const int64_t end = row.deltas + row.groups / 2 * lanes.deltas;
  row.stride = (end + 15) / 16 * 16;
  return row;
}

/// Where the upper bits of Q6_K's pair p of block j lie: one shift brings an even pair to bits 4-5 and an odd
/// one to bits 8-9 (block 0: left by 4 for p < 2, left by 2; block 1: right by 4, right by 6).
ORRERY_HOST_DEVICE constexpr int high_bit(int j, int p) {
  const int even[2][2] = {{0, 2}, {8, 10}};
  return even[j][p / 2] + 4 * (p % 2);
}

/// Where the fifth bit of pair p of block j lies: one shift (fifth_shift) brings an even pair to bit 4 and an
/// odd one to bit 8.
ORRERY_HOST_DEVICE constexpr int fifth_bit(int j, int p) {
  const int place = 2 * j + p / 2;
  return (place < 4 ? place : place + 4) + 4 * (p % 2);
}
/// To the left; negative: to the right.
ORRERY_HOST_DEVICE constexpr int fifth_shift(int j, int p) { return 4 - fifth_bit(j, p / 2 * 2); }

/// The problem with its weights as the rows see them when packed: 8-bit floats are f16.
Linear::Problem packed_form(Linear::Problem problem);

/// The packing for a problem's weights; null when all are read as stored.
const WeightPacking* linear_packing(const Linear::Problem& problem);

/// Bytes from one row of a segment's matrix to the next, packed; the problem may be in packed_form().
int64_t weight_stride(const Linear::Problem& problem, int segment);

}  // namespace orrery::kernels::cuda
