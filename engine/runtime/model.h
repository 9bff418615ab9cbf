// One loaded model as the scheduler runs it: weights, the current graph version, its plans, its KV cache, its
// profile.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/compile/placement.h"
#include "engine/passes/passes.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/plan_cache.h"
#include "engine/runtime/profiler.h"
#include "engine/runtime/sequence.h"
#include "engine/runtime/step_budget.h"

namespace orrery::runtime {

/// The graphs of a version. The model graph is the person's; the fused one is what passes made of it, placed.
struct VersionParts {
  graph::GraphVersion model, fused;
  std::vector<compile::Moved> moved = {};      // nodes of the fused graph that run elsewhere than asked
  std::vector<weights::DevicePtr> cards = {};  // that nodes run on beside the model's own device
  passes::Options passes = {};                 // that the fused graph was made with, and plans are
  std::vector<passes::Record> records = {};    // of the passes that made the fused graph
  bool open = false;  // sizes of its inputs are not known: it is drawn and edited, and cannot be compiled
  graph::GraphVersion drawn =
      {};  // what runs in the largest steps and, dead, what is bypassed; null: as fused
};

/// What one model can run, immutable.
struct Version : VersionParts {
  std::vector<StateLayout> states;  // by state index of the fused graph's plans
  mutable PlanCache plans;          // of the fused graph; what their weights take ends with the version
};
/// `numbers`: the model graph with all that its numbers depend on in its attributes, for the feed hashes;
/// null: the model graph has it.
Result<std::shared_ptr<const Version>> make_version(VersionParts parts,
                                                    const graph::GraphVersion& numbers = {});

class Model {
 public:
  struct Options {
    DType kv_dtype = DType::f16;
    kernels::Precision precision = kernels::Precision::balanced;
    weights::DevicePtr device;   // where nodes run that name none; null: the CPU
    int threads = 1;             // of the scheduler's team
    int64_t context = 2048;      // tokens of one sequence at most
    int64_t batch_tokens = 512;  // tokens of one step at most
    int64_t kv_tokens = 8192;    // tokens of all sequences together at most
  };
  Model(std::shared_ptr<weights::WeightStore> weights, std::shared_ptr<const Version> version,
        const Options& options);

  const Options& options() const { return options_; }
  weights::WeightStore& weights() const { return *weights_; }

  /// What the version runs on: the model's own device, and the version's cards.
  ModelDevices devices(const Version& version) const;

  /// The version that the next step adopts. Any thread.
  std::shared_ptr<const Version> version() const;
  void set_version(std::shared_ptr<const Version> version);
  /// How many tokens of a sequence are read again when this version is adopted. Any thread.
  int64_t tokens_read_again(const Version& version, const Sequence& sequence) const;
  bool keeps_context(const Version& version, const Sequence& sequence) const {
    return tokens_read_again(version, sequence) == 0;
  }
  /// The plan of a version for a bucket; compiled on the calling thread when it is not cached, until `stop`
  /// asks for an end. `on_node` as compile::Options has it.
  Result<std::shared_ptr<const compile::Plan>> plan(
      const Version& version, const compile::Bucket& bucket, kernels::ThreadTeam& team,
      std::stop_token stop = {}, std::function<void(size_t done, size_t nodes)> on_node = {});
  /// What a plan of a version of this model is compiled with.
  compile::Options plan_options(const Version& version, const compile::Bucket& bucket) const;
  size_t kv_bytes() const;           // committed, on both sides; any thread
  size_t scratch_bytes() const;      // of executor_on(); any thread
  uint64_t unsettled_steps() const;  // of executor_on(); any thread

  /// Binds the KV cache to the version; makes a new one when the states do not fit. Scheduler's thread.
  Result<void> adopt(const std::shared_ptr<const Version>& version);
  /// Of the version that was adopted last. Scheduler's thread.
  const ModelDevices& adopted_devices() const { return adopted_devices_; }
  /// Runs steps on cards that are not the scheduler's own; ends with the model. Scheduler's thread.
  Executor& executor_on(const std::vector<weights::DevicePtr>& cards, kernels::ThreadTeam& team);
  void finish_captures();              // of executor_on(); scheduler's thread
  KvCache* kv() { return kv_.get(); }  // null before the first adopt; under kv_mutex

  /// All sequences that hold pages, or will; whoever ends one says so. Under kv_mutex.
  void begin(Sequence& sequence) { sequences_.push_back(&sequence); }
  void end(Sequence& sequence);
  std::span<Sequence* const> sequences() const { return sequences_; }

  Profiler profiler;
  mutable std::mutex kv_mutex;  // the cache's tables and the sequences; never held while a step runs
  uint64_t last_served = 0;     // scheduler's thread
  StepBudget budget;            // scheduler's thread

 private:
  void end_executor();

  std::shared_ptr<weights::WeightStore> weights_;
  Options options_;
  mutable std::mutex version_mutex_;
  std::shared_ptr<const Version> version_;
  std::vector<weights::DevicePtr> executor_cards_;  // of executor_; both under version_mutex_
  std::unique_ptr<Executor> executor_;
  std::weak_ptr<const Version> adopted_;
  ModelDevices adopted_devices_;
  std::unique_ptr<KvCache> kv_;
  std::vector<Sequence*> sequences_;  // under kv_mutex
};

}  // namespace orrery::runtime
