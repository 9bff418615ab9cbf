#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/input.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct ScoreOptions {
  api::OpenOptions open;
  std::string text, file, texts;
  int top = 0;
};

Json figures_json(const api::ScoreResult& score) {
  Json top = Json::array();
  for (const api::TokenAlternative& token : score.last_top)
    top.push_back({{"id", token.id}, {"logprob", token.logprob}});
  return {{"tokens", score.tokens},
          {"nll_per_token", score.nll_per_token},
          {"perplexity", score.perplexity},
          {"last_top", std::move(top)}};
}

void print_score(const api::ScoreResult& score) {
  print(fmt::format("{} tokens, {:.5f} nats each, perplexity {:.4f}\n", score.tokens, score.nll_per_token,
                    score.perplexity));
  for (const api::TokenAlternative& token : score.last_top)
    print(fmt::format("{:>7}  {:9.5f}  {}\n", token.id, token.logprob,
                      Json(token.piece).dump(-1, ' ', false, Json::error_handler_t::replace)));
}

Result<std::vector<std::string>> texts_to_score(const ScoreOptions& options) {
  if (!options.texts.empty()) return read_texts(options.texts);
  if (options.file.empty()) return std::vector<std::string>{options.text};
  ORRERY_ASSIGN(std::string text, read_file(options.file));
  return std::vector<std::string>{std::move(text)};
}

}  // namespace

Runner prepare_score(Parser& parser, Context& context) {
  const auto options = std::make_shared<ScoreOptions>();
  add_model_options(parser, options->open);
  Parser source = parser.add_group("text", "what is scored");
  source.add_option("--text", options->text, "a text");
  source.add_option("--file", options->file, "the whole of a file");
  source.add_option("--texts", options->texts, "a JSON array of strings, FILE.json; the answer is an array");
  source.require_options(1, 1);
  parser.add_option("--top", options->top, "the N likeliest next tokens after the text").range(0, 1000);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const std::vector<std::string> texts, texts_to_score(*options));
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    Json document = Json::array();
    for (const std::string& text : texts) {
      ORRERY_ASSIGN(const api::ScoreResult score, session->score(text, options->top, context.stop()));
      if (context.json) {
        document.push_back(figures_json(score));
      } else {
        print_score(score);
      }
    }
    if (context.json) print_json(options->texts.empty() ? document.front() : document);
    return kExitDone;
  };
}

}  // namespace orrery::cli
