#include "engine/api/export.h"

#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct ExportOptions {
  api::OpenOptions open;
  api::ExportOptions how;
  std::vector<std::string> edits;
  std::string out;
  bool dry_run = false;
};

Json to_json(const api::ExportReport& report) {
  Json problems = Json::array(), tensors = Json::array();
  for (const api::ExportProblem& problem : report.problems)
    problems.push_back({{"where", problem.where}, {"what", problem.what}});
  for (const api::ExportTensor& tensor : report.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"dtype", tensor.dtype},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes},
                       {"how", tensor.how}});
  return {{"format", report.format},   {"architecture", report.architecture},
          {"bytes", report.bytes},     {"problems", std::move(problems)},
          {"dropped", report.dropped}, {"tensors", std::move(tensors)}};
}

void print_plan(const api::ExportReport& report) {
  for (const api::ExportProblem& problem : report.problems)
    print(fmt::format("cannot be written: {}: {}\n", problem.where, problem.what));
  for (const std::string& dropped : report.dropped) print(fmt::format("left out: {}\n", dropped));
  for (const api::ExportTensor& tensor : report.tensors)
    if (tensor.how != "as it is") print(fmt::format("{:<40} {}\n", tensor.name, tensor.how));
  if (report.problems.empty())
    print(fmt::format("{} tensors, {} as a {}\n", report.tensors.size(), readable_bytes(report.bytes),
                      report.format));
}

Result<void> make_edits(api::Session& session, const std::vector<std::string>& words) {
  std::vector<edit::Edit> edits;
  for (const std::string& text : words) {
    ORRERY_ASSIGN(edit::Edit edit, edit::parse_edit(text));
    edits.push_back(std::move(edit));
  }
  if (edits.empty()) return {};
  const auto made = session.replay(std::move(edits));
  if (!made.ok()) return made.error();
  return {};
}

Result<int> run(const ExportOptions& options, const Context& context) {
  if (options.out.empty() && !options.dry_run)
    return Error{ErrorCode::invalid_argument, "There is no place to write to", "--out",
                 "add --out FILE.gguf or --out FOLDER, or --dry-run to see what would be written"};
  ORRERY_ASSIGN(const auto session, open_session(context, options.open));
  ORRERY_TRY(make_edits(*session, options.edits));
  if (options.dry_run) {
    ORRERY_ASSIGN(const api::ExportReport report, api::plan_export(*session, options.how));
    if (context.json)
      print_json(to_json(report));
    else
      print_plan(report);
    return kExitDone;
  }
  Result<api::ExportReport> written = [&] {
    ProgressLine progress(context);
    return api::export_model(*session, options.out, options.how, progress.callback(), context.stop());
  }();
  if (!written.ok()) return written.error();
  if (context.json) {
    print_json({{"path", written->path}, {"bytes", written->bytes}, {"dropped", written->dropped}});
    return kExitDone;
  }
  for (const std::string& dropped : written->dropped) print(fmt::format("left out: {}\n", dropped));
  print(fmt::format("{} ({})\n", written->path, readable_bytes(written->bytes)));
  return kExitDone;
}

}  // namespace

Runner prepare_export(Parser& parser, Context& context) {
  const auto options = std::make_shared<ExportOptions>();
  add_model_options(parser, options->open);
  parser.add_option("--out", options->out, "the new GGUF file, or for a model of a folder the new folder");
  parser
      .add_option("--edit", options->edits,
                  "an edit after the recipe's, such as bypass scope=layers.3; may be repeated")
      .one_value()
      .take_all();
  parser.add_flag("--keep-types", options->how.keep_types,
                  "round what is folded into quantised tensors to their types; else they become f32");
  parser.add_flag("--dry-run", options->dry_run,
                  "tell what would be written, what would be left out, and what cannot be");
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> { return run(*options, context); };
}

}  // namespace orrery::cli
