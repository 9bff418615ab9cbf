// The verbs of the command line, one file each. Adding one adds its file, a declaration here and a line in
// verbs.cpp.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "app/cli/context.h"
#include "app/cli/parser.h"
#include "engine/base/result.h"

namespace orrery::cli {

/// Runs a verb once its options are parsed; the exit code, or why it failed.
using Runner = std::function<Result<int>()>;

struct Verb {
  std::string_view name;
  std::string_view doc;
  Runner (*prepare)(Parser& parser, Context& context);  // adds the verb's options
  bool own_ops = true;                                  // it may use ops of one's own
};
std::span<const Verb> verbs();

Runner prepare_list(Parser& parser, Context& context);
Runner prepare_info(Parser& parser, Context& context);
Runner prepare_metadata(Parser& parser, Context& context);
Runner prepare_graph(Parser& parser, Context& context);
Runner prepare_plan(Parser& parser, Context& context);
Runner prepare_passes(Parser& parser, Context& context);
Runner prepare_preview(Parser& parser, Context& context);
Runner prepare_sweep(Parser& parser, Context& context);
Runner prepare_mix(Parser& parser, Context& context);
Runner prepare_diff(Parser& parser, Context& context);
Runner prepare_recipe(Parser& parser, Context& context);
Runner prepare_export(Parser& parser, Context& context);
Runner prepare_ops(Parser& parser, Context& context);
Runner prepare_op(Parser& parser, Context& context);
Runner prepare_custom(Parser& parser, Context& context);
Runner prepare_run(Parser& parser, Context& context);
Runner prepare_lab(Parser& parser, Context& context);
Runner prepare_tokenize(Parser& parser, Context& context);
Runner prepare_render(Parser& parser, Context& context);
Runner prepare_chat(Parser& parser, Context& context);
Runner prepare_score(Parser& parser, Context& context);
Runner prepare_attribute(Parser& parser, Context& context);
Runner prepare_classify(Parser& parser, Context& context);
Runner prepare_embed(Parser& parser, Context& context);
Runner prepare_rerank(Parser& parser, Context& context);
Runner prepare_bench(Parser& parser, Context& context);
Runner prepare_compare(Parser& parser, Context& context);
Runner prepare_profile(Parser& parser, Context& context);
Runner prepare_first_light(Parser& parser, Context& context);

}  // namespace orrery::cli
