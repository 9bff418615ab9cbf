// A team of threads that runs one kernel after another: dispatch and join cost about 0.1 us on two cores.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace orrery::kernels {

/// Threads 0..size-1; the caller of run() is thread 0. A thread without work spins for a bounded time
/// (some 200 us), then sleeps. Not reentrant; one thread at a time may call run().
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  /// Called by the thread that will call run(), once: where the team has a thread for every core, each keeps
  /// a core of its own from here on. A thread that another program displaces would else be moved next to its
  /// partner, and the two would share a core until the system moves one back. Instead the team sees to it
  /// that the others wait for some 50 us, and not until that program has had its turn: a displaced worker is
  /// called to the caller's core to finish its chunk, a displaced caller changes cores with a worker. Smaller
  /// teams are left free.
  void pin();

  /// Items [begin, end) of a task.
  struct Range {
    int64_t begin, end;
  };

  /// Calls task(Range, thread) for chunks that together hold each item of [0, count) once, and returns when
  /// all are done. A chunk begins at a multiple of `grain`, at least 1, and ends at one or at `count`.
  /// Whichever thread comes first takes the next chunk, large ones at first: no result may depend on who
  /// takes what, nor on where chunks end. A thread that comes late finds nothing and is not waited for; the
  /// caller may have done all by itself. The task must not throw, nor wait for another chunk.
  template <class Task>
  void run(int64_t count, int64_t grain, Task&& task) {
    run_erased(
        count, grain,
        [](void* context, Range chunk, int thread) {
          (*static_cast<std::remove_reference_t<Task>*>(context))(chunk, thread);
        },
        const_cast<void*>(static_cast<const void*>(&task)));
  }

 private:
  using Erased = void (*)(void* context, Range chunk, int thread);
  void run_erased(int64_t count, int64_t grain, Erased task, void* context);

  struct Shared;
  int size_;
  std::unique_ptr<Shared> shared_;
};

/// Cores that this process may run on (affinity mask), at least 1.
int available_cores();

}  // namespace orrery::kernels
