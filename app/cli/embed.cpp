#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct EmbedOptions {
  api::OpenOptions open;
  std::string texts;
};

}  // namespace

Runner prepare_embed(Parser& parser, Context& context) {
  const auto options = std::make_shared<EmbedOptions>();
  add_model_options(parser, options->open);
  add_text_options(parser, context, options->texts);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const std::vector<std::string> texts, texts_of(context, options->texts));
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    ORRERY_ASSIGN(const std::vector<api::Embedding> embeddings, session->embed(texts, context.stop()));
    Json document = Json::array();
    for (const api::Embedding& embedding : embeddings) {
      if (context.json) {
        document.push_back({{"text", embedding.text}, {"vector", embedding.vector}});
      } else {
        print(fmt::format("{}\n", fmt::join(embedding.vector, " ")));
      }
    }
    if (context.json) print_json(document);
    return kExitDone;
  };
}

}  // namespace orrery::cli
