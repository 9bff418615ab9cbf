// Options that many verbs share.
#pragma once

#include <memory>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "engine/api/session.h"

namespace orrery::cli {

void add_output_options(Parser& parser, Context& context);  // --json --quiet
/// --prompt --gen: how much a measurement reads and writes.
void add_step_options(Parser& parser, int64_t& prompt, int64_t& gen);
/// MODEL, and how it is opened.
void add_model_options(Parser& parser, api::OpenOptions& options);
Option add_model_name(Parser& parser, std::string& model, bool required = true);
Option add_phase_option(Parser& parser, std::string& phase);
api::Phase phase_of(const std::string& name);

/// --tools --documents --var: what a chat template is given beside the messages.
struct TemplateFiles {
  std::string tools, documents;        // paths; empty: none
  std::vector<std::string> variables;  // NAME=JSON
};
void add_template_options(Parser& parser, TemplateFiles& files);
Result<api::TemplateOptions> read_template_options(const TemplateFiles& files);

/// Opens with progress on a terminal.
Result<std::shared_ptr<api::Session>> open_session(const Context& context, const api::OpenOptions& options);

/// Moves the values of every --text T... out of the arguments; the option itself stays. The parser would not
/// leave texts alone: it takes "[a, b]" apart, ends at an empty one, and knows verbs wherever they stand. A
/// text ends at the next option; one that begins with "--" is written --text=TEXT.
void take_texts(std::vector<std::string>& arguments, std::vector<std::string>& texts);

/// --text T... | --texts FILE.json, as a group of which one option must be there.
Parser add_text_options(Parser& parser, Context& context, std::string& file);
Result<std::vector<std::string>> texts_of(const Context& context, const std::string& file);

}  // namespace orrery::cli
