#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"
#include "engine/api/memory_estimate.h"

namespace orrery::cli {
namespace {

using Memory = std::vector<api::DeviceMemory>;

bool fits(const api::DeviceMemory& memory) {
  return memory.refusal.empty() && memory.fit != api::Fit::too_large;
}

Json to_json(const api::DeviceMemory& memory) {
  return {{"device", memory.device},
          {"name", memory.name},
          {"weights", memory.weights},
          {"kv_cache", memory.kv_cache},
          {"scratch", memory.scratch},
          {"total", memory.total},
          {"free", memory.free},
          {"fits", fits(memory)},
          {"fit", memory.refusal.empty() ? api::name_of(memory.fit) : ""},
          {"largest_context", memory.largest_context},
          {"refusal", memory.refusal}};
}

Json to_json(const api::ModelInfo& info, const Memory& devices) {
  Json on = Json::array();
  for (const api::DeviceMemory& device : devices) on.push_back(to_json(device));
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

/// On every device of this machine; a model that can only be looked at is told with its reason.
Memory memory_of(const api::ModelInfo& info, const api::OpenOptions& options) {
  const auto told = api::memory_demand(options);
  api::MemoryDemand demand;
  if (told.ok()) {
    demand = *told;
  } else {
    demand.cpu.refusal = demand.cuda.refusal =
        info.cannot_run.empty() ? told.error().to_string() : info.cannot_run;
  }
  Memory memory;
  for (const api::DeviceEntry& device : api::list_devices())
    memory.push_back(api::estimate_memory(demand, device, options.context, options.kv_type));
  return memory;
}

void print_memory(const Memory& devices) {
  print(fmt::format("  {:<8} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", "on", "weights", "KV cache", "scratch",
                    "sum", "free", "estimate"));
  for (const api::DeviceMemory& memory : devices) {
    if (!memory.refusal.empty()) {
      print(fmt::format("  {:<8} cannot be used: {}\n", memory.device, memory.refusal));
      continue;
    }
    std::string verdict(fits(memory) ? api::name_of(memory.fit) : "does not fit");
    if (memory.largest_context > 0) verdict += fmt::format("; {} tokens at most", memory.largest_context);
    print(fmt::format("  {:<8} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", memory.device,
                      readable_bytes(memory.weights), readable_bytes(memory.kv_cache),
                      readable_bytes(memory.scratch), readable_bytes(memory.sum()),
                      readable_bytes(memory.free), verdict));
  }
}

void print_summary(const api::ModelInfo& info, const Memory& devices) {
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
  print_memory(devices);
  if (!info.cannot_run.empty()) line("cannot run", info.cannot_run);
  for (const api::TensorRow& tensor : info.tensors)
    print(fmt::format("  {:<60} {:<8} [{}] {}\n", tensor.name, tensor.dtype, fmt::join(tensor.shape, ", "),
                      readable_bytes(tensor.bytes)));
}

}  // namespace

Runner prepare_info(Parser& parser, Context& context) {
  const auto options = std::make_shared<api::OpenOptions>();
  add_model_options(parser, *options);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const api::ModelInfo info,
                  api::inspect(options->model, options->adapter, options->context, options->kv_type));
    const Memory devices = memory_of(info, *options);
    if (context.json) {
      print_json(to_json(info, devices));
    } else {
      print_summary(info, devices);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
