#include "app/cli/common_options.h"

#include "app/cli/input.h"
#include "engine/api/recipes.h"

namespace orrery::cli {

void add_output_options(Parser& parser, Context& context) {
  parser.add_flag("--json", context.json, "one JSON document on stdout; everything else on stderr");
  parser.add_flag("--quiet", context.quiet, "no progress and no figures on stderr");
}

Option add_model_name(Parser& parser, std::string& model, bool required) {
  Option option =
      parser.add_option("MODEL", model,
                        "a .gguf or .safetensors file, a Hugging Face folder, or a name from the library: "
                        "smollm2, minilm, sentiment, gemma3");
  return required ? option.required() : option;
}

void add_step_options(Parser& parser, int64_t& prompt, int64_t& gen) {
  constexpr int64_t kMostTokens = 1 << 20;
  parser.add_option("--prompt", prompt, "tokens of prefill; 0 leaves it out")
      .range(0, kMostTokens)
      .show_default();
  parser.add_option("--gen", gen, "tokens of decode; 0 leaves it out").range(0, kMostTokens).show_default();
}

void add_model_options(Parser& parser, api::OpenOptions& options) {
  add_model_name(parser, options.model);
  parser.add_option("--device", options.device, "cpu or cuda:N; a recipe may place parts elsewhere")
      .show_default();
  parser.add_option("--threads", options.threads, "worker threads; 0: the cores this process may run on")
      .range(0, 1024)
      .show_default();
  parser.add_option("--context", options.context, "tokens of context; 0: the model's own, at most 8192")
      .range(0, int64_t{1} << 24)
      .show_default();
  parser.add_option("--kv-type", options.kv_type, "element type of the KV cache")
      .one_of({"f16", "bf16", "f32", "q8_0"})
      .show_default();
  parser
      .add_option("--batch-tokens", options.batch_tokens,
                  "tokens of one step at most; 0: what the device likes")
      .range(0, int64_t{1} << 20)
      .show_default();
  parser.add_option("--recipe", options.recipe, "edits to apply, FILE.json: " + api::edit_names());
  parser.add_option("--adapter", options.adapter, "PEFT LoRA adapter, a folder");
  parser
      .add_option("--disable-pass", options.disabled_passes,
                  "a pass that is left out, by the name that `plan` gives it; may be given again")
      .one_value()
      .take_all();
  parser.add_flag("!--no-memory-check", options.check_memory,
                  "open even what is estimated not to fit into the device's memory");
  const Option precision =
      parser
          .add_option(
              "--precision", options.precision,
              "what activations may be rounded to: balanced is bf16 with dense weights where the machine "
              "multiplies bf16, int16 with quantised ones; exact is float32; a recipe may ask for "
              "another in parts")
          .one_of({"balanced", "exact", "bf16", "int16", "int8"})
          .show_default();
  parser
      .add_flag(
          "--exact", [&options] { options.precision = "exact"; }, "the same as --precision exact")
      .excludes(precision);
}

void add_template_options(Parser& parser, TemplateFiles& files) {
  parser.add_option("--tools", files.tools, "functions that the model may call, a JSON array, F.json");
  parser.add_option("--documents", files.documents, "documents for the chat template, a JSON array, F.json");
  parser.add_option("--var", files.variables,
                    "a variable of the chat template, NAME=JSON: enable_thinking=false");
}

Result<api::TemplateOptions> read_template_options(const TemplateFiles& files) {
  api::TemplateOptions options;
  if (!files.tools.empty()) {
    ORRERY_ASSIGN(options.tools, read_file(files.tools));
  }
  if (!files.documents.empty()) {
    ORRERY_ASSIGN(options.documents, read_file(files.documents));
  }
  for (const std::string& text : files.variables) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{ErrorCode::invalid_argument, "A variable is written NAME=JSON", "--var " + text,
                   "For example --var enable_thinking=false"};
    options.variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

Option add_phase_option(Parser& parser, std::string& phase) {
  return parser.add_option("--phase", phase, "prefill: many tokens per step; decode: one token per sequence")
      .one_of({"prefill", "decode"})
      .show_default();
}

api::Phase phase_of(const std::string& name) {
  return name == "prefill" ? api::Phase::prefill : api::Phase::decode;
}

Result<std::shared_ptr<api::Session>> open_session(const Context& context, const api::OpenOptions& options) {
  ProgressLine progress(context);
  return api::Session::open(options, progress.callback(), context.stop());
}

void take_texts(std::vector<std::string>& arguments, std::vector<std::string>& texts) {
  constexpr std::string_view kOption = "--text", kWithValue = "--text=";
  const auto ends = [](const std::string& word) { return word.starts_with("--"); };
  std::vector<std::string> left;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool with_value = arguments[i].starts_with(kWithValue);
    left.push_back(with_value ? std::string(kOption) : arguments[i]);
    if (with_value) texts.push_back(arguments[i].substr(kWithValue.size()));
    if (arguments[i] != kOption) continue;
    while (i + 1 < arguments.size() && !ends(arguments[i + 1])) texts.push_back(arguments[++i]);
  }
  arguments = std::move(left);
}

Parser add_text_options(Parser& parser, Context& context, std::string& file) {
  Parser source = parser.add_group("Texts");
  source.add_flag("--text", context.text_given, "T...: texts, up to the next option; may be repeated");
  source.add_option("--texts", file, "a JSON array of strings, FILE.json");
  source.require_options(1, 2);
  parser.when_parsed([&context] {
    if (context.text_given && context.texts.empty()) throw UsageError("--text: a text is missing");
  });
  return source;
}

Result<std::vector<std::string>> texts_of(const Context& context, const std::string& file) {
  std::vector<std::string> texts = context.texts;
  if (!file.empty()) {
    ORRERY_ASSIGN(const std::vector<std::string> more, read_texts(file));
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

}  // namespace orrery::cli
