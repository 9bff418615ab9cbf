// Ops of one's own: compiled and tried, kept for every later start, listed, taken away; files to begin with.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"
#include "engine/api/own_ops.h"

namespace orrery::cli {
namespace {

struct CustomOptions {
  Parser::Values words;  // list, check FILE.., add FILE.., remove NAME, new NAME
  bool cuda = false;
};

Json report_json(const api::OwnOpReport& report) {
  Json diagnostics = Json::array(), checks = Json::array(), cases = Json::array();
  for (const custom::Diagnostic& one : report.diagnostics)
    diagnostics.push_back({{"file", one.file},
                           {"line", one.line},
                           {"column", one.column},
                           {"severity", custom::name_of(one.severity)},
                           {"text", one.text}});
  for (const custom::Check& one : report.checks) checks.push_back({{"ok", one.ok}, {"text", one.text}});
  for (const custom::TrialCase& one : report.cases)
    cases.push_back({{"body", one.body},
                     {"case", one.words},
                     {"device", one.device},
                     {"us", one.us},
                     {"against", one.against.empty() ? Json() : Json(one.against)},
                     {"difference",
                      one.against.empty() || !std::isfinite(one.difference) ? Json() : Json(one.difference)},
                     {"allowed", one.against.empty() ? Json() : Json(one.allowed)}});
  return {
      {"name", report.name},         {"doc", report.doc},           {"content", report.content},
      {"passed", report.passed},     {"cached", report.cached},     {"diagnostics", std::move(diagnostics)},
      {"checks", std::move(checks)}, {"cases", std::move(cases)},   {"card", report.card},
      {"devices", report.devices},   {"backward", report.backward}, {"risk", custom::kRemainingRisk}};
}

/// "case    bias_gelu, src f32[7, 5]: 1.2 us on CPU"
void print_cases(const std::vector<custom::TrialCase>& cases) {
  for (const custom::TrialCase& one : cases) {
    const std::string against = one.against.empty()
                                    ? ""
                                    : fmt::format(", off {} by {:.1e} where {:.1e} is allowed", one.against,
                                                  one.difference, one.allowed);
    print(
        fmt::format("case    {}, {}: {:.3g} us on {}{}\n", one.body, one.words, one.us, one.device, against));
  }
}

void print_report(const api::OwnOpReport& report, bool added) {
  for (const custom::Diagnostic& one : report.diagnostics) print(one.to_string() + "\n");
  for (const custom::Check& one : report.checks)
    print(fmt::format("{}  {}\n", one.ok ? "ok    " : "failed", one.text));
  print_cases(report.cases);
  if (!report.card.empty()) print(fmt::format("cards   {}\n", report.card));
  if (!report.passed) return;
  print(fmt::format("{} {} (content {}){}\n{}\n", report.name, added ? "was added" : "passed", report.content,
                    !report.cached ? ""
                    : added        ? "; its trial had passed before"
                                   : ", as it did before",
                    custom::kRemainingRisk));
}

/// What failed is a failure, and told after all that was found.
Result<int> check(const Context& context, const Parser::Values& words) {
  const bool adds = words.front() == "add";
  std::vector<custom::SourceFile> files;
  for (size_t i = 1; i < words.size(); ++i) {
    ORRERY_ASSIGN(custom::SourceFile file, custom::read_source(words[i]));
    files.push_back(std::move(file));
  }
  ProgressLine progress(context);
  const Watch watch{progress.callback(), context.stop()};
  ORRERY_ASSIGN(const api::OwnOpReport report,
                adds ? api::add_own_op(std::move(files), watch) : api::check_own_op(std::move(files), watch));
  progress.clear();
  if (context.json)
    print_json(report_json(report));
  else
    print_report(report, adds);
  if (!report.passed) return report.failure;
  return kExitDone;
}

Result<int> list(const Context& context) {
  api::join_own_ops({{}, context.stop()});  // so that the list says which are there
  const std::vector<api::OwnOpEntry> entries = api::list_own_ops();
  Json json = Json::array();
  for (const api::OwnOpEntry& entry : entries) {
    json.push_back({{"name", entry.name},
                    {"content", entry.content},
                    {"files", entry.files},
                    {"folder", entry.folder},
                    {"devices", entry.devices},
                    {"backward", entry.backward},
                    {"problem", entry.problem.empty() ? Json() : Json(entry.problem)}});
    if (!context.json)
      print(fmt::format("{:<20} {}  {}  {}{}{}\n", entry.name, entry.content, fmt::join(entry.files, ", "),
                        fmt::join(entry.devices, ", "), entry.backward ? ", gradients" : "",
                        entry.problem.empty() ? "" : "(" + entry.problem + ")"));
  }
  if (context.json) print_json(json);
  if (entries.empty() && !context.json) print("There are none; orrery-cli custom new NAME begins one\n");
  return kExitDone;
}

Result<int> begin(const Context& context, const std::string& name, bool cuda) {
  ORRERY_ASSIGN(const std::vector<custom::SourceFile> files, custom::new_sources(name, cuda));
  for (const custom::SourceFile& file : files)
    if (std::filesystem::exists(file.name))
      return Error{ErrorCode::invalid_argument, "There is already a file of this name", file.name,
                   "choose another name"};
  Json json = Json::array();
  for (const custom::SourceFile& file : files) {
    ORRERY_TRY(write_file(file.name, file.bytes));
    json.push_back(file.name);
    if (!context.json) print(file.name + "\n");
  }
  if (context.json) print_json({{"files", std::move(json)}});
  return kExitDone;
}

Result<int> obey(const Context& context, const CustomOptions& options) {
  const std::string& first = options.words.front();
  if (first == "list") return list(context);
  if (first == "new") return begin(context, options.words[1], options.cuda);
  if (first != "remove") return check(context, options.words);
  ORRERY_TRY(api::remove_own_op(options.words[1]));
  if (context.json)
    print_json({{"removed", options.words[1]}});
  else
    print(options.words[1] + " was removed\n");
  return kExitDone;
}

/// What cannot be meant is wrong usage, not a failure.
void check_usage(const CustomOptions& options) {
  const Parser::Values& words = options.words;
  if (words.empty()) return;
  const std::string& first = words.front();
  const bool takes_files = (first == "check" || first == "add") && (words.size() == 2 || words.size() == 3);
  const bool takes_name = (first == "remove" || first == "new") && words.size() == 2;
  if (options.cuda ? first == "new" && takes_name
                   : takes_files || takes_name || (first == "list" && words.size() == 1))
    return;
  throw UsageError("custom: write list, check FILE.., add FILE.., remove NAME, or new NAME [--cuda]");
}

}  // namespace

Runner prepare_custom(Parser& parser, Context& context) {
  const auto options = std::make_shared<CustomOptions>();
  parser
      .add_option(
          "WHAT", options->words,
          "list: those that were added; check FILE..: compiles and tries an op of a file of C or C++, one of "
          "CUDA, or both, or a library; add FILE..: the same, and keeps it; remove NAME; new NAME: writes "
          "files to begin with")
      .required();
  parser.add_flag("--cuda", options->cuda, "of new: a file of CUDA too");
  add_output_options(parser, context);
  parser.when_parsed([options] { check_usage(*options); });
  return [options, &context] { return obey(context, *options); };
}

}  // namespace orrery::cli
