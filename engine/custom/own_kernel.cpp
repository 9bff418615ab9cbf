#include "engine/custom/own_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <stdexcept>

#include "engine/custom/card_call.h"

namespace orrery::custom {
namespace {

std::string supports_cpu(const OwnKernel::Problem&, const kernels::Machine&) { return {}; }

std::string supports_card(const OwnKernel::Problem& problem, const kernels::Machine& machine) {
  const Running& running = *problem.running;
  return running.not_on_card.empty() ? card_refusal(running.body, running.image.get(), machine)
                                     : running.not_on_card;
}

/// Some thousand elements of the outputs at a time.
int64_t grain_of(const orrery_call& call) {
  constexpr int64_t kElements = 4096;
  int64_t elements = 0;
  for (int32_t i = 0; i < call.output_count; ++i) elements += custom::elements_of(call.outputs[i]);
  return std::max<int64_t>(1, kElements * call.items / std::max<int64_t>(elements, 1));
}

void run_on_cpu(const OwnKernel::Args& args, const kernels::Launch& launch) {
  std::mutex mutex;
  std::string thrown;
  const auto part = [&](kernels::ThreadTeam::Range range, int) {
    std::string what;
    try {
      return args.running->body.run(*args.call, range.begin, range.end);
    } catch (const std::exception& exception) {
      what = exception.what();
    } catch (...) {
      what = "an exception";
    }
    const std::lock_guard lock(mutex);
    thrown = fmt::format("{} threw: {}", args.running->body.name(), what);
  };
  launch.team->run(args.call->items, grain_of(*args.call), part);
  if (!thrown.empty()) throw OwnOpError(thrown);
}

void run_on_card(const OwnKernel::Args& args, const kernels::Launch& launch) {
  call_card(args.running->body, args.running->image.get(), *args.call, launch);
}

}  // namespace

OwnRows::OwnRows(const Running& running)
    : cpu{{running.cpu_name, kernels::DeviceKind::cpu, supports_cpu, run_on_cpu}},
      card{{running.cuda_name, kernels::DeviceKind::cuda, supports_card, run_on_card}} {}

}  // namespace orrery::custom
