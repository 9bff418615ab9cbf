#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

uint64_t needed(const api::MemoryEstimate& memory) {
  return memory.weights + memory.kv_cache + memory.scratch;
}

bool fits(const api::ModelInfo& info, const api::DeviceEntry& device) {
  return device.refusal.empty() && needed(info.memory) <= device.free_bytes;
}

Json to_json(const api::ModelInfo& info, const api::DeviceEntry& device) {
  return {{"device", device.device},   {"name", device.name},        {"total", device.memory_bytes},
          {"free", device.free_bytes}, {"fits", fits(info, device)}, {"refusal", device.refusal}};
}

Json to_json(const api::ModelInfo& info, const std::vector<api::DeviceEntry>& devices) {
  Json on = Json::array();
  for (const api::DeviceEntry& device : devices) on.push_back(to_json(info, device));
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
            {"scratch", info.memory.scratch},
            {"context", info.memory.context},
            {"devices", std::move(on)}}}};
}

std::string memory_words(const api::ModelInfo& info, const api::DeviceEntry& device) {
  if (!device.refusal.empty()) return "cannot be used: " + device.refusal;
  return fmt::format("{}; {} of {} are free on {}", fits(info, device) ? "fits" : "does not fit",
                     readable_bytes(device.free_bytes), readable_bytes(device.memory_bytes), device.name);
}

void print_summary(const api::ModelInfo& info, const std::vector<api::DeviceEntry>& devices) {
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
  for (const api::DeviceEntry& device : devices) line("  on " + device.device, memory_words(info, device));
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
    const std::vector<api::DeviceEntry> devices = api::list_devices();
    if (context.json) {
      print_json(to_json(info, devices));
    } else {
      print_summary(info, devices);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
