// The session behind the facade. One file a concern: open, runs, edits, profile, bench.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "engine/api/library.h"
#include "engine/api/machine_limits.h"
#include "engine/api/memory_estimate.h"
#include "engine/api/prepare_version.h"
#include "engine/api/replies.h"
#include "engine/api/session.h"
#include "engine/base/worker.h"
#include "engine/generate/generator.h"
#include "engine/models/builder.h"
#include "engine/runtime/device_scheduler.h"
#include "engine/text/chat_template.h"

namespace orrery::api {

struct SamplingRequest;
/// The limits of a device, by its card; null: home's.
using LimitsOf = std::function<MachineLimits(const weights::DevicePtr& card)>;

class SessionImpl final : public Session {
 public:
  /// What open() found and made.
  struct Parts {
    OpenOptions options;
    ModelInfo info;
    ModelSource source;
    std::shared_ptr<weights::WeightStore> weights;
    std::shared_ptr<const text::Tokenizer> tokenizer;
    std::shared_ptr<const Result<text::ChatTemplate>> chat_template;
    std::shared_ptr<runtime::DeviceScheduler> scheduler;
    std::shared_ptr<runtime::Model> model;
    int64_t text_limit = 0;  // tokens of one text for classify and embed
    MemoryDemand demand;     // on its device and on the CPU, as it was opened
  };
  /// `state` is that of the model's version.
  SessionImpl(Parts parts, SessionStatePtr state);

  const ModelInfo& info() const override { return parts_.info; }
  const OpenOptions& options() const override { return parts_.options; }

  SessionStatePtr state() const override;
  Result<PlanReport> plan(Phase phase) override;
  std::vector<NodePlacement> placement() const override;
  std::stop_source submit(Change change, ChangeEvents events) override;
  Result<Preview> preview(const std::vector<edit::Edit>& edits, std::stop_token stop) const override;
  Result<MeasuredChange> measure(const std::vector<edit::Edit>& edits, std::string_view text,
                                 std::stop_token stop) const override;

  Result<std::vector<int32_t>> tokenize(std::string_view text, bool special) const override;
  std::string detokenize(const std::vector<int32_t>& ids) const override;
  std::string piece(int32_t id) const override;
  bool is_special(int32_t id) const override { return parts_.tokenizer->is_special(id); }
  Result<std::string> render(const std::vector<Message>& messages,
                             const TemplateOptions& options) const override;

  Result<ChatResult> chat(const ChatRequest& request, const ChatEvents& events,
                          std::stop_token stop) override;
  ConversationPtr new_conversation() override;
  std::stop_source start(const ConversationPtr& conversation, ChatRequest request,
                         ReplyEvents events) override;
  Result<ScoreResult> score(std::string_view text, int top, std::stop_token stop) override;
  Result<std::vector<Classification>> classify(const std::vector<std::string>& texts,
                                               const ClassifyCallback& on_result,
                                               std::stop_token stop) override;
  Result<std::vector<Embedding>> embed(const std::vector<std::string>& texts, std::stop_token stop) override;
  Result<std::vector<Relevance>> rerank(const std::string& query, const std::vector<std::string>& passages,
                                        std::stop_token stop) override;
  Result<BenchResult> bench(const BenchOptions& options, const ProgressCallback& progress,
                            std::stop_token stop) override;

  void set_profiling(bool enabled) override;
  ProfilePtr profile(Phase phase) const override;
  void set_tracing(bool enabled) override;
  Trace trace() const override;
  const MachineLimits& limits() const override;
  std::vector<DerivedWeight> derived_weights() const override;
  MemoryUse memory_use() const override;
  int64_t context_used() const override;
  std::vector<DeviceVitals> vitals() const override;
  void forget_context() override;
  std::vector<Offer> memory_offers() const override;
  Result<std::shared_ptr<Session>> fork(const Fork& otherwise, const Watch& watch) const override;

