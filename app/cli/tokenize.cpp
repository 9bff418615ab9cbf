#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/input.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct TokenizeOptions {
  std::string model;
  bool special = false, decode = false;
};

Result<int> encode(const api::TextTools& tools, const TokenizeOptions& options, const Context& context) {
  const std::vector<int32_t> ids = tools.encode(read_stdin(), options.special);
  Json pieces = Json::array();
  for (const int32_t id : ids) pieces.push_back(tools.piece(id));
  if (context.json) {
    print_json({{"ids", ids}, {"pieces", std::move(pieces)}});
    return kExitDone;
  }
  for (size_t i = 0; i < ids.size(); ++i)
    print(fmt::format("{:>7}  {}\n", ids[i], pieces[i].dump(-1, ' ', false, Json::error_handler_t::replace)));
  return kExitDone;
}

Result<int> decode(const api::TextTools& tools, const Context& context) {
  ORRERY_ASSIGN(const std::vector<int32_t> ids, parse_ids(read_stdin()));
  const std::string text = tools.decode(ids);
  if (context.json) {
    print_json({{"ids", ids}, {"text", text}});
  } else {
    print(text);
  }
  return kExitDone;
}

}  // namespace

Runner prepare_tokenize(Parser& parser, Context& context) {
  const auto options = std::make_shared<TokenizeOptions>();
  add_model_name(parser, options->model);
  parser.add_flag("--special", options->special, "add what the model adds around a text (BOS, CLS, SEP)");
  parser.add_flag("--decode", options->decode, "the other way: ids on stdin, text on stdout");
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const auto tools, api::TextTools::open(options->model));
    return options->decode ? decode(*tools, context) : encode(*tools, *options, context);
  };
}

}  // namespace orrery::cli
