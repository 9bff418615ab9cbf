// The steps of a plan as segments: runs of steps of one device that are launched as a whole, and which of
// them wait for which. Branches of a graph that lie on different devices become segments that do not wait for
// each other.
#pragma once

#include <vector>

#include "engine/compile/plan.h"

namespace orrery::compile {

/// Bytes [begin, end) of a device's arena that a step reads or writes.
struct Access {
  kernels::DeviceId memory;
  size_t begin = 0, end = 0;
  bool writes = false;
};

/// Takes steps in an order in which each comes after those that it reads from. A step waits for all earlier
/// ones that write what it touches or touch what it writes: values may share bytes of an arena
/// one after another, and a transfer touches the arenas of two devices.
///
/// A step joins the last segment of its device when that makes nobody wait for more: no other segment waits
/// for that one yet, and the step waits for nothing but what that one waits for. Else it begins a segment.
class Segmenter {
 public:
  /// `side`: whose stream or team runs it.
  void add(Step step, kernels::DeviceId side, std::vector<Access> accesses);
  /// The segments in an order in which each follows those that it waits for, and the steps in theirs.
  void finish(std::vector<Step>& steps, std::vector<Segment>& segments);

 private:
  struct Open {
    kernels::DeviceId device;
    std::vector<Step> steps;
    std::vector<size_t> after;  // of other devices
    std::vector<bool> before;   // all that it follows, by segment
    bool awaited = false;       // by a segment of another device
  };
  struct Touched {
    size_t begin, end;
    bool written;
    size_t segment;
  };
  std::vector<size_t> awaited_by(kernels::DeviceId side, const std::vector<Access>& accesses) const;
  Open* last_of(kernels::DeviceId side);
  size_t begin_segment(kernels::DeviceId side, std::vector<size_t> awaited);

  std::vector<Open> segments_;
  std::map<kernels::DeviceId, size_t> last_;
  using Sides = std::map<kernels::DeviceId, std::vector<Touched>>;
  std::map<kernels::DeviceId, Sides> touched_;  // by memory, and by the device of the segment
};

}  // namespace orrery::compile
