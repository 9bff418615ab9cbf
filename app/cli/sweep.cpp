#include "engine/api/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/cli/common_options.h"
#include "app/cli/input.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

constexpr std::chrono::seconds kSaveInterval{1};

struct SweepOptions {
  api::OpenOptions open;
  std::string what, to, text, file, saved;
  bool csv = false;
};

/// Null where there is none, and where it is no number.
Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json row_json(const api::SweepRow& row) {
  Json json = {{"scope", row.scope}, {"edit", row.edit.to_string()}};
  const bool measured = row.refusal.empty();
  const api::MeasuredChange& change = row.change;
  json["kl"] = number_or_null(change.kl);
  json["top1"] = number_or_null(change.top1_agreement);
  json["nll"] = number_or_null(change.nll_after);
  json["cosine"] = number_or_null(change.cosine);
  json["tokens_per_second"] = number_or_null(change.tokens_per_second_after);
  json["bytes"] = measured ? Json(api::weight_bytes(change)) : Json();
  json["ms"] = row.ms;
  json["refusal"] = measured ? Json() : Json(row.refusal);
  return json;
}

std::string table_line(const api::SweepRow& row) {
  const std::string place = fmt::format("{:<36}", row.edit.to_string());
  if (!row.refusal.empty()) return fmt::format("{} refused: {}\n", place, row.refusal);
  const api::MeasuredChange& change = row.change;
  if (change.cosine)
    return fmt::format("{} cosine {:.6f}  {}\n", place, *change.cosine,
                       readable_bytes(api::weight_bytes(change)));
  return fmt::format("{} KL {:9.3g}  top-1 {:5.1f} %  NLL {:+8.4f}  {:6.1f} tokens/s  {}\n", place,
                     *change.kl, 100 * *change.top1_agreement,
                     change.nll_after.value_or(0) - change.nll_before.value_or(0),
                     change.tokens_per_second_after.value_or(0), readable_bytes(api::weight_bytes(change)));
}

/// The places by what they cost: what the person asked a sweep for.
void print_order(const api::Sweep& sweep) {
  constexpr size_t kShown = 8;
  std::vector<const api::SweepRow*> rows;
  for (const api::SweepRow& row : sweep.rows)
    if (row.refusal.empty()) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const api::SweepRow* row) { return api::distance_of(row->change); });
  const auto list = [](const auto& some) {
    std::string line;
    for (const api::SweepRow* row : some) line += (line.empty() ? "" : ", ") + row->edit.to_string();
    return line;
  };
  const size_t shown = std::min(kShown, rows.size());
  if (shown == 0) return;
  print(fmt::format("least changed by: {}\n", list(std::span(rows).first(shown))));
  std::ranges::reverse(rows);
  print(fmt::format("most changed by: {}\n", list(std::span(rows).first(shown))));
}

Json sweep_json(const api::Sweep& sweep) {
  Json rows = Json::array(), before;
  for (const api::SweepRow& row : sweep.rows) {
    rows.push_back(row_json(row));
    if (!before.is_null() || !row.refusal.empty()) continue;
    uint64_t bytes = 0;
    for (const api::MemoryChange& device : row.change.memory) bytes += device.before.weights;
    before = {{"nll", number_or_null(row.change.nll_before)},
              {"tokens_per_second", number_or_null(row.change.tokens_per_second_before)},
              {"bytes", bytes}};
  }
  return {{"what", api::name_of(sweep.request.what)},
          {"to", sweep.request.to.empty() ? Json() : Json(sweep.request.to)},
          {"places", sweep.places},
          {"complete", sweep.complete()},
          {"before", std::move(before)},
          {"rows", std::move(rows)}};
}

Result<api::SweepRequest> request_of(const SweepOptions& options) {
  api::SweepRequest request{.to = options.to, .text = options.text};
  for (const api::SweepKind kind : api::kSweepKinds)
    if (api::name_of(kind) == options.what) request.what = kind;
  if (!options.file.empty()) {
    ORRERY_ASSIGN(request.text, read_file(options.file));
  }
  if (request.what == api::SweepKind::quantise_tensors && request.to.empty()) request.to = "q4_0";
  return request;
}

