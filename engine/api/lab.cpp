#include "engine/api/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/own_lab.h"
#include "engine/edit/names.h"
#include "engine/edit/words.h"
#include "engine/runtime/devices.h"
#include "kernels/lab/facts.h"
#include "kernels/lab/load.h"
#include "kernels/lab/problems.h"

namespace orrery::api {
namespace {

namespace lab = kernels::lab;

constexpr double kMostSeconds = 2;        // of the samples of a row
constexpr double kMostOfReference = 5e8;  // operations of a call: about a second of plain loops

LabKernel kernel_of(const lab::ProblemFamily& family) {
  LabKernel kernel{std::string(family.op), std::string(family.words), family.known(), {}, {}};
  const auto add = [&](kernels::DeviceKind device, std::vector<std::string>& names) {
    for (lab::NamedRow& row : family.rows(device)) {
      names.push_back(row.name);
      if (!row.library.empty()) kernel.libraries.emplace(row.name, std::move(row.library));
      if (row.block.rows > 0)
        kernel.tiles.emplace(row.name, fmt::format("{}x{}", row.block.rows, row.block.cols));
      kernel.sources.emplace(std::move(row.name), std::move(row.source));
    }
  };
  kernel.steps = family.steps;
  add(kernels::DeviceKind::cpu, kernel.cpu);
  add(kernels::DeviceKind::cuda, kernel.cuda);
  return kernel;
}

/// Those that differ by a few letters, or have the word in them.
Error no_kernel(const std::string& name) {
  constexpr size_t kMostLetters = 2;
  std::vector<std::string> near;
  for (const LabKernel& kernel : list_kernels()) {
    const bool part = name.size() > kMostLetters && kernel.name.find(name) != std::string::npos;
    if (part || edit::edit_distance(name, kernel.name, kMostLetters) <= kMostLetters)
      near.push_back(kernel.name);
  }
  return {ErrorCode::not_found, "There is no such kernel", name.substr(0, 200),
          edit::offer(near, "orrery-cli lab list shows them")};
}

/// A kernel, and how to make an experiment from the text of one of its problems.
struct Offered {
  LabKernel kernel;
  std::function<Result<std::unique_ptr<lab::Experiment>>(const std::string& problem)> make;
};

Offered offered(const lab::ProblemFamily& family) {
  return {kernel_of(family),
          [&family](const std::string& problem) -> Result<std::unique_ptr<lab::Experiment>> {
            lab::Words words(problem);
            std::unique_ptr<lab::Experiment> experiment = family.make(problem, words);
            if (experiment) return experiment;
            return Error{ErrorCode::invalid_argument, words.error(), "", ""};
          }};
}

Result<Offered> kernel_named(const std::string& name) {
  if (const lab::ProblemFamily* family = lab::family_of(name)) return offered(*family);
  if (const auto own = own_body(name))
    return Offered{own_kernel(*own),
                   [own](const std::string& problem) { return own_experiment(own, problem); }};
  return no_kernel(name);
}

Result<std::unique_ptr<lab::Experiment>> experiment_of(const Offered& offered, const std::string& problem) {
  auto made = offered.make(problem);
  if (made) return made;
  const LabKernel& kernel = offered.kernel;
  return Error{ErrorCode::invalid_argument,
               fmt::format("That is no problem of {}: {}", kernel.name, made.error().what),
               fmt::format("--shape {}", problem.substr(0, 200)),
               fmt::format("tell it as {}; for example {}", kernel.shape, kernel.problems.front())};
}

LabVersion version_of(const lab::Record& record) {
  LabVersion version;
  version.name = record.row;
  version.refused = record.refusal;
  version.outcome = lab::outcome_of(record);
  version.arithmetic = record.arithmetic;
  if (record.agreement) {
    version.ok = record.agreement->ok;
    version.max_error = record.agreement->max_error;
    version.tolerance = record.agreement->tolerance;
    version.where = record.agreement->where;
  }
  if (record.times) {
    version.us = record.times->median;
    version.p10 = record.times->p10;
    version.p90 = record.times->p90;
    version.launched_us = record.times->launched;
    version.samples = record.times->samples;
    version.gflops = record.gflops();
    version.gbytes_per_second = record.gbytes_per_second();
    version.share_of_limit = record.share_of_limit;
    version.memory = record.times->memory;
  }
  return version;
}

/// The rows of a problem on a device, whose scheduler lends its thread and its team for one row at a time.
class Lab {
 public:
  Lab(std::unique_ptr<lab::Experiment> experiment, std::shared_ptr<runtime::DeviceScheduler> scheduler,
      std::stop_token stop)
      : experiment_(std::move(experiment)),
        scheduler_(std::move(scheduler)),
        device_(scheduler_->device().get()),
        versions_(experiment_->versions(device_ ? kernels::DeviceKind::cuda : kernels::DeviceKind::cpu)) {
    timing_.most_seconds = kMostSeconds;
    timing_.stop = std::move(stop);
  }

