// What it costs to hand a task to a team and to have it back: an empty task of a chunk for each thread.
//   team_bench [THREADS...]      2 and one a core when none is told
#include <cstdio>
#include <cstdlib>
#include <set>

#include "kernels/lab/timing.h"
#include "kernels/thread_team.h"

int main(int argc, char** argv) {
  using namespace orrery::kernels;
  std::set<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.insert(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {2, available_cores()};
  for (const int threads : sizes) {
    if (threads < 1) return 2;
    ThreadTeam team(threads);
    const auto dispatch = [&](size_t) { team.run(team.size(), 1, [](ThreadTeam::Range, int) {}); };
    const lab::Times times = lab::time_calls(dispatch, {}, false);
    std::printf("%d threads  %.3f us (%.3f to %.3f)\n", threads, times.median, times.p10, times.p90);
  }
}
