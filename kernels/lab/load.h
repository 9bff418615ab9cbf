// How much of the cores' time other programs take while something is measured: times of a busy machine are
// not its own.
#pragma once

#include <optional>
#include <vector>

namespace orrery::kernels::lab {

/// Counts from when it is made, on the cores that this process may run on. The system tells in steps of some
/// 10 ms, so a share means something from half a second on.
class OtherPrograms {
 public:
  OtherPrograms();
  /// Of the cores' time so far, 0 to 1, with what a hypervisor gave to others; none where the system does not
  /// tell.
  std::optional<double> share() const;

 private:
  std::vector<int> cores_;
  double wall_ = 0, own_ = 0, busy_ = 0;  // seconds when it was made
};

/// From which share on times are told to be of a busy machine: below, counting in steps is as far off.
inline constexpr double kBusyShare = 0.1;

}  // namespace orrery::kernels::lab
