// oneDNN on the thread that calls it.
#pragma once

namespace orrery::kernels::onednn {

/// Inside a scope of this, oneDNN uses one thread: the caller. The thread's own OpenMP setting comes back
/// after.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace orrery::kernels::onednn
