// Reading a text into a sequence, and from there either writing on (generate) or telling how likely it was
// (score).
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "engine/runtime/job.h"
#include "kernels/sampler_chain.h"

namespace orrery::runtime {

struct TokenStep {
  const kernels::Sample::Choice& choice;
  double step_ms = 0;     // since the token before; the first: since its prompt's first step began
  int64_t position = 0;   // of this token in the whole text, what was forgotten counted
  int64_t forgotten = 0;  // before it
};

struct PrefillStep {
  int64_t tokens = 0, done = 0;  // of what had to be read; reused tokens left out
  double ms = 0;
};

/// Samplers beyond the plain ones, and what their chain points at.
struct ChainRequest {
  kernels::SamplerChain settings;  // its pointers are set at each draw
  std::vector<int32_t> bias_ids;
  std::vector<float> biases;
  std::vector<std::vector<int32_t>> dry_breakers;  // ascending
  /// The tokens that may follow those so far (prompt and reply), one bit each, from the lowest; asked before
  /// each draw, on the scheduler's thread. Not set: all.
  std::function<std::span<const uint32_t>(std::span<const int32_t> tokens)> allowed = {};
};

/// Callbacks run on the scheduler's thread and must be quick.
struct DecodeRequest {
  std::vector<int32_t>
      tokens;  // the whole text; the longest common prefix with the sequence is not read again
  kernels::SamplingParams sampling;
  std::optional<ChainRequest> chain = {};  // drawn on the CPU
  int32_t top = 0;                         // alternatives of each token, at most Sample::kMaxTop
  bool score = false;
  /// What happens when the context is full: none, the reply ends; else half of what follows the first so many
  /// tokens is forgotten and the reply goes on.
  std::optional<int64_t> shift = {};
  /// What other sequences of the model hold of the same beginning is not read again. Not for measurements.
  bool share_prefix = false;
  std::function<bool(const TokenStep&)> on_token;  // generate: false when it is enough
  std::function<void(const PrefillStep&)> on_prefill;
  std::stop_token stop;
};

struct DecodeOutcome {
  enum class End : uint8_t { enough, cancelled, context };
  End end = End::enough;
  int64_t prompt_tokens = 0, reused_tokens = 0, generated = 0;
  int64_t forgotten = 0;  // tokens that left the context (DecodeRequest::shift)
  int64_t length = 0;     // of the sequence at the end
  int64_t gave_way = 0;   // how often its pages went to an older job, and it was read again
  double prefill_ms = 0, decode_ms = 0;
  std::vector<float> logprobs;                  // score: of tokens[1..], given all before
  std::optional<kernels::Sample::Choice> last;  // score: what would follow the text
};

class DecodeJob final : public Job {
 public:
  /// How many tokens the repetition penalty looks back.
  static constexpr size_t kRecentTokens = 64;

  using OnDone = std::function<void(Result<DecodeOutcome>)>;

  /// `on_done` is called once, on the scheduler's thread (or that of its destructor).
  DecodeJob(std::shared_ptr<Model> model, std::shared_ptr<Sequence> sequence, DecodeRequest request,
            OnDone on_done);

  Sequence* sequence() override { return sequence_.get(); }
  bool prepare() override;
  Result<void> take_pages() override;
  void give_way() override;
  bool is_decode() const override { return started_ && remaining_ == 1 && !request_.score; }
  bool join(StepBatch& batch, StepRoom& room) override;
  void complete(const StepResult& result) override;
  void cancel() override { end(DecodeOutcome::End::cancelled); }
  void fail(Error error) override;
  void settle() override;

 private:
  using Clock = std::chrono::steady_clock;
  Result<void> start();
  int64_t chunk(const StepRoom& room) const;
  void add_outputs(StepBatch& batch, StepRoom& room, int64_t row);
  kernels::Sample::Request sample_request(int64_t position);
  const kernels::SamplerChain* chain_for_draw();
  void take_score(const StepResult& result);
  Error no_next_token() const;
  void take_token(const StepResult& result);
  bool shift();
  void end(DecodeOutcome::End end);
  int64_t most_tokens() const;
  int64_t size() const { return static_cast<int64_t>(sequence_->tokens.size()); }

  std::shared_ptr<Sequence> sequence_;
  DecodeRequest request_;
  OnDone on_done_;
  DecodeOutcome outcome_;
  std::optional<Error> error_;
  bool started_ = false;         // the sequence's tokens are those of the request
  bool entered_ = false;         // it was admitted once
  bool timed_ = false;           // it took part in a step
  int64_t remaining_ = 0;        // tokens that are not in the cache
  int64_t from_ = 0, to_ = 0;    // what the current step brings
  int64_t scored_ = 0;           // rows that were scored
  double mirostat_mu_ = 0;       // of the reply
  kernels::SamplerChain chain_;  // of the current step
  int64_t output_ = -1, outputs_ = 0;
  Clock::time_point first_step_, last_token_, first_token_;
};

}  // namespace orrery::runtime
