// The verbs of the command line, one file each. Adding one adds its file, a declaration here and a line in
// verbs.cpp.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <span>
#include <string_view>

#include "app/cli/context.h"
#include "engine/base/result.h"

namespace orrery::cli {

/// Runs a verb once its options are parsed; the exit code, or why it failed.
using Runner = std::function<Result<int>()>;

struct Verb {
  std::string_view name;
  std::string_view doc;
  Runner (*prepare)(CLI::App& app, Context& context);  // adds the verb's options to `app`
};
std::span<const Verb> verbs();

Runner prepare_list(CLI::App& app, Context& context);
Runner prepare_info(CLI::App& app, Context& context);
Runner prepare_metadata(CLI::App& app, Context& context);
Runner prepare_graph(CLI::App& app, Context& context);
Runner prepare_plan(CLI::App& app, Context& context);
Runner prepare_preview(CLI::App& app, Context& context);
Runner prepare_tokenize(CLI::App& app, Context& context);
Runner prepare_render(CLI::App& app, Context& context);
Runner prepare_chat(CLI::App& app, Context& context);
Runner prepare_score(CLI::App& app, Context& context);
Runner prepare_classify(CLI::App& app, Context& context);
Runner prepare_embed(CLI::App& app, Context& context);
Runner prepare_rerank(CLI::App& app, Context& context);
Runner prepare_bench(CLI::App& app, Context& context);
Runner prepare_compare(CLI::App& app, Context& context);
Runner prepare_profile(CLI::App& app, Context& context);
Runner prepare_first_light(CLI::App& app, Context& context);

}  // namespace orrery::cli
