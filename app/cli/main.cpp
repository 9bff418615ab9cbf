// orrery-cli: the engine without a window. Exit 0 done, 1 failed, 2 wrong usage, 130 interrupted.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "app/cli/common_options.h"
#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "app/cli/verbs.h"
#include "engine/api/own_ops.h"

namespace orrery::cli {
namespace {

std::string known_verbs() {
  std::string names;
  for (const Verb& verb : verbs()) names += (names.empty() ? "" : ", ") + std::string(verb.name);
  return names;
}

bool is_known(std::string_view name) {
  for (const Verb& verb : verbs())
    if (verb.name == name) return true;
  return false;
}

/// The verbs whose --text may have several values.
bool takes_texts(std::string_view verb) { return verb == "classify" || verb == "embed"; }

/// What is missing is named; the verb says itself whether it needs it.
void join_own_ops(const Context& context) {
  for (const Error& error : api::join_own_ops({{}, context.stop()}))
    note(context, "an op of one's own is not there: " + error.to_string());
}

/// The exit code of a verb's outcome, its error told.
int finish(const Result<int>& outcome) {
  if (!outcome.ok()) {
    if (outcome.error().code == ErrorCode::cancelled) return kExitInterrupted;
    print_error(outcome.error());
    return kExitFailed;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_error({ErrorCode::io, "The output could not be written", "stdout", "Check where it goes to"});
    return kExitFailed;
  }
  return *outcome;
}

int run(int argc, char** argv) {
  Interrupts interrupts;
  Context context{.interrupts = interrupts};
  CommandLine line("orrery-cli", "Orrery's engine on the command line",
                   std::string("orrery-cli ") + ORRERY_VERSION,
                   "Exit codes: 0 done, 1 failed (one line on stderr), 2 wrong usage, 130 interrupted.\n"
                   "\"orrery-cli VERB --help\" says all about one verb.");
  Runner chosen;
  for (const Verb& verb : verbs()) {
    Parser parser = line.add_verb(std::string(verb.name), std::string(verb.doc));
    parser.when_chosen([&chosen, &context, own_ops = verb.own_ops, runner = verb.prepare(parser, context)] {
      chosen = [&context, own_ops, runner] {
        if (own_ops) join_own_ops(context);
        return runner();
      };
    });
  }
  if (argc > 1 && argv[1][0] != '-' && !is_known(argv[1])) {
    print_usage_error(
        fmt::format("There is no verb \"{}\" (orrery-cli): Use one of {}", argv[1], known_verbs()));
    return kExitUsage;
  }
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (argc > 1 && takes_texts(argv[1])) take_texts(arguments, context.texts);
    if (const auto shown = line.parse(std::move(arguments))) return *shown;
  } catch (const UsageError& error) {
    const std::string verb = argc > 1 ? std::string(argv[1]) + " " : "";
    print_usage_error(fmt::format("{} (command line): See orrery-cli {}--help{}", error.what(),
                                  is_known(argc > 1 ? argv[1] : "") ? verb : "",
                                  argc > 1 ? "" : "; verbs: " + known_verbs()));
    return kExitUsage;
  }
  return finish(chosen());
}

}  // namespace
}  // namespace orrery::cli

int main(int argc, char** argv) {
  try {
    return orrery::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(
        "error: There is not enough memory (orrery-cli): Close other programs or use a smaller model\n",
        stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: Something went wrong inside (%s): Please report it\n", error.what());
  }
  return orrery::cli::kExitFailed;
}
