// FastmaxScan over made-up sequences with records of their own.
#pragma once

#include "kernels/fastmax_scan.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

/// A step of several sequences. What a sequence holds at a position is the same for a seed whatever the step
/// brings.
struct FastmaxScanShape {
  int64_t heads = 4, kv_heads = 2, dim = 16;
  Attention::Fastmax fastmax = {};
  /// Which positions of a sequence the step brings: [end - tokens, end). A place to come back to is left
  /// after `middle` of them; below 0: none. The record is written where it was read, or into another one.
  struct Part {
    int64_t tokens = 1, end = 1, middle = -1;
    bool in_place = true;
  };
  std::vector<Part> parts = {{}};
  float size = 1.0F;  // of the numbers of queries and keys
  int64_t text = 0;   // positions of each sequence that are made up; 0: up to the largest end
  uint32_t seed = 11;

  int64_t tokens() const;
  int64_t positions() const;
};

class FastmaxScanCase {
 public:
  using Op = FastmaxScan;
  /// Records of each sequence: where it is, where it goes without in_place, and the middle.
  static constexpr int64_t kRecords = 3;
  /// `held`: all records before the step, as its output has them; empty: what the reference makes of the
  /// positions before the step, and NaN in what the step must not read.
  explicit FastmaxScanCase(const FastmaxScanShape& shape, std::vector<float> held = {});

  /// dst, then all records.
  Call<FastmaxScan> place(const Row<FastmaxScan>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  FastmaxScan::Problem problem;

 private:
  int64_t floats() const { return FastmaxScan::floats(problem); }
  /// A record of a sequence, of those above.
  int32_t record(size_t sequence, int64_t which) const;
  std::vector<float> held_before() const;

  FastmaxScanShape shape_;
  std::vector<float> query_, key_, value_, held_;
  std::vector<int32_t> starts_{0}, lengths_;
  std::vector<RecordUse> uses_;
};

}  // namespace orrery::kernels::lab
