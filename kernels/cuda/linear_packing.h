// "CUDA lanes": quantised matrices as the kernels of Linear read them, in aligned 16-byte pieces.
//
// Rows stay rows, one record each, `stride` bytes (a multiple of 16), of these planes. A group is 128 columns
// (4 blocks of 32); columns behind the last are zero weights with zero scales.
//   quants  a group of Q4_0, Q4_1, Q4_K, Q6_K (low four bits): 64 B; of Q8_0: 128 B
//   high    Q6_K: 32 B a group, the upper two bits
//   scales  Q4_0, Q8_0: 4 f16 d a group; Q4_1: 4 pairs f16 d, m; Q6_K: 8 i8 a group; Q4_K: the 16-byte head
//           of each 256-block (d, m, 12 B of 6-bit scales and mins) as stored
//   deltas  Q6_K: f16 d of each 256-block
//
// The order inside a group suits mma.m16n8k16, whose four lanes t of a row take four columns each an
// instruction i, two instructions a block j: column 32j + 16i + 4t + e belongs to lane t, and
//   nibbles: word j of the lane's 16 bytes (at 16t), pair p = 2i + e / 2, bits 4p + 16 (e % 2)
//   Q8_0:    byte 64 (j / 2) + 16t + 8 (j % 2) + 4i + e
//   high:    word j / 2 of the lane's 8 bytes (at 8t), bits high_bit(j % 2, p) + 16 (e % 2)
// Other types are packed as they are (a fused linear may mix types).
#pragma once

#include "kernels/host_device.h"
#include "kernels/linear.h"

namespace orrery::kernels::cuda {

constexpr int64_t kGroup = 128;  // columns

/// Whether rows of the type are put in lanes; others stay as stored.
ORRERY_HOST_DEVICE constexpr bool is_packed(DType dtype) {
  switch (dtype) {
    case DType::q4_0:
    case DType::q4_1:
    case DType::q8_0:
    case DType::q4_k:
    case DType::q6_k:
      return true;
    default:
      return false;
  }
}

/// Byte offsets inside a row's record.
struct PackedRow {
  int64_t groups = 0;
  int64_t high = 0, scales = 0, deltas = 0;
  int64_t stride = 0;
};

ORRERY_HOST_DEVICE constexpr PackedRow packed_row(DType dtype, int64_t cols) {
  PackedRow row;
  row.groups = (cols + kGroup - 1) / kGroup;
  row.high = row.groups * (dtype == DType::q8_0 ? 128 : 64);
  row.scales = row.high + (dtype == DType::q6_k ? row.groups * 32 : 0);
  row.deltas = row.scales + row.groups * (dtype == DType::q4_1 ? 16 : 8);
  const int64_t end = row.deltas + (dtype == DType::q6_k ? row.groups / 2 * 2 : 0);
  row.stride = (end + 15) / 16 * 16;
  return row;
}

/// Where the upper bits of Q6_K's pair p of block j lie: one shift brings an even pair to bits 4-5 and an odd
/// one to bits 8-9 (block 0: left by 4 for p < 2, left by 2; block 1: right by 4, right by 6).
ORRERY_HOST_DEVICE constexpr int high_bit(int j, int p) {
  const int even[2][2] = {{0, 2}, {8, 10}};
  return even[j][p / 2] + 4 * (p % 2);
}

/// The packing for a problem's weights; null when none is put in lanes (they are read as stored).
const WeightPacking* linear_packing(const Linear::Problem& problem);

/// Bytes from one row of a segment's matrix to the next, in the form that linear_packing gives it.
int64_t weight_stride(const Linear::Problem& problem, int segment);

}  // namespace orrery::kernels::cuda
