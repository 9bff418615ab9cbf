#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {

Runner prepare_list(Parser& parser, Context& context) {
  const auto folders = std::make_shared<std::vector<std::string>>();
  parser.add_option("DIR", *folders, "folders to look into, beside the default models");
  add_output_options(parser, context);
  return [folders, &context]() -> Result<int> {
    const std::vector<api::LibraryEntry> entries = api::list_models(*folders);
    if (context.json) {
      Json document = Json::array();
      for (const api::LibraryEntry& entry : entries)
        document.push_back({{"name", entry.name},
                            {"path", entry.path},
                            {"format", entry.format},
                            {"architecture", entry.architecture},
                            {"parameters", entry.parameters},
                            {"bytes", entry.bytes}});
      print_json(document);
      return kExitDone;
    }
    for (const api::LibraryEntry& entry : entries)
      print(fmt::format("{:<24} {:<12} {:>8} {:>10}  {}\n", entry.name, entry.architecture,
                        readable_count(entry.parameters), readable_bytes(entry.bytes), entry.path));
    if (entries.empty())
      note(context,
           "No models yet; ./bootstrap.sh fetches the default ones into " + api::default_models_folder());
    return kExitDone;
  };
}

}  // namespace orrery::cli