  // What compare(), sweeps and tests use besides. They may throw.
  generate::Engine engine() const { return {*parts_.scheduler, parts_.model, parts_.tokenizer}; }
  Result<void> check_place_of_draw(const SamplingRequest& sampling) const;
  Result<std::vector<int32_t>> prompt_of(const ChatRequest& request) const;
  Result<void> check_ids(const std::vector<int32_t>& ids) const;
  Result<void> check_vocabulary() const;
  /// What a model gives keeps its type.
  Result<void> check_results_of(const SessionState& now, const graph::Graph& edited) const;
  Error no_text() const;  // of a graph of one's own
  /// What a step of so many tokens of context takes, by a profile of `before`. Of what was not measured there
  /// `limits` tell the least time, by device.
  Result<StepTimeChange> step_time(const runtime::Version& before, const runtime::Version& after,
                                   const Profile& measured, int64_t context, const LimitsOf& limits) const;
  /// A reply in any sequence; an empty prompt is taken from the request, and may then share what other chats
  /// have read.
  Result<ChatResult> reply(const std::shared_ptr<runtime::Sequence>& sequence, std::vector<int32_t> prompt,
                           const ChatRequest& request, const ChatEvents& events, std::stop_token stop) const;
  std::shared_ptr<runtime::Sequence> chat_sequence() const;
  int64_t text_limit() const { return parts_.text_limit; }
  /// Of one text of a full context.
  uint64_t context_bytes() const;
  const ModelSource& source() const { return parts_.source; }
  weights::WeightStore& weights() const { return *parts_.weights; }
  Preparation preparation(bool fusion, const std::set<std::string>& disabled) const {
    passes::Options passes = passes_of(parts_.options);
    passes.fusion = fusion;
    passes.disabled = {disabled.begin(), disabled.end()};
    return preparation_of(parts_.model->options(), parts_.options.device, std::move(passes));
  }

 private:
  /// Measured on the scheduler's thread; outlives the session when it is still measuring.
  struct LazyLimits {
    kernels::SpeedMeter meter;  // on the scheduler's thread
    MachineLimits unmeasured, measured;
    std::atomic<bool> asked{false}, ready{false};
  };
  static void measure_limits(runtime::DeviceScheduler& scheduler, const std::shared_ptr<LazyLimits>& limits);

  // session_edit.cpp; on the edit thread, which alone publishes
  class Preparing;
  Changed make(const Change& change, const Watch& watch);
  void publish(SessionStatePtr state);
  // session_fork.cpp
  Result<SessionStatePtr> forked_state(const Fork& otherwise, const runtime::Model::Options& run,
                                       const Watch& watch) const;

  // session_memory.cpp
  /// An error of too little memory with what would fit.
  Error with_offers(Error error) const;
  template <class T>
  Result<T> with_offers(Result<T> result) const {
    if (result.ok()) return result;
    return with_offers(std::move(result).error());
  }

  // session_prompt.cpp
  struct FittedPrompt {
    std::vector<int32_t> ids;
    int64_t left_out_messages = 0;
    std::optional<int64_t> shift = {};  // as runtime::DecodeRequest::shift
  };
  Result<FittedPrompt> fitted_prompt(const ChatRequest& request) const;
  int64_t opening_tokens(const ChatRequest& request, const std::vector<int32_t>& ids) const;

  // session_replies.cpp
  struct ReplyRequest {
    generate::Request request;
    int64_t left_out_messages = 0;
  };
  /// An empty prompt is taken from the request.
  Result<ReplyRequest> reply_request(std::vector<int32_t> prompt, const ChatRequest& request) const;

  // session_run.cpp
  Result<void> require(Task task) const;

  // session_encode.cpp
  Result<std::vector<Classification>> run_classify(const std::vector<std::string>& texts,
                                                   const ClassifyCallback& on_result, std::stop_token stop);

  Parts parts_;
  mutable std::mutex state_mutex_;  // held for a swap: of the state, and of the model's version with it
  SessionStatePtr state_;

  std::mutex chat_mutex_;  // one reply of the session's own chat at a time
  mutable std::mutex sequence_mutex_;
  std::shared_ptr<runtime::Sequence> sequence_;
  std::shared_ptr<LazyLimits> limits_;
  mutable std::mutex profile_mutex_;
  mutable std::array<ProfilePtr, 2> profiles_;  // by phase, as last read
  mutable std::array<bool, 2> limited_ = {};    // with the machine's limits
  mutable LimitsReach reach_;
  // Last: they end before what their jobs use.
  Worker edits_;
  Replies replies_;
};

/// What a profiler's table tells. `reach` keeps by how much the machine was seen to do more than its limits.
ProfilePtr profile_of(const runtime::ProfileSnapshot& snapshot, Phase phase, const MachineLimits& limits,
                      LimitsReach& reach);

/// Of the version's plan; `bindings` are those of the step whose costs are told.
PlanReport report_of(const compile::Plan& plan, const runtime::Version& version, const std::string& home,
                     const Bindings& bindings);

/// Of a version of the graph that nothing was done to yet.
SessionStatePtr opened_state(graph::GraphVersion graph, std::shared_ptr<const runtime::Version> version,
                             bool fusion);

}  // namespace orrery::api
