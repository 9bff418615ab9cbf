#include "app/cli/common_options.h"
#include "app/cli/input.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct RenderOptions {
  std::string model, template_file, messages, bos, eos;
  TemplateFiles files;
  bool no_prompt = false;
};

Result<std::string> render(const RenderOptions& options, const api::TextTools* tools) {
  ORRERY_ASSIGN(const std::vector<api::Message> messages, read_messages(options.messages));
  ORRERY_ASSIGN(api::TemplateOptions given, read_template_options(options.files));
  given.generation_prompt = !options.no_prompt;
  if (options.template_file.empty()) return tools->render(messages, given);
  ORRERY_ASSIGN(const std::string source, read_file(options.template_file));
  return api::render_template(source, messages, given, options.bos, options.eos);
}

}  // namespace

Runner prepare_render(Parser& parser, Context& context) {
  const auto options = std::make_shared<RenderOptions>();
  Option model = add_model_name(parser, options->model, false);
  Option source =
      parser.add_option("--template", options->template_file, "a Jinja chat template, FILE.jinja");
  parser.add_option("--messages", options->messages, "a JSON array of {role, content, ...}, F.json")
      .required();
  add_template_options(parser, options->files);
  parser.add_option("--bos", options->bos, "bos_token of the template").needs(source);
  parser.add_option("--eos", options->eos, "eos_token of the template").needs(source);
  parser.add_flag("--no-generation-prompt", options->no_prompt,
                  "leave out what asks the model for its reply");
  add_output_options(parser, context);
  parser.when_parsed([model, source] {
    if (!model.given() && !source.given()) throw UsageError("MODEL or --template is required");
  });
  return [options, &context]() -> Result<int> {
    std::shared_ptr<api::TextTools> tools;
    if (!options->model.empty()) {
      ORRERY_ASSIGN(tools, api::TextTools::open(options->model));
    }
    ORRERY_ASSIGN(const std::string text, render(*options, tools.get()));
    if (context.json) {
      // The template itself writes BOS; nothing is added around it.
      const std::vector<int32_t> ids = tools ? tools->encode(text, false) : std::vector<int32_t>();
      print_json({{"text", text}, {"ids", ids}});
    } else {
      print(text);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
