// What a model's headers tell.
#pragma once

#include <array>
#include <optional>

#include "engine/api/library.h"
#include "engine/api/memory_estimate.h"
#include "engine/models/builder.h"
#include "engine/runtime/model.h"
#include "kernels/precision.h"

namespace orrery::api {

/// As what a KV cache can be kept, and how the options call it.
struct KvType {
  std::string_view name;
  DType dtype;
};
inline constexpr std::array kKvTypes = {KvType{"f16", DType::f16}, KvType{"bf16", DType::bf16},
                                        KvType{"f32", DType::f32}, KvType{"q8_0", DType::q8_0}};
std::string kv_type_name(DType dtype);
Result<DType> parse_kv_type(const std::string& name);
/// OpenOptions::precision; refuses another word with those that there are.
Result<kernels::Precision> parse_precision(const std::string& name);

Task to_task(models::Task task);

/// The context length that a model runs with: `wanted`, or for 0 its own, at most kDefaultContext.
Result<int64_t> choose_context(int64_t model_context, int64_t wanted);

/// Tokens of one step at most: `wanted`, or for 0 as many as keep the device busy and its scratch small.
Result<int64_t> choose_batch_tokens(int64_t wanted, bool on_card, Task task);

/// `built` is null when the file has no weights.
ModelInfo describe(const ModelSource& source, const models::BuiltModel* built, const std::string& tokenizer,
                   int64_t context, DType kv_type, int64_t batch_tokens);

/// The graph of a file that may not run, to be looked at: its own; of a file whose types are not all run, as
/// far as its shapes tell (f16 stands in for them); of an architecture that is not known, its tensors.
/// `cannot_run` says why the file's own graph was refused; it is left as it is when it was not.
models::BuiltModel build_to_show(const ModelSource& source, std::string& cannot_run);

/// What the plans of a fused graph take on one kind of device; a refusal where it cannot run there. `home` is
/// where nodes run that name no device; none: there.
MemoryDemand::Place place_demand(const graph::GraphVersion& fused, Task task, const OpenOptions& options,
                                 kernels::DeviceId device, std::optional<kernels::DeviceId> home = {});
/// The KV cache's part; the places are left empty. `exact`: it is kept in float32 whatever is asked for.
MemoryDemand model_demand(std::string name, const models::BuiltModel& built, bool exact);
/// What to do where memory does not suffice on `device`.
std::string advice_of(const std::vector<Offer>& offers, const std::string& device);
/// The refusal of a model that does not fit, with its parts, what is free, and the offers.
Error does_not_fit(const MemoryDemand& demand, const DeviceMemory& memory, const OpenOptions& options,
                   const std::vector<Offer>& offers);
/// What all sequences of a model may keep together, tokens.
int64_t kv_tokens(const MemoryDemand& demand, const runtime::Model::Options& options);
/// A device, and behind it the CPU where that is another.
std::vector<DeviceEntry> devices_beside(const weights::DevicePtr& device);

}  // namespace orrery::api
