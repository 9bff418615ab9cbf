#include <fmt/format.h>

#include <algorithm>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"
#include "engine/api/pass_gain.h"

namespace orrery::cli {
namespace {

struct PassesOptions {
  api::OpenOptions open;
  api::PassGainOptions gain;
  bool measure = false;
  std::vector<std::string> only;
};
using Gains = std::vector<std::pair<api::PassReport, std::optional<api::PassGain>>>;

Json to_json(const api::StepSpread& spread) {
  return {{"us", spread.us}, {"low", spread.low}, {"high", spread.high}};
}

Json to_json(const api::StepGain& gain) {
  return {{"with", to_json(gain.with)},
          {"without", to_json(gain.without)},
          {"change", gain.change()},
          {"within_noise", gain.within_noise()}};
}

Json to_json(const api::PassReport& pass, const std::optional<api::PassGain>& gain) {
  Json row = {{"name", pass.name},
              {"doc", pass.doc},
              {"disabled", pass.disabled},
              {"rewrites", pass.rewrites},
              {"ms", pass.ms},
              {"nodes_before", pass.nodes_before},
              {"nodes_after", pass.nodes_after}};
  if (!gain) return row;
  row["rounds"] = gain->rounds;
  if (gain->decode) row["decode"] = to_json(*gain->decode);
  if (gain->prefill) row["prefill"] = to_json(*gain->prefill);
  if (gain->encode) row["encode"] = to_json(*gain->encode);
  return row;
}

void print_gain(std::string_view what, const std::optional<api::StepGain>& gain) {
  if (!gain) return;
  const auto words = [](const api::StepSpread& spread) {
    return fmt::format("{:.3f} ms ({:.3f} to {:.3f})", spread.us / 1e3, spread.low / 1e3, spread.high / 1e3);
  };
  print(fmt::format("    {:<8} with {}, without {}: {}\n", what, words(gain->with), words(gain->without),
                    gain->within_noise() ? "within noise" : fmt::format("{:+.1f} %", 100 * gain->change())));
}

void print_rows(const Gains& rows) {
  for (const auto& [pass, gain] : rows) {
    const std::string did = pass.disabled ? "switched off" : fmt::format("{} rewritten", pass.rewrites);
    print(fmt::format("{:<22} {:<14} {:>5} -> {:<5} nodes  {:>7.2f} ms  {}\n", pass.name, did,
                      pass.nodes_before, pass.nodes_after, pass.ms, pass.doc));
    if (!gain) continue;
    if (gain->rewrites == 0) print("    finds nothing here\n");
    print_gain("decode", gain->decode);
    print_gain("prefill", gain->prefill);
    print_gain("text", gain->encode);
  }
}

Error no_pass(const std::string& name) {
  return {ErrorCode::invalid_argument, fmt::format("There is no pass \"{}\"", name.substr(0, 80)), "--pass",
          "`orrery-cli passes MODEL` lists them"};
}

Result<Gains> rows_of(const api::Session& session, const PassesOptions& options, Context& context) {
  ORRERY_ASSIGN(const std::vector<api::PassReport> passes, api::pass_reports(session));
  for (const std::string& name : options.only)
    if (std::ranges::find(passes, name, &api::PassReport::name) == passes.end()) return no_pass(name);
  Gains rows;
  ProgressLine progress(context);
  for (const api::PassReport& pass : passes) {
    if (!options.only.empty() && std::ranges::find(options.only, pass.name) == options.only.end()) continue;
    std::optional<api::PassGain> gain;
    if (options.measure) {
      ORRERY_ASSIGN(gain,
                    api::pass_gain(session, pass.name, options.gain, progress.callback(), context.stop()));
    }
    rows.emplace_back(pass, std::move(gain));
  }
  progress.clear();
  return rows;
}

}  // namespace

Runner prepare_passes(Parser& parser, Context& context) {
  const auto options = std::make_shared<PassesOptions>();
  add_model_options(parser, options->open);
  constexpr int64_t kMostTokens = 1 << 20;
  parser.add_flag("--measure", options->measure,
                  "the time of a step with each pass and without it, in turns");
  parser.add_option("--pass", options->only, "this pass alone; may be given again").one_value().take_all();
  api::PassGainOptions& gain = options->gain;
  add_step_options(parser, gain.prompt, gain.gen);
  parser.add_option("--tokens", gain.tokens, "encoders: tokens of the text")
      .range(1, kMostTokens)
      .show_default();
  parser.add_option("--rounds", gain.rounds, "how often both are measured").range(1, 1000).show_default();
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    ORRERY_ASSIGN(const Gains rows, rows_of(*session, *options, context));
    if (!context.json) {
      print_rows(rows);
      return kExitDone;
    }
    Json passes = Json::array();
    for (const auto& [pass, measured] : rows) passes.push_back(to_json(pass, measured));
    print_json({{"passes", std::move(passes)}});
    return kExitDone;
  };
}

}  // namespace orrery::cli
