#include "kernels/lab/facts.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kernels/device_module.h"
#include "kernels/lab/experiment.h"

namespace orrery::kernels::lab {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "";
}

/// The first word with a dot after "Kernel Module": "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.159".
std::string nvidia_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  const size_t at = line.find("Kernel Module");
  if (at == std::string::npos) return "";
  std::istringstream words(line.substr(at));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos) return word;
  return "";
}

}  // namespace

MachineFacts machine_facts(int threads, const Device* device) {
  MachineFacts facts{.cpu = cpu_name(),
                     .features = summary_of(machine_of(DeviceKind::cpu).cpu.features),
                     .cores = available_cores(),
                     .threads = threads};
  if (device == nullptr) return facts;
  facts.device = device->facts().name;
  facts.architecture = device->facts().architecture;
  facts.driver = nvidia_driver();
  return facts;
}

std::string line_of(const MachineFacts& machine) {
  std::string line = machine.cpu + ", " + machine.features + ", " + std::to_string(machine.threads) +
                     " threads of " + std::to_string(machine.cores) + " cores";
  if (!machine.device.empty())
    line += "; " + machine.device + " " + machine.architecture + " " + machine.driver;
  return line;
}

double Limits::least_microseconds(const Work& work, Arithmetic arithmetic, bool memory) const {
  double least = 0;
  if (!reading.empty()) {
    size_t level = reading.size() - 1;
    while (!memory && level > 0 && reading[level - 1].bytes >= work.bytes) --level;
    least = 1e6 * work.bytes / reading[level].bytes_per_second;
  }
  const double operations = operations_per_second[static_cast<size_t>(arithmetic)];
  if (operations > 0) least = std::max(least, 1e6 * work.flops / operations);
  return least;
}

double Limits::share_of(const Record& record) const {
  if (!record.times) return 0;
  return least_microseconds(record.work, record.arithmetic, record.times->memory) / record.times->median;
}

Limits measure_limits(ThreadTeam& team) {
  SpeedMeter meter;
  while (meter.measure(team)) {
  }
  return {.reading = meter.reading(), .operations_per_second = meter.multiplying()};
}

Limits limits_of(const Device& device) {
  const DeviceFacts& facts = device.facts();
  if (facts.peak_bytes_per_second == 0) return {};
  return {.reading = {{static_cast<double>(facts.memory_bytes), facts.peak_bytes_per_second}}};
}

}  // namespace orrery::kernels::lab
