#include "engine/api/attribution.h"

#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct AttributeOptions {
  api::OpenOptions open;
  api::AttributionRequest request;
};

std::string shown(const std::string& piece) {
  return Json(piece).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_attribution(const api::Attribution& attribution) {
  print(fmt::format("{} ({}): logit {:.4f}, probability {:.4f}\n", shown(attribution.target_name),
                    attribution.target, attribution.logit, attribution.probability));
  for (const api::TokenScore& token : attribution.tokens)
    print(fmt::format("{:>7}  {:>10.4f}  {}\n", token.id, token.score, shown(token.piece)));
}

Json json_of(const api::Attribution& attribution) {
  Json tokens = Json::array();
  for (const api::TokenScore& token : attribution.tokens)
    tokens.push_back({{"id", token.id}, {"piece", token.piece}, {"score", token.score}});
  return {{"target", {{"id", attribution.target}, {"name", attribution.target_name}}},
          {"logit", attribution.logit},
          {"probability", attribution.probability},
          {"tokens", std::move(tokens)},
          {"ms", attribution.ms}};
}

}  // namespace

Runner prepare_attribute(Parser& parser, Context& context) {
  const auto options = std::make_shared<AttributeOptions>();
  add_model_options(parser, options->open);
  parser.add_option("--text", options->request.text, "the text that the model reads").required();
  parser.add_option("--target", options->request.target,
                    "what the scores are for: the next token, as a text or by its id, or a label by its name "
                    "or its number; without it the likeliest");
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    ORRERY_ASSIGN(const api::Attribution attribution,
                  api::attribute(*session, options->request, {{}, context.stop()}));
    if (context.json)
      print_json(json_of(attribution));
    else
      print_attribution(attribution);
    return kExitDone;
  };
}

}  // namespace orrery::cli