  const std::string& name(size_t row) const { return versions_[row].row; }
  /// Those that are asked for; none: all.
  Result<std::vector<size_t>> rows(const std::vector<std::string>& asked) const {
    std::vector<size_t> rows;
    for (const std::string& one : asked)
      if (std::ranges::find(versions_, one, &lab::Version::row) == versions_.end())
        return Error{ErrorCode::not_found, "There is no such row", one.substr(0, 200),
                     "orrery-cli lab list shows them"};
    for (size_t row = 0; row < versions_.size(); ++row)
      if (asked.empty() || std::ranges::find(asked, name(row)) != asked.end()) rows.push_back(row);
    return rows;
  }
  lab::Work work() const { return experiment_->work(); }
  MachineLimits limits() const {
    MachineLimits limits;
    limits.reading = limits_.reading;
    limits.operations_per_second = limits_.operations_per_second;
    limits.threads = scheduler_->threads();
    return limits;
  }
  std::string machine() const { return lab::line_of(lab::machine_facts(scheduler_->threads(), device_)); }

  void measure_limits() {
    limits_ = on_device([this](kernels::ThreadTeam& team) {
      if (device_ == nullptr) return lab::measure_limits(team);
      MachineLimits known = limits_of(device_->facts());
      return lab::Limits{std::move(known.reading), known.operations_per_second};
    });
  }

  lab::Record measure(size_t row) {
    lab::Record record;
    record.row = name(row);
    record.refusal = refusal(row);
    if (!record.refusal.empty()) return record;
    record = on_device([this, row](kernels::ThreadTeam& team) {
      if (device_ == nullptr) {
        lab::HostPlace place(team);
        return experiment_->measure(row, place, timing_);
      }
      const runtime::HeldCards held = runtime::hold({scheduler_->device()});
      lab::DevicePlace place(*device_, team);
      return experiment_->measure(row, place, timing_);
    });
    record.share_of_limit = limits_.share_of(record);
    return record;
  }

 private:
  /// The reference computes what all others are held against, on some tokens where there are many; a call of
  /// it on all of them would take minutes, and tell nothing.
  std::string refusal(size_t row) const {
    const std::string& reason = versions_[row].refusal;
    if (!reason.empty() || name(row) != "cpu.reference" || experiment_->work().flops <= kMostOfReference)
      return reason;
    return fmt::format("the others are held against it; {:.2g} operations would take it long",
                       experiment_->work().flops);
  }

  template <class Function>
  std::invoke_result_t<Function, kernels::ThreadTeam&> on_device(Function function) {
    return scheduler_->call(runtime::DeviceScheduler::When::between_steps, std::move(function)).get();
  }

  std::unique_ptr<lab::Experiment> experiment_;
  std::shared_ptr<runtime::DeviceScheduler> scheduler_;
  kernels::Device* device_;
  std::vector<lab::Version> versions_;
  lab::Limits limits_;
  lab::Timing timing_;
};

}  // namespace

std::vector<LabKernel> list_kernels() {
  return guarded_or_empty([] {
    std::vector<LabKernel> kernels;
    for (const lab::ProblemFamily& family : lab::problem_families()) kernels.push_back(kernel_of(family));
    std::ranges::move(own_kernels(), std::back_inserter(kernels));
    return kernels;
  });
}

Result<LabKernel> find_kernel(const std::string& name) {
  return guarded([&]() -> Result<LabKernel> {
    ORRERY_ASSIGN(Offered found, kernel_named(name));
    return std::move(found.kernel);
  });
}

Result<LabRun> run_lab(const LabRequest& request, const LabCallback& on_version,
                       const ProgressCallback& progress, std::stop_token stop) {
  return guarded([&]() -> Result<LabRun> {
    const Watch watch{progress, stop};
    ORRERY_ASSIGN(const Offered asked, kernel_named(request.kernel));
    ORRERY_ASSIGN(const kernels::DeviceId device, parse_device(request.device));
    ORRERY_ASSIGN(auto scheduler, scheduler_for(request.device, request.threads));
    LabRun run{request.kernel, request.shape.empty() ? asked.kernel.problems.front() : request.shape,
               to_string(device), "", scheduler->threads()};
    ORRERY_TRY(watch.stage("Making the inputs"));
    ORRERY_ASSIGN(auto experiment, experiment_of(asked, run.problem));
    Lab lab(std::move(experiment), std::move(scheduler), stop);
    ORRERY_ASSIGN(const std::vector<size_t> rows, lab.rows(request.rows));
    run.machine = lab.machine();
    run.flops = lab.work().flops;
    run.bytes = lab.work().bytes;
    ORRERY_TRY(watch.stage("Measuring what the machine can do"));
    const lab::OtherPrograms others;
    lab.measure_limits();
    run.limits = lab.limits();
    for (size_t done = 0; done < rows.size(); ++done) {
      ORRERY_TRY(watch.stage(lab.name(rows[done]), done, rows.size()));
      const lab::Record record = lab.measure(rows[done]);
      if (stop.stop_requested()) return cancelled_error();
      run.versions.push_back(version_of(record));
      run.others = others.share();
      if (on_version) on_version(run);
    }
    return run;
  });
}

}  // namespace orrery::api
