#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/recipes.h"
#include "engine/api/session_impl.h"
#include "engine/api/text_support.h"
#include "kernels/cpu/isa.h"

namespace orrery::api {
namespace {

constexpr std::chrono::milliseconds kUploadInterval{50};

uint64_t weight_bytes(const io::ModelFile& file) {
  uint64_t bytes = 0;
  for (const io::Tensor& tensor : file.tensors) bytes += tensor.data.size();
  return bytes;
}

/// Refuses a model that is estimated not to fit as it was asked for, before any weight is read.
Result<void> check_memory(const MemoryDemand& demand, const OpenOptions& options,
                          const std::vector<DeviceEntry>& devices) {
  const DeviceMemory memory = estimate_memory(demand, devices.front(), options.context, options.kv_type);
  if (!options.check_memory || !memory.refusal.empty() || memory.total == 0 || memory.fit != Fit::too_large)
    return {};
  return does_not_fit(demand, memory, options, memory_offers(demand, options, devices));
}

/// Longest text of an encoder: what its tokenizer or its folder says for vectors, else what the model was
/// made for.
int64_t text_limit(const io::ModelFile& file, const models::BuiltModel& built) {
  const int64_t own = built.context_length;
  if (built.task != models::Task::embed) return own;
  const auto limit = file.metadata.integer("sentence_transformers.max_seq_length");
  if (!limit || *limit <= 0) return own;
  return own > 0 ? std::min(own, *limit) : *limit;
}

/// Tells while it lives how much of the weights is on the device.
class Uploads {
 public:
  Uploads(const runtime::Model& model, const ProgressCallback& progress) {
    const weights::DevicePtr& device = model.options().device;
    if (!device || !progress) return;
    words_ = fmt::format("Uploading to {}", device->facts().name);
    watcher_ = std::jthread([this, &model, &progress](const std::stop_token& stop) {
      const uint64_t total = weight_bytes(model.weights().file());
      while (!stop.stop_requested()) {
        progress(words_, std::min(derived_bytes(model), total), total);
        std::this_thread::sleep_for(kUploadInterval);
      }
    });
  }

 private:
  static uint64_t derived_bytes(const runtime::Model& model) {
    uint64_t bytes = 0;
    for (const weights::DerivedWeight& row : model.weights().derived()) bytes += row.bytes;
    return bytes;
  }

  std::string words_;
  std::jthread watcher_;
};

class Opening {
 public:
  Opening(const OpenOptions& options, const ProgressCallback& progress, std::stop_token stop)
      : options_(options), watch_{progress, std::move(stop)} {}

  Result<std::shared_ptr<Session>> run() {
    ORRERY_ASSIGN(const kernels::DeviceId id, parse_device(options_.device));
    options_.device = to_string(id);
    ORRERY_ASSIGN(const DType kv_option, parse_kv_type(options_.kv_type));
    ORRERY_ASSIGN(const kernels::Precision precision, parse_precision(options_.precision));
    ORRERY_TRY(check_passes(options_.disabled_passes));
    const DType kv_type = is_exact(options_) ? DType::f32 : kv_option;
    ORRERY_ASSIGN(auto scheduler, scheduler_for(options_.device, options_.threads));
    ORRERY_ASSIGN(const ModelPath path, resolve_model(options_.model, options_.adapter));
    ORRERY_TRY(watch_.stage(fmt::format("Reading {}", path.model.filename().string())));
    ORRERY_ASSIGN(ModelSource source, open_source(path, watch_.told, watch_.stop));
    if (source.file->tensors.empty())
      return Error{ErrorCode::unsupported, "The file has no weights, so there is nothing to run",
                   path.model.string(), "choose the model itself"};
    auto tokenizer = std::async(
        std::launch::async, [file = source.file] { return guarded([&] { return load_tokenizer(*file); }); });
    ORRERY_TRY(watch_.stage("Building the graph"));
    ORRERY_ASSIGN(models::BuiltModel built, models::build(*source.file, source.adapter.get()));
    const int64_t limit = text_limit(*source.file, built);
    if (options_.context == 0 && options_.least_context > kDefaultContext)
      options_.context = std::min(options_.least_context, own_context(built.context_length));
    ORRERY_ASSIGN(const int64_t context, choose_context(built.context_length, options_.context));
    auto weights = std::make_shared<weights::WeightStore>(source.file, source.adapter);
    runtime::Model::Options run;
    run.kv_dtype = kv_type;
    run.precision = precision;
    run.device = scheduler->device();
    run.threads = scheduler->threads();
    run.context = context;
    ORRERY_ASSIGN(run.batch_tokens,
                  choose_batch_tokens(options_.batch_tokens, run.device != nullptr, to_task(built.task)));
    const auto graph = std::make_shared<const graph::Graph>(built.graph);
    ORRERY_ASSIGN(const auto version,
                  prepare_version(graph, preparation_of(run, options_.device, passes_of(options_))));
    const MemoryDemand demand = demand_of(source, built, version->fused, run.device);
    ORRERY_TRY(check_memory(demand, options_, devices_beside(run.device)));
    run.kv_tokens = kv_tokens(demand, run);
    const SessionStatePtr state = opened_state(graph, version, options_.fusion);
    auto model = std::make_shared<runtime::Model>(weights, version, run);
    ORRERY_TRY(compile_first(*model, *version));
    ORRERY_TRY(watch_.stage("Reading the tokenizer"));
    Result<std::shared_ptr<const text::Tokenizer>> words = tokenizer.get();
    if (!words.ok()) return std::move(words).error();
    ModelInfo info =
        describe(source, &built, std::string(words.value()->kind()), context, kv_type, run.batch_tokens);
    auto chat_template =
        std::make_shared<const Result<text::ChatTemplate>>(load_template(*source.file, *words.value()));
    auto session = std::make_shared<SessionImpl>(
        SessionImpl::Parts{options_, std::move(info), std::move(source), std::move(weights),
                           std::move(words).value(), std::move(chat_template), std::move(scheduler),
                           std::move(model), limit, demand},
        std::move(state));
    if (!options_.recipe.empty()) ORRERY_TRY(replay(*session));
    return std::shared_ptr<Session>(std::move(session));
  }

