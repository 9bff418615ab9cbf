#include <fmt/format.h>

#include <algorithm>

#include "app/cli/classify_report.h"
#include "app/cli/common_options.h"
#include "app/cli/input.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct ClassifyOptions {
  api::OpenOptions open;
  std::string texts, csv, text_column, label_column, out;
};

struct Job {
  CsvTable table;  // of --csv
  std::vector<std::string> texts, given;
};

Result<size_t> find_column(const CsvTable& table, const std::string& name, const std::string& file) {
  if (const auto column = table.column(name)) return *column;
  return Error{ErrorCode::invalid_argument, fmt::format("There is no column \"{}\"", name), file,
               fmt::format("The columns are {}", fmt::join(table.header, ", "))};
}

Result<Job> read_job(const ClassifyOptions& options, const Context& context) {
  Job job;
  if (options.csv.empty()) {
    ORRERY_ASSIGN(job.texts, texts_of(context, options.texts));
    return job;
  }
  ORRERY_ASSIGN(const std::string content, read_file(options.csv));
  auto table = parse_csv(content);
  if (!table) {
    Error error = table.error();
    error.where = options.csv + ", " + error.where;
    return error;
  }
  job.table = std::move(table).value();
  ORRERY_ASSIGN(const size_t text, find_column(job.table, options.text_column, options.csv));
  for (const auto& row : job.table.rows) job.texts.push_back(row[text]);
  if (options.label_column.empty()) return job;
  ORRERY_ASSIGN(const size_t label, find_column(job.table, options.label_column, options.csv));
  for (const auto& row : job.table.rows) job.given.push_back(row[label]);
  return job;
}

/// A line a token under the text, where the model labels tokens.
void print_tokens(const api::Classification& result) {
  print_now(fmt::format("{}  {:.2f} ms\n", result.text, result.ms));
  for (const api::TokenLabel& token : result.tokens) {
    const auto best = std::max_element(token.probabilities.begin(), token.probabilities.end());
    print_now(fmt::format("  {:<16} {:<12} {:.4f}\n", token.piece, token.label,
                          best == token.probabilities.end() ? 0.0F : *best));
  }
}

void print_result(const api::Classification& result) {
  if (!result.tokens.empty()) return print_tokens(result);
  const auto best = std::max_element(result.probabilities.begin(), result.probabilities.end());
  print_now(fmt::format("{:<12} {:.4f} {:8.2f} ms  {}\n", result.label,
                        best == result.probabilities.end() ? 0.0F : *best, result.ms, result.text));
}

Result<std::vector<api::Classification>> classify(api::Session& session, const Job& job,
                                                  const Context& context, bool show) {
  ProgressLine progress(context);
  const ProgressCallback tell = show ? ProgressCallback() : progress.callback();
  return session.classify(
      job.texts,
      [&](size_t index, const api::Classification& result) {
        if (show) print_result(result);
        if (tell) tell("Classifying", index + 1, job.texts.size());
        return true;
      },
      context.stop());
}

Result<int> run(const ClassifyOptions& options, const Context& context) {
  ORRERY_ASSIGN(const Job job, read_job(options, context));
  ORRERY_ASSIGN(const auto session, open_session(context, options.open));
  const bool show = !context.json && options.out.empty();
  ORRERY_ASSIGN(const auto results, classify(*session, job, context, show));
  const std::vector<std::string>& labels = session->info().labels;
  if (!options.out.empty()) ORRERY_TRY(write_file(options.out, extended_csv(job.table, results, labels)));
  const Metrics metrics = measure(results, job.given);
  if (!context.json) {
    if (!job.given.empty()) print(confusion_table(metrics));
    return kExitDone;
  }
  Json list = Json::array();
  for (const api::Classification& result : results) list.push_back(to_json(result, labels));
  Json document = {{"results", std::move(list)}};
  if (!job.given.empty()) document.update(to_json(metrics));
  print_json(document);
  return kExitDone;
}

}  // namespace

Runner prepare_classify(Parser& parser, Context& context) {
  const auto options = std::make_shared<ClassifyOptions>();
  add_model_options(parser, options->open);
  Parser source = add_text_options(parser, context, options->texts);
  Option csv = source.add_option("--csv", options->csv, "a table with a header line");
  Option text =
      parser.add_option("--text-column", options->text_column, "the column of --csv with the texts");
  csv.needs(text);
  text.needs(csv);
  parser
      .add_option("--label-column", options->label_column,
                  "the column of --csv with the right labels: adds metrics")
      .needs(csv);
  parser.add_option("--out", options->out, "write the table of --csv with the found labels here").needs(csv);
  for (const char* other : {"--text", "--texts"}) csv.excludes(source.option(other));
  add_output_options(parser, context);
  return [options, &context] { return run(*options, context); };
}

}  // namespace orrery::cli
