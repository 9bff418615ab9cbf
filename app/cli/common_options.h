// Options that many verbs share.
#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "engine/api/session.h"

namespace orrery::cli {

void add_output_options(CLI::App& app, Context& context);  // --json --quiet
/// MODEL, and how it is opened.
void add_model_options(CLI::App& app, api::OpenOptions& options);
CLI::Option* add_model_name(CLI::App& app, std::string& model, bool required = true);
void add_phase_option(CLI::App& app, std::string& phase);
api::Phase phase_of(const std::string& name);

/// Opens with progress on a terminal.
Result<std::shared_ptr<api::Session>> open_session(const Context& context, const api::OpenOptions& options);

/// --text T... | --texts FILE.json
struct TextOptions {
  std::vector<std::string> texts;
  std::string file;
};
void add_text_options(CLI::App& app, TextOptions& options);
Result<std::vector<std::string>> texts_of(const TextOptions& options);

}  // namespace orrery::cli
