#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

Json to_json(const api::ModelInfo& info) {
  Json tensors = Json::array();
  for (const api::TensorRow& tensor : info.tensors)
    tensors.push_back(
        {{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"bytes", tensor.bytes}});
  return {{"name", info.name},
          {"format", info.format},
          {"architecture", info.architecture},
          {"parameters", info.parameters},
          {"bytes", info.bytes},
          {"context_length", info.context_length},
          {"tokenizer", info.tokenizer},
          {"chat_template", info.chat_template},
          {"cannot_run", info.cannot_run},
          {"tensors", std::move(tensors)},
          {"memory",
           {{"weights", info.memory.weights},
            {"kv_cache", info.memory.kv_cache},
            {"scratch", info.memory.scratch}}}};
}

void print_summary(const api::ModelInfo& info) {
  const auto line = [](std::string_view name, const std::string& value) {
    print(fmt::format("{:<16} {}\n", name, value));
  };
  line("name", info.name);
  line("path", info.path);
  line("format", info.format);
  line("architecture", info.architecture);
  line("parameters", readable_count(info.parameters));
  line("size", readable_bytes(info.bytes) + ", mostly " + info.main_dtype);
  line("layers", fmt::format("{} of width {}", info.layers, info.width));
  line("context", fmt::format("{} tokens", info.context_length));
  line("vocabulary", fmt::format("{} tokens", info.vocabulary));
  line("tokenizer", info.tokenizer);
  line("chat template", info.chat_template.empty() ? "none" : "yes");
  if (!info.labels.empty()) line("labels", fmt::format("{}", fmt::join(info.labels, ", ")));
  line("memory", fmt::format("{} weights + {} KV cache + {} scratch at {} tokens",
                             readable_bytes(info.memory.weights), readable_bytes(info.memory.kv_cache),
                             readable_bytes(info.memory.scratch), info.memory.context));
  if (!info.cannot_run.empty()) line("cannot run", info.cannot_run);
  for (const api::TensorRow& tensor : info.tensors)
    print(fmt::format("  {:<60} {:<8} [{}] {}\n", tensor.name, tensor.dtype, fmt::join(tensor.shape, ", "),
                      readable_bytes(tensor.bytes)));
}

}  // namespace

Runner prepare_info(CLI::App& app, Context& context) {
  const auto options = std::make_shared<api::OpenOptions>();
  add_model_options(app, *options);
  add_output_options(app, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const api::ModelInfo info,
                  api::inspect(options->model, options->adapter, options->context, options->kv_type));
    if (context.json) {
      print_json(to_json(info));
    } else {
      print_summary(info);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
