#include <fmt/format.h>

#include <algorithm>

#include "app/cli/common_options.h"
#include "app/cli/op_schema.h"
#include "app/cli/verbs.h"

namespace orrery::cli {

Runner prepare_ops(Parser& parser, Context& context) {
  add_output_options(parser, context);
  return [&context]() -> Result<int> {
    const std::vector<api::OpInfo> ops = api::list_ops();
    if (context.json) {
      Json json = Json::array();
      for (const api::OpInfo& op : ops) json.push_back(to_json(op));
      print_json(json);
      return kExitDone;
    }
    size_t width = 0;
    for (const api::OpInfo& op : ops) width = std::max(width, op.op->name.size());
    for (const api::OpInfo& op : ops)
      print(fmt::format("{:<{}} {:<14} {}\n", op.op->name, width, graph::name_of(op.op->family), op.op->doc));
    return kExitDone;
  };
}

}  // namespace orrery::cli
