// What this machine's cores can do together at most, measured: how fast they read, from memory and from the
// caches, and how fast they multiply.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/thread_team.h"

namespace orrery::kernels {

/// What all threads together read over and over, and how fast: caches hold less of more.
struct ReadingSpeed {
  double bytes = 0, bytes_per_second = 0;
};

/// Measures part by part, so that other work of the team waits for one part (10 to 60 ms) and not for all.
class SpeedMeter {
 public:
  /// The next part; false when it was the last.
  bool measure(ThreadTeam& team);

  /// After the last part: by rising bytes and falling speed, from what each core's first cache holds to a
  /// multiple of the last cache.
  const std::vector<ReadingSpeed>& reading() const { return reading_; }
  /// Operations a second by Arithmetic, a multiply-add being two; 0: the kernels have none here.
  const std::array<double, kArithmetics>& multiplying() const { return multiplying_; }

 private:
  void multiply(ThreadTeam& team);
  void read(ThreadTeam& team);
  void fill(ThreadTeam& team, size_t bytes);

  size_t arithmetic_ = 0;             // the next one
  std::unique_ptr<uint64_t[]> data_;  // of the largest level; a page is there once it is filled
  size_t filled_ = 0;                 // bytes
  std::vector<ReadingSpeed> reading_;
  std::array<double, kArithmetics> multiplying_ = {};
};

}  // namespace orrery::kernels
