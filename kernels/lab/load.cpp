#include "kernels/lab/load.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace orrery::kernels::lab {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<int> cores_of_this_process() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// Seconds that the cores were at work for anybody; negative where the system does not tell.
/// "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..", in ticks.
double busy_seconds(const std::vector<int>& cores) {
  std::ifstream file("/proc/stat");
  double ticks = 0;
  size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.rfind("cpu", 0) != 0) break;
    const bool ours = std::any_of(cores.begin(), cores.end(),
                                  [&](int core) { return name == "cpu" + std::to_string(core); });
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, steal = 0;
    if (!ours || !(words >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> steal))
      continue;
    if (user + system + idle == 0) continue;  // a sandbox that shows the file and counts nothing
    ticks += user + nice + system + interrupts + soft + steal;
    ++found;
  }
  if (found == 0 || found != cores.size()) return -1;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

OtherPrograms::OtherPrograms()
    : cores_(cores_of_this_process()),
      wall_(seconds(CLOCK_MONOTONIC)),
      own_(seconds(CLOCK_PROCESS_CPUTIME_ID)),
      busy_(busy_seconds(cores_)) {}

std::optional<double> OtherPrograms::share() const {
  const double busy = busy_seconds(cores_);
  const double time = (seconds(CLOCK_MONOTONIC) - wall_) * static_cast<double>(cores_.size());
  if (busy_ < 0 || busy < 0 || time <= 0) return std::nullopt;
  const double own = seconds(CLOCK_PROCESS_CPUTIME_ID) - own_;
  return std::clamp((busy - busy_ - own) / time, 0.0, 1.0);
}

}  // namespace orrery::kernels::lab
