// A team of threads that runs one kernel after another: dispatch and join cost about 0.1 us on two cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace orrery::kernels {

/// Threads 0..size-1; the caller of run() is thread 0. Waiting threads spin for a bounded time (200 us),
/// then sleep on a futex. Not reentrant; one thread at a time may call run().
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  /// Called by the thread that will call run(), once: where the team has a thread for every core, each keeps
  /// a core of its own from here on. A thread that another program displaces would else be moved next to its
  /// partner, and the two would share a core until the system moves one back. Smaller teams are left free.
  void pin();

  /// Calls task(thread) once on every thread and returns when all are done. The task must not throw.
  template <class Task>
  void run(Task&& task) {
    run_erased(
        [](void* context, int thread) { (*static_cast<std::remove_reference_t<Task>*>(context))(thread); },
        const_cast<void*>(static_cast<const void*>(&task)));
  }

  /// Inside a task: returns when every thread of the team has called it.
  void barrier();

  /// The share [begin, end) of `count` items that `thread` owns, in whole multiples of `grain` (last share
  /// ragged).
  struct Range {
    int64_t begin, end;
  };
  Range share(int64_t count, int thread, int64_t grain = 1) const;

 private:
  using Erased = void (*)(void* context, int thread);
  void run_erased(Erased task, void* context);

  struct Shared;
  int size_;
  std::unique_ptr<Shared> shared_;
};

/// Cores that this process may run on (affinity mask), at least 1.
int available_cores();

}  // namespace orrery::kernels
