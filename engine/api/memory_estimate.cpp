#include "engine/api/memory_estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/prepare_version.h"
#include "engine/api/session.h"
#include "engine/compile/demand.h"
#include "engine/compile/placement.h"
#include "engine/compile/states.h"
#include "engine/passes/passes.h"
#include "engine/runtime/kv_cache.h"
#include "engine/weights/memory_state.h"
#include "kernels/cpu/isa.h"

namespace orrery::api {
namespace {

constexpr int64_t kTextTokens = 8;  // of the texts that an encoder reads together

/// Every bucket that a run may ask for, so that each form of a weight is met.
std::vector<compile::Bucket> buckets_for(Task task, int64_t batch_tokens) {
  std::vector<compile::Bucket> buckets;
  for (int64_t tokens = 1;; tokens = std::min(tokens * 2, batch_tokens)) {
    buckets.push_back(task == Task::generate
                          ? compile::bucket_for(tokens, 1, 1)
                          : compile::bucket_for(tokens, 0, std::max<int64_t>(tokens / kTextTokens, 1)));
    if (tokens >= batch_tokens) return buckets;
  }
}

uint64_t weight_bytes(const compile::Demand& demand) {
  uint64_t bytes = 0;
  for (const compile::WeightForm& form : demand.weights) bytes += form.bytes;
  return bytes;
}

DType kv_dtype(const std::string& kv_type) {
  const auto dtype = parse_kv_type(kv_type);
  return dtype.ok() ? *dtype : DType::f16;
}

kernels::Precision precision_in(const OpenOptions& options) {
  const auto precision = parse_precision(options.precision);
  return precision.ok() ? *precision : kernels::Precision::balanced;
}

uint64_t page_bytes(const graph::Graph& graph, DType dtype) {
  const auto states = compile::states_of(graph);
  if (!states.ok()) return 0;
  uint64_t bytes = 0;
  for (const compile::StateUse& state : states.value())
    bytes += runtime::KvCache::slot_bytes(dtype, state.form);
  return bytes;
}

/// Nodes without a kernel there stay on the CPU, as they will.
compile::PlacementOptions on_a_card(const OpenOptions& options, Task task) {
  compile::PlacementOptions placement;
  placement.home = "cuda:0";
  placement.kv_dtype = is_exact(options) ? DType::f32 : kv_dtype(options.kv_type);
  placement.precision = precision_in(options);
  if (const auto batch = choose_batch_tokens(options.batch_tokens, true, task); batch.ok())
    placement.batch_tokens = *batch;
  return placement;
}

std::string device_words(const DeviceMemory& memory) {
  return memory.name.empty() || memory.device == "cpu" ? memory.device
                                                       : fmt::format("{} ({})", memory.name, memory.device);
}

}  // namespace

MemoryDemand::Place place_demand(const graph::GraphVersion& fused, Task task, const OpenOptions& options,
                                 kernels::DeviceId device, std::optional<kernels::DeviceId> home) {
  compile::DemandOptions asked;
  asked.device = device;
  asked.home = home;
  asked.kv_dtype = is_exact(options) ? DType::f32 : kv_dtype(options.kv_type);
  asked.precision = precision_in(options);
  asked.passes = passes_of(options);
  asked.threads = options.threads > 0 ? options.threads : kernels::available_cores();
  const auto batch = choose_batch_tokens(options.batch_tokens, !device.is_cpu(), task);
  if (!batch.ok()) return {0, 0, batch.error().to_string()};
  const auto demand = compile::demand_of(fused, buckets_for(task, *batch), asked);
  if (!demand.ok()) return {0, 0, demand.error().to_string()};
  return {weight_bytes(*demand), demand->arena_bytes + demand->workspace_bytes, ""};
}

MemoryDemand model_demand(std::string name, const models::BuiltModel& built, bool exact) {
  MemoryDemand demand;
  demand.name = std::move(name);
  demand.model_context = built.context_length;
  demand.page_tokens = runtime::KvCache::kPageTokens;
  for (const KvType& type : kKvTypes)
    demand.page_bytes[std::string(type.name)] = page_bytes(built.graph, exact ? DType::f32 : type.dtype);
  return demand;
}

Result<MemoryDemand> memory_demand(const OpenOptions& options) {
  return guarded([&]() -> Result<MemoryDemand> {
    ORRERY_ASSIGN(const ModelPath path, resolve_model(options.model, options.adapter));
    ORRERY_ASSIGN(const ModelSource source, open_source(path, {}, {}));
    ORRERY_ASSIGN(const models::BuiltModel built, models::build(*source.file, source.adapter.get()));
    ORRERY_ASSIGN(const passes::Outcome fused, passes::run_passes(built.graph, passes_of(options)));
    MemoryDemand demand = model_demand(display_name(*source.file), built, is_exact(options));
    demand.cpu = place_demand(fused.graph, to_task(built.task), options, kernels::kCpuId);
    ORRERY_ASSIGN(const compile::Placement on_card,
                  compile::place(fused.graph, on_a_card(options, to_task(built.task))));
    demand.cuda = place_demand(on_card.graph, to_task(built.task), options, kernels::cuda_id(0));
    return demand;
  });
}

std::string advice_of(const std::vector<Offer>& offers, const std::string& device) {
  const std::string words = words_of(offers);
  return fmt::format("{}{}{}close other models and programs", words, words.empty() ? "" : ", or ",
                     device == "cpu" ? "" : "place fewer layers on the card, or ");
}

Error does_not_fit(const MemoryDemand& demand, const DeviceMemory& memory, const OpenOptions& options,
                   const std::vector<Offer>& offers) {
  using weights::readable_memory;
  return {ErrorCode::out_of_memory,
          fmt::format("{} of weights, {} of KV cache at {} tokens and {} of scratch do not fit: {} has {} of "
                      "{} free",
                      readable_memory(memory.weights), readable_memory(memory.kv_cache),
                      context_of(demand, options.context), readable_memory(memory.scratch),
                      device_words(memory), readable_memory(memory.free), readable_memory(memory.total)),
          demand.name, advice_of(offers, memory.device)};
}

}  // namespace orrery::api
