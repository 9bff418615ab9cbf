#include <fmt/format.h>

#include <limits>

#include "app/cli/common_options.h"
#include "app/cli/conversation.h"
#include "app/cli/sampling_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct ChatOptions {
  api::OpenOptions open;
  std::string system, prompt;
  bool raw = false;
  Option given_prompt;
  TemplateFiles files;
  api::ChatRequest request;
};

Json to_json(const api::ChatResult& result) {
  Json tokens = Json::array();
  for (const api::TokenEvent& token : result.tokens) {
    Json top = Json::array();
    for (const api::TokenAlternative& other : token.top)
      top.push_back({{"id", other.id}, {"piece", other.piece}, {"logprob", other.logprob}});
    tokens.push_back(
        {{"id", token.id}, {"piece", token.piece}, {"logprob", token.logprob}, {"top", std::move(top)}});
  }
  return {{"text", result.text},
          {"tokens", std::move(tokens)},
          {"stop_reason", result.stop_reason},
          {"prompt_tokens", result.prompt_tokens},
          {"reused_tokens", result.reused_tokens},
          {"left_out_messages", result.left_out_messages},
          {"forgotten_tokens", result.forgotten_tokens},
          {"prefill_ms", result.prefill_ms},
          {"decode_ms", result.decode_ms},
          {"prefill_tokens_per_second", result.prefill_tokens_per_second},
          {"decode_tokens_per_second", result.decode_tokens_per_second},
          {"time_to_first_token_ms", result.time_to_first_token_ms}};
}

void print_alternatives(const api::TokenEvent& token) {
  const auto shown = [](const std::string& piece) {
    return Json(piece).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string line = fmt::format("{:<16} {:8.4f} ", shown(token.piece), token.logprob);
  for (const api::TokenAlternative& other : token.top)
    line += fmt::format("  {} {:.3f}", shown(other.piece), other.logprob);
  fmt::print(stderr, "{}\n", line);
}

Result<int> one_reply(api::Session& session, ChatOptions& options, const Context& context) {
  if (options.raw) {
    options.request.raw = options.prompt;
    options.request.messages.clear();
  } else {
    options.request.messages.push_back({"user", options.prompt});
  }
  api::ChatEvents events;
  if (!context.json) events.on_token = [](const api::TokenEvent& token) { print_now(token.text); };
  ORRERY_ASSIGN(const api::ChatResult result, session.chat(options.request, events, context.stop()));
  if (context.json) {
    print_json(to_json(result));
  } else {
    print_now("\n");
    if (options.request.logprobs > 0)
      for (const api::TokenEvent& token : result.tokens) print_alternatives(token);
    note(context, figures_of(result));
  }
  return result.stop_reason == "cancelled" ? kExitInterrupted : kExitDone;
}

}  // namespace

Runner prepare_chat(Parser& parser, Context& context) {
  const auto options = std::make_shared<ChatOptions>();
  add_model_options(parser, options->open);
  parser.add_option("--system", options->system, "system message");
  options->given_prompt =
      parser.add_option("--prompt", options->prompt, "one message; without it, a conversation");
  parser.add_flag("--raw", options->raw, "no chat template: the prompt is continued as it is")
      .needs(options->given_prompt);
  parser.add_option("--max-tokens", options->request.max_tokens, "longest reply")
      .range(1, std::numeric_limits<int64_t>::max())
      .show_default();
  parser.add_flag("--context-shift", options->request.context_shift,
                  "when the context is full, leave out the oldest messages instead of stopping");
  add_template_options(parser, options->files);
  add_sampling_options(parser, options->request.sampling);
  parser.add_option("--logprobs", options->request.logprobs, "the N likeliest tokens at each place")
      .range(0, 20);
  add_output_options(parser, context);
  parser.when_parsed([options, &context] {
    if (context.json && !options->given_prompt.given())
      throw UsageError("--prompt (a conversation has no single JSON document) is required");
  });
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(options->request.template_options, read_template_options(options->files));
    if (!options->system.empty()) options->request.messages.push_back({"system", options->system});
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    if (!options->given_prompt.given()) return converse(*session, options->request, context);
    return one_reply(*session, *options, context);
  };
}

}  // namespace orrery::cli
