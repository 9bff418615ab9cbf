#include "engine/runtime/model.h"

#include <algorithm>
#include <unordered_map>

#include "engine/compile/states.h"
#include "engine/passes/bypassed.h"

namespace orrery::runtime {

namespace {

/// Of a state that keeps a summary: how the node that writes it reads what it takes in. In the model graph
/// the attention node that reads the state says this (passes/summarise_fastmax.cpp).
uint64_t reading_of(const graph::Graph& fused, ValueId state) {
  const graph::Node& writer = fused.node(fused.value(state).producer);
  const auto normalise = writer.attributes.find("normalise");
  const bool* normalised =
      normalise == writer.attributes.end() ? nullptr : std::get_if<bool>(&normalise->second);
  return normalised && *normalised ? 0x9E3779B97F4A7C15U : 0;
}

}  // namespace

Result<std::shared_ptr<const Version>> make_version(VersionParts parts, const graph::GraphVersion& numbers) {
  auto version = std::make_shared<Version>();
  static_cast<VersionParts&>(*version) = std::move(parts);
  const graph::GraphVersion &model = version->model, &fused = version->fused;
  // Hashes are taken from the model graph, so that fusion, which changes no number that is kept, keeps the
  // cache.
  ORRERY_ASSIGN(const std::vector<compile::StateUse> drawn, compile::states_of(*model));
  ORRERY_ASSIGN(const std::vector<compile::StateUse> run, compile::states_of(*fused));
  std::vector<ValueId> last;
  for (const compile::StateUse& state : drawn) last.push_back(state.last);
  const std::vector<uint64_t> fed = (numbers ? numbers : model)->feed_hashes(last);
  std::unordered_map<NodeId, uint64_t> hashes;
  for (size_t i = 0; i < drawn.size(); ++i)
    if (drawn[i].last.valid()) hashes.emplace(drawn[i].source, fed[i]);
  for (const compile::StateUse& state : run) {
    const auto it = hashes.find(state.source);
    const ValueId holds = state.last.valid() ? state.last : state.initial;
    uint64_t hash = it != hashes.end() ? it->second : fused->feed_hash(holds);
    if (state.form.is_summary()) hash ^= reading_of(*fused, holds);
    version->states.push_back({hash, state.form, state.device});
  }
  if (!version->drawn) version->drawn = passes::with_bypassed(fused, *model);
  return std::shared_ptr<const Version>(std::move(version));
}

Model::Model(std::shared_ptr<weights::WeightStore> weights, std::shared_ptr<const Version> version,
             const Options& options)
    : weights_(std::move(weights)), options_(options) {
  set_version(std::move(version));
}

ModelDevices Model::devices(const Version& version) const {
  ModelDevices devices;
  devices.cards = version.cards;
  if (options_.device) {
    devices.home = options_.device->id();
    if (!devices.use(options_.device)) devices.cards.push_back(options_.device);
  }
  return devices;
}

std::shared_ptr<const Version> Model::version() const {
  const std::scoped_lock lock(version_mutex_);
  return version_;
}

/// The old version ends after the lock: with it goes the memory that its plans hold.
void Model::set_version(std::shared_ptr<const Version> version) {
  const std::scoped_lock lock(version_mutex_);
  version_.swap(version);
  profiler.begin(version_->model, version_->fused);
}

int64_t Model::tokens_read_again(const Version& version, const Sequence& sequence) const {
  const std::scoped_lock lock(kv_mutex);
  if (!kv_ || sequence.tokens.empty()) return 0;
  const int64_t held = kv_->valid_tokens(sequence.kv);
  return held - std::min(held, kv_->kept_tokens(version.states, sequence.kv));
}

compile::Options Model::plan_options(const Version& version, const compile::Bucket& bucket) const {
  const ModelDevices devices = this->devices(version);
  compile::Options options;
  options.bucket = bucket;
  options.kv_dtype = options_.kv_dtype;
  options.context = options_.context;
  options.precision = options_.precision;
  options.cards = devices.cards;
  options.home = devices.home;
  options.passes = version.passes;
  options.threads = options_.threads;
  return options;
}

Result<std::shared_ptr<const compile::Plan>> Model::plan(
    const Version& version, const compile::Bucket& bucket, kernels::ThreadTeam& team, std::stop_token stop,
    std::function<void(size_t done, size_t nodes)> on_node) {
  compile::Options options = plan_options(version, bucket);
  options.stop = std::move(stop);
  options.on_node = std::move(on_node);
  return version.plans.get(version.fused, *weights_, team, options);
}

size_t Model::kv_bytes() const {
  const std::scoped_lock lock(kv_mutex);
  return kv_ ? kv_->bytes_committed() : 0;
}

size_t Model::scratch_bytes() const {
  const std::scoped_lock lock(version_mutex_);
  return executor_ ? executor_->bytes() : 0;
}

uint64_t Model::unsettled_steps() const {
  const std::scoped_lock lock(version_mutex_);
  return executor_ ? executor_->unsettled_steps() : 0;
}

Executor& Model::executor_on(const std::vector<weights::DevicePtr>& cards, kernels::ThreadTeam& team) {
  const std::scoped_lock lock(version_mutex_);
  if (!executor_ || executor_cards_ != cards) {
    executor_ = std::make_unique<Executor>(team);
    executor_cards_ = cards;
  }
  return *executor_;
}

void Model::finish_captures() {
  if (executor_) executor_->finish_captures();
}

void Model::end_executor() {
  const std::scoped_lock lock(version_mutex_);
  executor_ = nullptr;
  executor_cards_.clear();
}

Result<void> Model::adopt(const std::shared_ptr<const Version>& version) {
  if (adopted_.lock() == version && (!kv_ || kv_->alive())) return {};
  const std::scoped_lock lock(kv_mutex);
  const ModelDevices devices = this->devices(*version);
  bool fits = false;
  if (kv_ && kv_->alive()) {
    ORRERY_ASSIGN(fits, kv_->adopt(version->states, devices));
  }
  if (!fits) {
    const int64_t pages = (options_.kv_tokens + KvCache::kPageTokens - 1) / KvCache::kPageTokens;
    ORRERY_ASSIGN(kv_, KvCache::create(version->states, options_.kv_dtype, pages, devices));
  }
  adopted_ = version;
  adopted_devices_ = devices;
  if (executor_cards_ != devices.cards) end_executor();
  return {};
}

void Model::end(Sequence& sequence) {
  std::erase(sequences_, &sequence);
  if (kv_) kv_->release(sequence.kv);
}

}  // namespace orrery::runtime
