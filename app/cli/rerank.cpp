#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct RerankOptions {
  api::OpenOptions open;
  std::string query, texts;
};

/// Passages by their place, the most relevant first.
std::vector<size_t> ranking(const std::vector<api::Relevance>& relevance) {
  std::vector<size_t> order(relevance.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return relevance[a].logit > relevance[b].logit; });
  return order;
}

}  // namespace

Runner prepare_rerank(Parser& parser, Context& context) {
  const auto options = std::make_shared<RerankOptions>();
  add_model_options(parser, options->open);
  parser.add_option("--query", options->query, "what the passages are to answer").required();
  add_text_options(parser, context, options->texts);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const std::vector<std::string> passages, texts_of(context, options->texts));
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    ORRERY_ASSIGN(const auto relevance, session->rerank(options->query, passages, context.stop()));
    Json document = Json::array();
    for (const size_t place : ranking(relevance)) {
      const api::Relevance& found = relevance[place];
      if (context.json)
        document.push_back(
            {{"index", place}, {"text", passages[place]}, {"score", found.score}, {"logit", found.logit}});
      else
        print(fmt::format("{:.4f}  {}\n", found.score, passages[place]));
    }
    if (context.json) print_json(document);
    return kExitDone;
  };
}

}  // namespace orrery::cli
