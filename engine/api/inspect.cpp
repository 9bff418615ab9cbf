#include "engine/api/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/api/guard.h"
#include "engine/api/metadata.h"
#include "engine/api/text_support.h"
#include "engine/compile/arena.h"
#include "engine/compile/states.h"
#include "engine/passes/passes.h"

namespace orrery::api {
namespace {

constexpr int64_t kCpuBatchTokens = 512, kCardBatchTokens = 2048, kMaxBatchTokens = 32768;

/// Bytes of the step's buffers, by liveness alone; kernels may ask for some workspace besides.
uint64_t scratch_bytes(const graph::Graph& graph, bool generates, int64_t batch_tokens) {
  const auto passed = passes::run_passes(graph, {});
  if (!passed.ok()) return 0;
  const compile::Bucket bucket = generates ? compile::bucket_for(batch_tokens, 1, 1)
                                           : compile::bucket_for(batch_tokens, 0, batch_tokens / 8);
  const auto live = compile::liveness(*passed.value().graph, bucket);
  return live.ok() ? compile::lay_out(live.value().lifetimes).bytes : 0;
}

}  // namespace

models::BuiltModel build_to_show(const ModelSource& source, std::string& cannot_run) {
  auto built = models::build(*source.file, source.adapter.get());
  if (built.ok()) return std::move(built).value();
  cannot_run = built.error().to_string();
  io::ModelFile file = *source.file;
  for (io::Tensor& tensor : file.tensors)
    if (!std::exchange(tensor.foreign_type, {}).empty()) tensor.dtype = DType::f16;
  built = models::build(file, source.adapter.get());
  return built.ok() ? std::move(built).value() : models::build_outline(*source.file);
}

std::string kv_type_name(DType dtype) {
  for (const KvType& type : kKvTypes)
    if (type.dtype == dtype) return std::string(type.name);
  return std::string(name_of(dtype));
}

Result<DType> parse_kv_type(const std::string& name) {
  for (const KvType& type : kKvTypes)
    if (name == type.name) return type.dtype;
  return Error{ErrorCode::invalid_argument, fmt::format("The KV cache cannot be kept as \"{}\"", name),
               "--kv-type", "use f16, bf16, f32 or q8_0"};
}

Result<kernels::Precision> parse_precision(const std::string& name) {
  if (const auto precision = kernels::parse_precision(name)) return *precision;
  std::string names;
  for (const kernels::Precision precision : kernels::kPrecisions)
    (names += names.empty() ? "" : ", ") += name_of(precision);
  return Error{ErrorCode::invalid_argument, fmt::format("There is no precision \"{}\"", name.substr(0, 80)),
               "--precision", "use one of " + names};
}

Task to_task(models::Task task) {
  switch (task) {
    case models::Task::generate:
      return Task::generate;
    case models::Task::embed:
      return Task::embed;
    case models::Task::classify:
      return Task::classify;
  }
  return Task::generate;
}

Result<int64_t> choose_context(int64_t model_context, int64_t wanted) {
  const int64_t own = own_context(model_context);
  if (wanted < 0 || wanted > own)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("A context of {} tokens does not fit the model", wanted), "--context",
                 fmt::format("choose 1 to {}, or 0 for the default", own)};
  return wanted > 0 ? wanted : std::min(own, kDefaultContext);
}

Result<int64_t> choose_batch_tokens(int64_t wanted, bool on_card, Task task) {
  if (wanted < 0 || wanted > kMaxBatchTokens)
    return Error{ErrorCode::invalid_argument, fmt::format("Steps of {} tokens are not possible", wanted),
                 "--batch-tokens",
                 fmt::format("choose 1 to {}, or 0 for what the device likes", kMaxBatchTokens)};
  if (wanted > 0) return wanted;
  if (!on_card) return kCpuBatchTokens;
  return task == Task::generate ? kCardBatchTokens : kMaxBatchTokens;
}

ModelInfo describe(const ModelSource& source, const models::BuiltModel* built, const std::string& tokenizer,
                   int64_t context, DType kv_type, int64_t batch_tokens) {
  const io::ModelFile& file = *source.file;
  ModelInfo info;
  info.name = display_name(file);
  info.path = file.path.string();
  info.format = io::name_of(file.format);
  info.architecture = file.architecture;
  info.tokenizer = tokenizer;
  info.chat_template = file.chat_template;
  info.parameters = file.parameters();
  info.bytes = file.file_bytes;
  info.main_dtype = main_dtype(file);
  for (const io::Tensor& tensor : file.tensors)
    info.tensors.push_back({tensor.name, std::string(tensor.type_name()), tensor.shape, tensor.data.size()});
  for (const auto& [key, value] : file.metadata.all()) info.metadata.emplace_back(key, value_text(value));
  info.memory.context = context;
  for (const TensorRow& row : info.tensors) info.memory.weights += row.bytes;
  if (!built) return info;
  info.task = to_task(built->task);
  info.context_length = built->context_length;
  info.layers = built->layers;
  info.width = built->width;
  info.vocabulary = built->vocabulary;
  info.labels = built->labels;
  info.classifies_tokens = built->classifies_tokens;
  info.memory.kv_cache = compile::kv_cache_bytes(built->graph, kv_type, context);
  info.memory.scratch = scratch_bytes(built->graph, info.task == Task::generate, batch_tokens);
  return info;
}

Result<ModelInfo> inspect(const std::string& model, const std::string& adapter, int64_t context,
                          const std::string& kv_type) {
  return guarded([&]() -> Result<ModelInfo> {
    ORRERY_ASSIGN(const DType kv, parse_kv_type(kv_type));
    ORRERY_ASSIGN(const ModelPath path, resolve_model(model, adapter));
    ORRERY_ASSIGN(const ModelSource source, open_source(path, {}, {}));
    const auto tokenizer = load_tokenizer(*source.file);
    const std::string kind = tokenizer.ok() ? std::string(tokenizer.value()->kind()) : std::string();
    if (source.file->tensors.empty()) return describe(source, nullptr, kind, 0, kv, kCpuBatchTokens);
    std::string cannot_run;
    const models::BuiltModel built = build_to_show(source, cannot_run);
    ORRERY_ASSIGN(const int64_t length, choose_context(built.context_length, context));
    ModelInfo info = describe(source, &built, kind, length, kv, kCpuBatchTokens);
    info.cannot_run = std::move(cannot_run);
    return info;
  });
}

}  // namespace orrery::api
