#include "engine/api/metadata.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

using Action = MetadataEdit::Action;

struct MetadataOptions {
  std::string model, out;
  std::vector<std::string> set, remove, rename;
};

/// KEY=VALUE or KEY:TYPE=VALUE. A key has no "=", and its type none either.
Result<MetadataEdit> parse_set(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{ErrorCode::invalid_argument, "\"" + text + "\" sets nothing", "--set", "write KEY=VALUE"};
  const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
  const size_t colon = key.rfind(':');
  if (colon == std::string::npos) return MetadataEdit{Action::set, key, value, ""};
  return MetadataEdit{Action::set, key.substr(0, colon), value, key.substr(colon + 1)};
}

/// In the order: removed, renamed, set.
Result<std::vector<MetadataEdit>> edits_of(const MetadataOptions& options) {
  std::vector<MetadataEdit> edits;
  for (const std::string& key : options.remove) edits.push_back({Action::remove, key});
  for (const std::string& text : options.rename) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return Error{ErrorCode::invalid_argument, "\"" + text + "\" renames nothing", "--rename",
                   "write OLD=NEW"};
    edits.push_back({Action::rename, text.substr(0, equals), text.substr(equals + 1)});
  }
  for (const std::string& text : options.set) {
    ORRERY_ASSIGN(MetadataEdit edit, parse_set(text));
    edits.push_back(std::move(edit));
  }
  return edits;
}

Result<int> print_keys(const MetadataOptions& options, const Context& context) {
  ORRERY_ASSIGN(const auto keys, api::list_metadata(options.model));
  if (context.json) {
    Json document = Json::array();
    for (const api::MetadataKey& key : keys)
      document.push_back({{"key", key.name}, {"type", key.type}, {"value", key.value}});
    print_json({{"keys", std::move(document)}});
    return kExitDone;
  }
  for (const api::MetadataKey& key : keys)
    print(fmt::format("{:<48} {:<9} {}\n", key.name, key.type, key.value));
  return kExitDone;
}

Result<int> save(const MetadataOptions& options, const Context& context) {
  ORRERY_ASSIGN(const std::vector<MetadataEdit> edits, edits_of(options));
  {
    ProgressLine progress(context);
    ORRERY_TRY(api::save_metadata(options.model, edits, options.out, progress.callback(), context.stop()));
  }
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(options.out, error);
  if (context.json)
    print_json({{"path", options.out}, {"bytes", bytes}, {"edits", edits.size()}});
  else
    print(fmt::format("{} ({})\n", options.out, readable_bytes(bytes)));
  return kExitDone;
}

}  // namespace

Runner prepare_metadata(Parser& parser, Context& context) {
  const auto options = std::make_shared<MetadataOptions>();
  add_model_name(parser, options->model);
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* doc) {
    return parser.add_option(name, values, doc).one_value().take_all();
  };
  Option out = parser.add_option("--out", options->out, "the new file; the tensors are copied byte for byte");
  repeated("--set", options->set,
           "KEY=VALUE or KEY:TYPE=VALUE; a known key keeps its type, a new one is a string; arrays as JSON")
      .needs(out);
  repeated("--remove", options->remove, "KEY").needs(out);
  repeated("--rename", options->rename, "OLD=NEW").needs(out);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    return options->out.empty() ? print_keys(*options, context) : save(*options, context);
  };
}

}  // namespace orrery::cli
