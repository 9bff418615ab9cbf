// The kernels by themselves: which there are, and how every row of one does on a problem.
#include "engine/api/lab_runs.h"

#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct LabOptions {
  Parser::Values words;  // list, list KERNEL or run KERNEL
  Parser::Values shape;
  api::LabRequest request;
};

Json to_json(const api::LabKernel& kernel) {
  return {{"kernel", kernel.name},
          {"shape", kernel.shape},
          {"rows", {{"cpu", kernel.cpu}, {"cuda", kernel.cuda}}},
          {"sources", kernel.sources},
          {"problems", kernel.problems}};
}

void print_kernel(const api::LabKernel& kernel, bool all_problems) {
  const auto line = [](std::string_view what, const std::string& text) {
    print(fmt::format("  {:<9} {}\n", what, text));
  };
  print(kernel.name + "\n");
  line("shape", kernel.shape);
  line("cpu", fmt::format("{}", fmt::join(kernel.cpu, ", ")));
  if (!kernel.cuda.empty()) line("cuda", fmt::format("{}", fmt::join(kernel.cuda, ", ")));
  if (all_problems) {
    for (const std::string& problem : kernel.problems) line("problem", problem);
  } else {
    line("problems", fmt::format("{}, as {}", kernel.problems.size(), kernel.problems.front()));
  }
}

Result<int> list(const Context& context, const Parser::Values& words) {
  std::vector<api::LabKernel> kernels;
  if (words.size() > 1) {
    ORRERY_ASSIGN(api::LabKernel kernel, api::find_kernel(words[1]));
    kernels.push_back(std::move(kernel));
  } else {
    kernels = api::list_kernels();
  }
  if (context.json) {
    Json json = Json::array();
    for (const api::LabKernel& kernel : kernels) json.push_back(to_json(kernel));
    print_json(json);
    return kExitDone;
  }
  for (const api::LabKernel& kernel : kernels) print_kernel(kernel, words.size() > 1);
  return kExitDone;
}

/// The rows of a table as they are measured, with a head before the first.
void print_last(const api::LabRun& run) {
  if (run.versions.size() == 1)
    print(fmt::format("{} {}, on {}: {}\n", run.kernel, run.problem, run.device, run.machine));
  print_now(fmt::format("{:<28} {}\n", run.versions.back().name, run.versions.back().outcome));
}

/// A row that is wrong is a failure, and told after all that was measured.
Result<int> run(const Context& context, const api::LabRequest& request) {
  ProgressLine progress(context);
  const auto on_version = [&](const api::LabRun& so_far) {
    progress.clear();
    if (!context.json) print_last(so_far);
  };
  ORRERY_ASSIGN(const api::LabRun run,
                api::run_lab(request, on_version, progress.callback(), context.stop()));
  progress.clear();
  if (context.json) print_json(Json::parse(api::write_lab_run(run)));
  if (const std::string busy = run.busy(); !busy.empty() && !context.json) print(busy + "\n");
  for (const api::LabVersion& version : run.versions)
    if (version.refused.empty() && !version.ok)
      return Error{ErrorCode::internal,
                   fmt::format("{} is wrong by {:.1e} where {:.1e} is allowed", version.name,
                               version.max_error, version.tolerance),
                   fmt::format("{} {}", run.kernel, run.problem), "please report it: " + version.where};
  return kExitDone;
}

/// What cannot be meant is wrong usage, not a failure.
void check_usage(const LabOptions& options, bool runs) {
  const Parser::Values& words = options.words;
  if (words.empty()) return;
  if (words.front() == "list" && words.size() <= 2 && !runs) return;
  if (words.front() == "run" && words.size() == 2) return;
  throw UsageError("lab: write list, list KERNEL, or run KERNEL [--device D] [--threads N] [--shape WORDS]");
}

}  // namespace

Runner prepare_lab(Parser& parser, Context& context) {
  const auto options = std::make_shared<LabOptions>();
  api::LabRequest& request = options->request;
  parser
      .add_option("WHAT", options->words,
                  "list: the kernels; list KERNEL: one, with all its problems; run KERNEL: every row of it, "
                  "held against the reference, then timed")
      .required();
  const Option device =
      parser.add_option("--device", request.device, "cpu or cuda:N, whose rows are run").show_default();
  const Option threads =
      parser
          .add_option("--threads", request.threads,
                      "of the CPU; 0: the cores this process may run on; with 1, times are the processor's, "
                      "which hold on a busy machine too")
          .range(0, 1024)
          .show_default();
  const Option shape = parser.add_option(
      "--shape", options->shape,
      "the problem, in the words that list tells, up to the next option: 1x4096x14336 Q4_K; none: the first "
      "that list tells");
  add_output_options(parser, context);
  parser.when_parsed([options, device, threads, shape] {
    check_usage(*options, device.given() || threads.given() || shape.given());
  });
  return [options, &context]() -> Result<int> {
    const Parser::Values& words = options->words;
    if (words.front() == "list") return list(context, words);
    options->request.kernel = words[1];
    options->request.shape = fmt::format("{}", fmt::join(options->shape, " "));
    return run(context, options->request);
  };
}

}  // namespace orrery::cli
