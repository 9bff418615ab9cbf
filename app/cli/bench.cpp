#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct BenchOptions {
  api::OpenOptions open;
  api::BenchOptions bench;
  std::vector<std::string> edits;
  std::string depths;
};

/// "1000,10000"
Result<std::vector<int64_t>> depths_of(std::string_view words) {
  std::vector<int64_t> depths;
  while (!words.empty()) {
    const size_t end = std::min(words.find(','), words.size());
    int64_t depth = 0;
    const auto [rest, problem] = std::from_chars(words.data(), words.data() + end, depth);
    if (problem != std::errc() || rest != words.data() + end || depth < 1 || depth > (1 << 20))
      return Error{ErrorCode::invalid_argument, fmt::format("\"{}\" is no depth", words.substr(0, end)),
                   "--depths", "give numbers from 1 to 1048576 with commas between"};
    depths.push_back(depth);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return depths;
}

Json to_json(const api::Rate& rate) {
  return {{"tokens", rate.tokens},
          {"tokens_per_second", rate.tokens_per_second},
          {"sd", rate.sd},
          {"min", rate.min},
          {"max", rate.max}};
}

Json to_json(const api::BenchResult& result) {
  Json document = Json::object();
  if (result.prefill) document["prefill"] = to_json(*result.prefill);
  if (result.decode) document["decode"] = to_json(*result.decode);
  if (result.encode)
    document["encode"] = {
        {"batch", result.encode->batch},   {"tokens", result.encode->tokens},
        {"ms", result.encode->ms},         {"min_ms", result.encode->min_ms},
        {"max_ms", result.encode->max_ms}, {"sequences_per_second", result.encode->sequences_per_second}};
  for (const api::BenchResult::Depth& depth : result.depths)
    document["depths"].push_back({{"tokens", depth.tokens},
                                  {"ms_per_token", depth.ms},
                                  {"min_ms", depth.min_ms},
                                  {"max_ms", depth.max_ms},
                                  {"context_bytes", depth.context_bytes},
                                  {"tokens_read", depth.read},
                                  {"read_ms", depth.read_ms}});
  document["device"] = result.device;
  document["threads"] = result.threads;
  return document;
}

void print_rates(const api::BenchResult& result, int repeats) {
  const auto line = [&](std::string_view name, const api::Rate& rate) {
    print(fmt::format("{:<8} {:>6} tokens  {:>9.2f} tokens/s, median of {} ({:.2f} to {:.2f})\n", name,
                      rate.tokens, rate.tokens_per_second, repeats, rate.min, rate.max));
  };
  if (result.prefill) line("prefill", *result.prefill);
  if (result.decode) line("decode", *result.decode);
  if (result.encode)
    print(fmt::format(
        "encode   {:>2} x {} tokens  {:>9.3f} ms, median of {} ({:.3f} to {:.3f}), {:.2f} sequences/s\n",
        result.encode->batch, result.encode->tokens, result.encode->ms, repeats, result.encode->min_ms,
        result.encode->max_ms, result.encode->sequences_per_second));
  for (const api::BenchResult::Depth& depth : result.depths)
    print(fmt::format(
        "at {:>7} tokens  {:>9.3f} ms a token, median of {} ({:.3f} to {:.3f}), context {:.1f} MiB\n",
        depth.tokens, depth.ms, repeats, depth.min_ms, depth.max_ms,
        static_cast<double>(depth.context_bytes) / (1 << 20)));
  print(fmt::format("on {}, {} threads\n", result.device, result.threads));
}

}  // namespace

Runner prepare_bench(Parser& parser, Context& context) {
  const auto options = std::make_shared<BenchOptions>();
  add_model_options(parser, options->open);
  api::BenchOptions& bench = options->bench;
  constexpr int64_t kMostTokens = 1 << 20, kMostAtOnce = 1 << 16;
  add_step_options(parser, bench.prompt, bench.gen);
  parser.add_option("--depth", bench.depth, "tokens already in the context, which grows with it")
      .range(0, kMostTokens)
      .show_default();
  parser.add_option(
      "--depths", options->depths,
      "as 1000,10000: what a token takes after so many, one text read on to each, and nothing else");
  parser
      .add_option("--edit", options->edits,
                  "an edit before it, such as attention scope=layers.* kind=fastmax")
      .one_value()
      .take_all();
  parser.add_option("--batch", bench.batch, "sequences at once").range(1, kMostAtOnce).show_default();
  parser.add_option("--tokens", bench.tokens, "encoders: tokens of each sequence")
      .range(1, kMostAtOnce)
      .show_default();
  parser.add_option("--repeats", bench.repeats, "runs that count").range(1, 1000).show_default();
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(options->bench.depths, depths_of(options->depths));
    options->open.least_context = api::bench_context(options->bench);
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    for (const std::string& words : options->edits) {
      ORRERY_ASSIGN(const edit::Edit edit, edit::parse_edit(words));
      ORRERY_TRY(session->apply(edit));
    }
    ProgressLine progress(context);
    ORRERY_ASSIGN(const api::BenchResult result,
                  session->bench(options->bench, progress.callback(), context.stop()));
    progress.clear();
    if (context.json) {
      print_json(to_json(result));
    } else {
      print_rates(result, options->bench.repeats);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
