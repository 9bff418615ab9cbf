#include "app/cli/first_light.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "app/cli/common_options.h"
#include "app/cli/conversation.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

constexpr const char* kQuestion = "What is a neural network?";
constexpr const char* kSentence = "I loved every minute of this film.";
constexpr int64_t kAnswerTokens = 96;

Result<Json> answer(api::Session& session, const Context& context) {
  api::ChatRequest request;
  request.messages = {{"user", kQuestion}};
  request.max_tokens = kAnswerTokens;
  request.sampling.temperature = 0;
  api::ChatEvents events;
  if (!context.json) {
    print_now(fmt::format("> {}\n", kQuestion));
    events.on_token = [](const api::TokenEvent& token) { print_now(token.text); };
  }
  ORRERY_ASSIGN(const api::ChatResult result, session.chat(request, events, context.stop()));
  if (result.stop_reason == "cancelled") return cancelled_error();
  if (!context.json) print_now(fmt::format("\n  {}\n", figures_of(result)));
  return Json{{"question", kQuestion},
              {"answer", result.text},
              {"time_to_first_token_ms", result.time_to_first_token_ms},
              {"decode_tokens_per_second", result.decode_tokens_per_second}};
}

Result<Json> label(api::Session& session, const Context& context) {
  ORRERY_ASSIGN(const auto results, session.classify({kSentence}, {}, context.stop()));
  if (results.empty()) return cancelled_error();
  const api::Classification& result = results.front();
  const auto best = std::max_element(result.probabilities.begin(), result.probabilities.end());
  if (!context.json)
    print_now(fmt::format("> {}\n{}, {:.1f} %\n  {:.3g} ms\n", kSentence, result.label,
                          best == result.probabilities.end() ? 0.0 : 100.0 * *best, result.ms));
  return Json{{"sentence", kSentence}, {"label", result.label}, {"ms", result.ms}};
}

Result<Json> vector_of(api::Session& session, const Context& context) {
  ORRERY_ASSIGN(const auto results, session.embed({kSentence}, context.stop()));
  if (results.empty()) return cancelled_error();
  if (!context.json)
    print_now(fmt::format("> {}\na vector of {} numbers\n", kSentence, results.front().vector.size()));
  return Json{{"sentence", kSentence}, {"vector", results.front().vector}};
}

/// What the model is made for, once; under the key by which the JSON document holds it.
Result<Json> look(Context& context, const std::string& model) {
  api::OpenOptions options;
  options.model = model;
  ORRERY_ASSIGN(const auto session, open_session(context, options));
  Json document = Json::object();
  if (session->info().task == api::Task::generate) {
    ORRERY_ASSIGN(document["chat"], answer(*session, context));
  } else if (session->info().task == api::Task::classify) {
    ORRERY_ASSIGN(document["classify"], label(*session, context));
  } else {
    ORRERY_ASSIGN(document["embed"], vector_of(*session, context));
  }
  return document;
}

Result<int> talk(Context& context, const std::string& model) {
  api::OpenOptions options;
  options.model = model;
  ORRERY_ASSIGN(const auto session, open_session(context, options));
  return converse(*session, {}, context);
}

}  // namespace

Result<int> first_light(Context& context, const std::string& model) {
  const bool terminal = !context.json && stdout_is_terminal() && isatty(STDIN_FILENO) == 1;
  if (terminal && model.empty()) return talk(context, "smollm2");
  if (terminal) {
    ORRERY_ASSIGN(const api::ModelInfo info, api::inspect(model, "", 0, "f16"));
    if (info.task == api::Task::generate) return talk(context, model);
  }
  Json document = Json::object();
  const std::vector<std::string> models =
      model.empty() ? std::vector<std::string>{"smollm2", "sentiment"} : std::vector<std::string>{model};
  for (const std::string& name : models) {
    ORRERY_ASSIGN(const Json part, look(context, name));
    document.update(part);
  }
  if (context.json) print_json(document);
  return kExitDone;
}

Runner prepare_first_light(Parser& parser, Context& context) {
  const auto model = std::make_shared<std::string>();
  add_model_name(parser, *model, false);
  add_output_options(parser, context);
  return [model, &context] { return first_light(context, *model); };
}

}  // namespace orrery::cli
