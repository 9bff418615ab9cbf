// A session without a model: says what it is told to say, at the pace it is told, and remembers what was
// asked of it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "engine/base/worker.h"
#include "ui/session/services.h"
#include "ui/session/session_controller.h"

namespace orrery::ui::testing {

struct FakePlan {
  api::Task task = api::Task::generate;
  int tokens = 24;  // of a reply
  std::chrono::milliseconds perToken{2};
  std::string stopReason = "end";
  bool failReply = false;
  ErrorCode failure = ErrorCode::out_of_memory;  // of a reply that fails
  std::vector<api::Offer> offers;                // what would fit then
  std::vector<std::string> cards;                // that nodes run on beside the device
  /// While set, an edit is being prepared: it goes on when the edit is stopped.
  std::shared_ptr<std::atomic<bool>> editsHeld = std::make_shared<std::atomic<bool>>(false);
};

class FakeSession : public api::Session {
 public:
  FakeSession(const api::OpenOptions& options, FakePlan plan);

  const api::ModelInfo& info() const override { return info_; }
  const api::OpenOptions& options() const override { return options_; }
  api::SessionStatePtr state() const override;
  Result<api::PlanReport> plan(api::Phase phase) override;
  std::vector<api::NodePlacement> placement() const override;
  std::stop_source submit(api::Change change, api::ChangeEvents events) override;
  Result<api::Preview> preview(const std::vector<edit::Edit>& edits, std::stop_token stop) const override;
  Result<api::MeasuredChange> measure(const std::vector<edit::Edit>& edits, std::string_view text,
                                      std::stop_token stop) const override;
  Result<std::vector<int32_t>> tokenize(std::string_view text, bool special) const override;
  std::string detokenize(const std::vector<int32_t>& ids) const override;
  std::string piece(int32_t id) const override;
  bool is_special(int32_t id) const override { return id == 0; }
  Result<std::string> render(const std::vector<api::Message>& messages,
                             const api::TemplateOptions& options) const override;
  Result<api::ChatResult> chat(const api::ChatRequest& request, const api::ChatEvents& events,
                               std::stop_token stop) override;
  api::ConversationPtr new_conversation() override;
  std::stop_source start(const api::ConversationPtr& conversation, api::ChatRequest request,
                         api::ReplyEvents events) override;
  Result<api::ScoreResult> score(std::string_view text, int top, std::stop_token stop) override;
  Result<std::vector<api::Classification>> classify(const std::vector<std::string>& texts,
                                                    const api::ClassifyCallback& on_result,
                                                    std::stop_token stop) override;
  Result<std::vector<api::Embedding>> embed(const std::vector<std::string>& texts,
                                            std::stop_token stop) override;
  Result<std::vector<api::Relevance>> rerank(const std::string& query,
                                             const std::vector<std::string>& passages,
                                             std::stop_token stop) override;
  Result<api::BenchResult> bench(const api::BenchOptions& options, const ProgressCallback& progress,
                                 std::stop_token stop) override;
  void set_profiling(bool enabled) override { profiling = enabled; }
  ProfilePtr profile(api::Phase phase) const override;
  void set_tracing(bool enabled) override { tracing = enabled; }
  api::Trace trace() const override;
  const api::MachineLimits& limits() const override { return limits_; }
  std::vector<api::DerivedWeight> derived_weights() const override { return {}; }
  api::MemoryUse memory_use() const override { return {98'000'000, 13'000'000, 0, 211'000'000}; }
  int64_t context_used() const override { return context_; }
  void forget_context() override { context_ = 0; }
  std::vector<api::DeviceVitals> vitals() const override;
  std::vector<api::Offer> memory_offers() const override { return plan_.offers; }
  Result<SessionPtr> fork(const api::Fork& otherwise, const Watch& watch) const override;

  std::vector<api::ChatRequest> requests() const;
  std::atomic<bool> profiling{true}, tracing{false};

 private:
  /// What a change makes of the history.
  class Edits;
  Result<std::vector<api::EditRecord>> make(const api::Change& change, const Watch& watch);
  /// The state of a history, as it runs; nothing was measured of it.
  void adopt(api::History history);
  void recordToken(const api::TokenEvent& token);

  api::OpenOptions options_;
  FakePlan plan_;
  api::ModelInfo info_;
  api::MachineLimits limits_;
  mutable std::mutex mutex_;
  std::vector<api::ChatRequest> requests_;
  api::SessionStatePtr state_;  // under mutex_
  std::atomic<int64_t> context_{0};
  // Of what ran on the graph; under mutex_.
  mutable ProfilePtr profiles_[2];
  uint64_t generation_ = 0;
  int64_t read_ = 0, decoded_ = 0;
  std::vector<int64_t> prompts_, latencies_;  // nanoseconds
  Worker edits_;                              // last: ends before what its jobs use
};

/// token_embedding, `layers` blocks of norm and proj with a residual, a head. Ops of its own.
graph::GraphVersion fakeGraph(int layers);

/// Opens "chat", "sentiment" and any path; "corrupt.gguf" fails with a reason, "slow" waits until it is
/// stopped, "large" takes more than 2048 tokens of context only where 1 GB is free, which it is not on
/// cuda:0.
struct FakeEngine {
  FakePlan chat;
  std::vector<api::DeviceEntry> devices;  // none: not listed
  /// While set, listing the devices takes its time.
  std::shared_ptr<std::atomic<bool>> devicesHeld = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<int>> openSessions = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> slowStarted = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> slowStopped = std::make_shared<std::atomic<int>>(0);
  Services services() const;
};

}  // namespace orrery::ui::testing