 private:
  /// On the device that it is opened on, and on the CPU, which can take it instead.
  MemoryDemand demand_of(const ModelSource& source, const models::BuiltModel& built,
                         const graph::GraphVersion& fused, const weights::DevicePtr& device) const {
    MemoryDemand demand = model_demand(display_name(*source.file), built, is_exact(options_));
    const auto place = [&](kernels::DeviceId id) {
      return place_demand(fused, to_task(built.task), options_, id);
    };
    demand.cpu = place(kernels::kCpuId);
    if (device) demand.cuda = place(device->id());
    return demand;
  }

  /// What every step after the first prompt runs, so that a model that cannot run is refused now. On this
  /// thread, with a team of its own: the scheduler goes on serving others. On a device it takes the weights
  /// over.
  Result<void> compile_first(runtime::Model& model, const runtime::Version& version) {
    ORRERY_TRY(watch_.stage("Preparing the kernels"));
    kernels::ThreadTeam team(model.options().threads);
    {
      const Uploads uploads(model, watch_.told);
      ORRERY_TRY(drop(model.plan(version, compile::bucket_for(1, 1, 1), team, watch_.stop)));
    }
    return watch_.stage("Ready");
  }

  static Result<void> drop(const Result<std::shared_ptr<const compile::Plan>>& plan) {
    if (!plan.ok()) return plan.error();
    return {};
  }

  Result<void> replay(SessionImpl& session) {
    ORRERY_TRY(watch_.stage("Applying the recipe"));
    ORRERY_ASSIGN(const edit::Recipe recipe, edit::read_recipe(options_.recipe));
    const std::string file = std::filesystem::path(options_.recipe).stem().string();
    const auto replayed = session.replay(recipe.edits, watch_, recipe.name.empty() ? file : recipe.name);
    if (!replayed.ok()) return refusal_of(recipe, session.info(), replayed.error());
    return {};
  }

  OpenOptions options_;
  Watch watch_;
};

}  // namespace

Result<std::shared_ptr<Session>> Session::open(const OpenOptions& options, const ProgressCallback& progress,
                                               std::stop_token stop) {
  return guarded([&] { return Opening(options, progress, std::move(stop)).run(); });
}

SessionImpl::SessionImpl(Parts parts, SessionStatePtr state)
    : parts_(std::move(parts)),
      state_(std::move(state)),
      sequence_(runtime::DeviceScheduler::new_sequence(parts_.model)),
      limits_(std::make_shared<LazyLimits>()) {
  const weights::DevicePtr& device = parts_.scheduler->device();
  if (device) {
    limits_->measured = limits_of(device->facts());
    limits_->measured.threads = parts_.scheduler->threads();
    limits_->ready = true;
    return;
  }
  limits_->unmeasured.threads = parts_.scheduler->threads();
  limits_->unmeasured.cpu = kernels::isa_summary();
}

}  // namespace orrery::api
