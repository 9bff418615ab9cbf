#include "app/cli/first_light.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "app/cli/common_options.h"
#include "app/cli/conversation.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

constexpr const char* kQuestion = "What is the capital of France?";
constexpr const char* kSentence = "I loved every minute of this film.";

Result<std::shared_ptr<api::Session>> open_default(const Context& context, const char* model) {
  api::OpenOptions options;
  options.model = model;
  return open_session(context, options);
}

Result<Json> answer(const Context& context) {
  ORRERY_ASSIGN(const auto session, open_default(context, "smollm2"));
  api::ChatRequest request;
  request.messages = {{"user", kQuestion}};
  request.max_tokens = 64;
  request.sampling.temperature = 0;
  ORRERY_ASSIGN(const api::ChatResult result, session->chat(request, {}, context.stop()));
  if (result.stop_reason == "cancelled") return cancelled_error();
  if (!context.json) print_now(fmt::format("{}\n{}\n  {}\n", kQuestion, result.text, figures_of(result)));
  return Json{{"question", kQuestion},
              {"answer", result.text},
              {"time_to_first_token_ms", result.time_to_first_token_ms},
              {"decode_tokens_per_second", result.decode_tokens_per_second}};
}

Result<Json> label(const Context& context) {
  ORRERY_ASSIGN(const auto session, open_default(context, "sentiment"));
  ORRERY_ASSIGN(const auto results, session->classify({kSentence}, {}, context.stop()));
  if (results.empty()) return cancelled_error();
  const api::Classification& result = results.front();
  const auto best = std::max_element(result.probabilities.begin(), result.probabilities.end());
  if (!context.json)
    print_now(fmt::format("{}\n{}, {:.1f} %\n  {:.3g} ms\n", kSentence, result.label,
                          best == result.probabilities.end() ? 0.0 : 100.0 * *best, result.ms));
  return Json{{"sentence", kSentence}, {"label", result.label}, {"ms", result.ms}};
}

}  // namespace

Result<int> first_light(Context& context) {
  if (!context.json && stdout_is_terminal() && isatty(STDIN_FILENO) == 1) {
    ORRERY_ASSIGN(const auto session, open_default(context, "smollm2"));
    return converse(*session, {}, context);
  }
  ORRERY_ASSIGN(const Json chat, answer(context));
  ORRERY_ASSIGN(const Json classification, label(context));
  if (context.json) print_json({{"chat", chat}, {"classify", classification}});
  return kExitDone;
}

Runner prepare_first_light(CLI::App& app, Context& context) {
  add_output_options(app, context);
  return [&context] { return first_light(context); };
}

}  // namespace orrery::cli
