// What the rows of Fastmax on a card share (fastmax.h): what query and key are multiplied by, found before
// anything else, and where the parts of a workspace lie.
#pragma once

#include <cstddef>

#include "kernels/fastmax.h"
#include "kernels/host_device.h"

namespace orrery::kernels::cuda::fastmax {

/// What the rows of one batch and head are multiplied by, and the row that decides it.
struct Scale {
  double squares;   // of the longest row
  int64_t longest;  // -1: rows are taken as they are
  float factor;
};

/// (batch, heads) of query, then (batch, kv_heads) of key.
struct Scales {
  Scale* of_query = nullptr;
  Scale* of_key = nullptr;
};

/// Tokens whose longest a block finds at a time.
constexpr int64_t kScaleTokens = 256;

/// Parts of a workspace, one behind the other at multiples of 256 bytes; of a null base only their sum.
class Room {
 public:
  explicit Room(std::byte* base) : base_(base) {}
  template <class T>
  T* take(int64_t count) {
    std::byte* taken = base_ == nullptr ? nullptr : base_ + bytes_;
    bytes_ += (static_cast<size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return reinterpret_cast<T*>(taken);
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  size_t bytes_ = 0;
};

/// Scales, and what they are found through: the longest of each kScaleTokens tokens.
struct ScaleRoom {
  Scales scales;
  Scale* parts;

  ScaleRoom(const Fastmax::Problem& problem, Room& room) {
    const int64_t queries = problem.batch * problem.heads, keys = problem.batch * problem.kv_heads;
    scales.of_query = room.take<Scale>(queries);
    scales.of_key = room.take<Scale>(keys);
    const int64_t most = problem.queries > problem.keys ? problem.queries : problem.keys;
    parts = room.take<Scale>((queries + keys) * ((most + kScaleTokens - 1) / kScaleTokens));
  }
};

/// Fills room.scales, ones where nothing is normalised; `lengths`: the longest rows' squares there too.
void find_scales(const Fastmax::Args& args, const ScaleRoom& room, bool lengths, const Launch& launch);

/// Gradients of query, key and rpe, as far as they are wanted, of e and h (fastmax.h): float32, without gaps.
void store_gradients(const FastmaxBackward::Args& args, const Scales& scales, const float* of_query,
                     const float* of_key, const Launch& launch);

ORRERY_HOST_DEVICE_INLINE int64_t group_of(const Fastmax::Problem& problem) {
  return problem.heads / problem.kv_heads;
}

// The rows: general.cu, general_factorised.cu, tensor.cu, gradients.cu.
std::string supports_general(const Fastmax::Problem& problem, const Machine& machine);
size_t general_workspace(const Fastmax::Problem& problem, const Machine& machine, int threads);
void run_general(const Fastmax::Args& args, const Launch& launch);
std::string supports_general_backward(const FastmaxBackward::Problem& problem, const Machine& machine);
size_t general_backward_workspace(const FastmaxBackward::Problem& problem, const Machine& machine,
                                  int threads);
void run_general_backward(const FastmaxBackward::Args& args, const Launch& launch);

std::string supports_general_factorised(const Fastmax::Problem& problem, const Machine& machine);
size_t general_factorised_workspace(const Fastmax::Problem& problem, const Machine& machine, int threads);
void run_general_factorised(const Fastmax::Args& args, const Launch& launch);
std::string supports_general_factorised_backward(const FastmaxBackward::Problem& problem,
                                                 const Machine& machine);
size_t general_factorised_backward_workspace(const FastmaxBackward::Problem& problem, const Machine& machine,
                                             int threads);
void run_general_factorised_backward(const FastmaxBackward::Args& args, const Launch& launch);

std::string supports_direct(const Fastmax::Problem& problem, const Machine& machine);
size_t direct_workspace(const Fastmax::Problem& problem, const Machine& machine, int threads);
void run_direct(const Fastmax::Args& args, const Launch& launch);
std::string supports_factorised(const Fastmax::Problem& problem, const Machine& machine);
size_t factorised_workspace(const Fastmax::Problem& problem, const Machine& machine, int threads);
void run_factorised(const Fastmax::Args& args, const Launch& launch);

std::string supports_direct_backward(const FastmaxBackward::Problem& problem, const Machine& machine);
size_t direct_backward_workspace(const FastmaxBackward::Problem& problem, const Machine& machine,
                                 int threads);
void run_direct_backward(const FastmaxBackward::Args& args, const Launch& launch);
std::string supports_factorised_backward(const FastmaxBackward::Problem& problem, const Machine& machine);
size_t factorised_backward_workspace(const FastmaxBackward::Problem& problem, const Machine& machine,
                                     int threads);
void run_factorised_backward(const FastmaxBackward::Args& args, const Launch& launch);

}  // namespace orrery::kernels::cuda::fastmax
