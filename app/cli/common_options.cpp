#include "app/cli/common_options.h"

#include "app/cli/input.h"

namespace orrery::cli {

void add_output_options(CLI::App& app, Context& context) {
  app.add_flag("--json", context.json, "one JSON document on stdout; everything else on stderr");
  app.add_flag("--quiet", context.quiet, "no progress and no figures on stderr");
}

CLI::Option* add_model_name(CLI::App& app, std::string& model, bool required) {
  CLI::Option* option =
      app.add_option("MODEL", model,
                     "a .gguf or .safetensors file, a Hugging Face folder, or a name from the library: "
                     "smollm2, minilm, sentiment");
  return required ? option->required() : option;
}

void add_model_options(CLI::App& app, api::OpenOptions& options) {
  add_model_name(app, options.model);
  app.add_option("--device", options.device, "cpu or cuda:N")->capture_default_str();
  app.add_option("--threads", options.threads, "worker threads; 0: the cores this process may run on")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--context", options.context, "tokens of context; 0: the model's own, at most 8192")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--kv-type", options.kv_type, "element type of the KV cache")
      ->check(CLI::IsMember({"f16", "bf16", "f32", "q8_0"}))
      ->capture_default_str();
  app.add_option("--batch-tokens", options.batch_tokens, "tokens of one step at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--recipe", options.recipe, "edits to apply, FILE.json");
  app.add_option("--adapter", options.adapter, "PEFT LoRA adapter, a folder");
  app.add_flag("--exact", options.exact, "float32 arithmetic throughout; slower");
}

void add_phase_option(CLI::App& app, std::string& phase) {
  app.add_option("--phase", phase, "prefill: many tokens a step; decode: one token a sequence")
      ->check(CLI::IsMember({"prefill", "decode"}))
      ->capture_default_str();
}

api::Phase phase_of(const std::string& name) {
  return name == "prefill" ? api::Phase::prefill : api::Phase::decode;
}

Result<std::shared_ptr<api::Session>> open_session(const Context& context, const api::OpenOptions& options) {
  ProgressLine progress(context);
  return api::Session::open(options, progress.callback(), context.stop());
}

void add_text_options(CLI::App& app, TextOptions& options) {
  app.add_option("--text", options.texts, "a text; may be given several times")->allow_extra_args();
  app.add_option("--texts", options.file, "a JSON array of strings, FILE.json");
}

Result<std::vector<std::string>> texts_of(const TextOptions& options) {
  std::vector<std::string> texts = options.texts;
  if (!options.file.empty()) {
    ORRERY_ASSIGN(const std::vector<std::string> more, read_texts(options.file));
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

}  // namespace orrery::cli