/// What is saved of a sweep that was begun; a new one where there is nothing.
Result<api::Sweep> begun(const SweepOptions& options) {
  ORRERY_ASSIGN(api::SweepRequest request, request_of(options));
  if (options.saved.empty() || !std::filesystem::exists(options.saved)) return api::Sweep{std::move(request)};
  ORRERY_ASSIGN(const std::string json, read_file(options.saved));
  ORRERY_ASSIGN(api::Sweep sweep, api::parse_sweep(json));
  if (sweep.request == request) return sweep;
  return Error{ErrorCode::invalid_argument, "The saved sweep is of another place, type or text",
               options.saved, "give the same --what, --to and --text, or another file"};
}

/// Tells rows as they come, and saves them where they are to be gone on with.
class SweepReport {
 public:
  SweepReport(const SweepOptions& options, const Context& context, ProgressLine& progress)
      : options_(options), context_(context), progress_(progress), told_(progress.callback()) {}

  /// Those that were there before the sweep went on come with the first of its own.
  void rows_of(const api::Sweep& sweep) {
    progress_.clear();
    while (told_rows_ < sweep.rows.size()) tell(sweep.rows[told_rows_++]);
    if (told_) told_("Measuring", sweep.rows.size(), sweep.places);
    if (std::chrono::steady_clock::now() - saved_ < kSaveInterval || !outcome_.ok()) return;
    outcome_ = save(sweep);
  }

  Result<int> finish(const api::Sweep& sweep) {
    rows_of(sweep);
    progress_.clear();
    ORRERY_TRY(std::move(outcome_));
    ORRERY_TRY(save(sweep));
    if (context_.json) {
      print_json(sweep_json(sweep));
    } else if (!options_.csv) {
      print_order(sweep);
    }
    if (sweep.complete()) return kExitDone;
    note(context_, fmt::format("{} of {} places were measured", sweep.rows.size(), sweep.places));
    return kExitInterrupted;
  }

 private:
  void tell(const api::SweepRow& row) {
    if (context_.json) return;
    if (!options_.csv) return print_now(table_line(row));
    if (!std::exchange(headed_, true)) print_now(api::sweep_csv_line(nullptr));
    print_now(api::sweep_csv_line(&row));
  }

  Result<void> save(const api::Sweep& sweep) {
    saved_ = std::chrono::steady_clock::now();
    if (options_.saved.empty()) return {};
    return write_file(options_.saved, api::write_sweep(sweep));
  }

  const SweepOptions& options_;
  const Context& context_;
  ProgressLine& progress_;
  ProgressCallback told_;
  bool headed_ = false;
  size_t told_rows_ = 0;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  Result<void> outcome_;
};

Result<int> run_sweep(const SweepOptions& options, const Context& context) {
  ORRERY_ASSIGN(api::Sweep begun_sweep, begun(options));
  ORRERY_ASSIGN(const auto session, open_session(context, options.open));
  ProgressLine progress(context);
  SweepReport report(options, context, progress);
  ORRERY_ASSIGN(const api::Sweep done,
                api::sweep(
                    *session, std::move(begun_sweep),
                    [&report](const api::Sweep& sweep) { report.rows_of(sweep); }, context.stop()));
  return report.finish(done);
}

}  // namespace

Runner prepare_sweep(Parser& parser, Context& context) {
  const auto options = std::make_shared<SweepOptions>();
  add_model_options(parser, options->open);
  std::vector<std::string> kinds;
  for (const api::SweepKind kind : api::kSweepKinds) kinds.emplace_back(api::name_of(kind));
  parser
      .add_option(
          "--what", options->what,
          "what is tried at each place: a layer left out, a matrix in another type, a head that gives "
          "zero, a linear that rounds otherwise, a layer on another device")
      .required()
      .one_of(kinds);
  parser.add_option(
      "--to,--type", options->to,
      "of quantise-tensors the type (none: q4_0); of precision what may be rounded to, as int8; of "
      "place-layers a device, as cuda:0");
  const Option text =
      parser.add_option("--text", options->text, "what is read; none: a paragraph of its own");
  parser.add_option("--file", options->file, "the whole of a file instead").excludes(text);
  parser.add_option("--resume", options->saved,
                    "FILE.json: rows are kept in it; where it exists, the sweep resumes from it");
  parser.add_flag("--csv", options->csv, "rows as CSV, each as it is measured");
  add_output_options(parser, context);
  parser.option("--csv").excludes(parser.option("--json"));
  return [options, &context] { return run_sweep(*options, context); };
}

}  // namespace orrery::cli
