#include "engine/runtime/decode_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery::runtime {
namespace {

double milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

DecodeJob::DecodeJob(std::shared_ptr<Model> model, std::shared_ptr<Sequence> sequence, DecodeRequest request,
                     OnDone on_done)
    : Job(std::move(model), request.stop),
      sequence_(std::move(sequence)),
      request_(std::move(request)),
      on_done_(std::move(on_done)) {
  if (request_.chain) mirostat_mu_ = 2.0 * request_.chain->settings.mirostat_tau;
}

/// Of one text: the context, or a cache that is smaller.
int64_t DecodeJob::most_tokens() const {
  return std::min(model_->options().context, model_->kv()->max_pages() * KvCache::kPageTokens);
}

/// Compares the text with what the sequence holds; what differs is forgotten.
Result<void> DecodeJob::start() {
  const auto wanted = static_cast<int64_t>(request_.tokens.size());
  if (wanted == 0)
    return Error{ErrorCode::invalid_argument, "There is no text to read", "", "give at least one token"};
  const int64_t room = most_tokens();
  if (wanted > room || (wanted == room && !request_.score))
    return Error{ErrorCode::invalid_argument,
                 fmt::format("The text has {} tokens, the {} holds {}", wanted,
                             room < model_->options().context ? "KV cache" : "context", room),
                 "context", "shorten it, begin a new chat, or open the model with a larger --context"};
  model_->kv()->truncate(sequence_->kv, shared_tokens(sequence_->tokens, request_.tokens));
  sequence_->tokens = std::move(request_.tokens);
  sequence_->length = size();
  outcome_.prompt_tokens = wanted;
  started_ = true;
  return {};
}

bool DecodeJob::prepare() {
  if (!started_)
    if (auto ready = start(); !ready.ok()) {
      fail(std::move(ready).error());
      return false;
    }
  model_->kv()->truncate(sequence_->kv, size());  // what another cache held is gone
  if (request_.share_prefix && !request_.score) model_->kv()->share(sequence_->kv, sequence_->tokens);
  return true;
}

Result<void> DecodeJob::take_pages() {
  ORRERY_TRY(model_->kv()->reserve(sequence_->kv, size()));
  from_ = model_->kv()->valid_tokens(sequence_->kv, size() - 1);
  remaining_ = size() - from_;
  if (!std::exchange(entered_, true) && !request_.score) outcome_.reused_tokens = from_;
  return {};
}

void DecodeJob::give_way() {
  model_->kv()->release(sequence_->kv);
  ++outcome_.gave_way;
}

int64_t DecodeJob::chunk(const StepRoom& room) const {
  int64_t tokens = std::min(size() - from_, room.tokens);
  if (request_.score) {
    const int64_t unscored = std::max<int64_t>(from_ + tokens - std::max(from_, scored_), 0);
    tokens -= std::max<int64_t>(unscored - room.outputs, 0);
  } else if (tokens == size() - from_ && room.outputs == 0) {
    --tokens;  // the last token waits for a step with room for its logits
  }
  return tokens;
}

bool DecodeJob::join(StepBatch& batch, StepRoom& room) {
  const int64_t tokens = room.sequences > 0 ? chunk(room) : 0;
  if (tokens <= 0) return false;
  to_ = from_ + tokens;
  sequence_->last_step = model_->last_served;
  const kernels::RecordUse record = model_->kv()->writing(sequence_->kv, from_, to_);
  if (!timed_) {
    timed_ = true;
    first_step_ = last_token_ = Clock::now();
  }
  const auto begin = sequence_->tokens.begin() + static_cast<std::ptrdiff_t>(from_);
  const int64_t row =
      batch.add_sequence({begin, static_cast<size_t>(tokens)}, from_, sequence_->kv.pages, {}, record);
  room.tokens -= tokens;
  --room.sequences;
  add_outputs(batch, room, row);
  return true;
}

void DecodeJob::add_outputs(StepBatch& batch, StepRoom& room, int64_t row) {
  output_ = -1;
  outputs_ = 0;
  const int64_t first = request_.score ? std::max(from_, scored_) : size() - 1;
  for (int64_t position = first; position < to_; ++position) {
    const int64_t output = batch.add_output(row + position - from_, sample_request(position));
    if (output_ < 0) output_ = output;
    ++outputs_;
    --room.outputs;
  }
}

/// The token after `position`: the one that is there when scoring, else a draw.
kernels::Sample::Request DecodeJob::sample_request(int64_t position) {
  const std::vector<int32_t>& tokens = sequence_->tokens;
  kernels::Sample::Request request;
  request.position = static_cast<uint64_t>(position + 1 + outcome_.forgotten);
  if (request_.score) {
    const bool last = position + 1 == size();
    request.params.temperature = 0;
    request.target = last ? -1 : tokens[static_cast<size_t>(position + 1)];
    request.top = last ? request_.top : 0;
    return request;
  }
  const size_t count = std::min(tokens.size(), kRecentTokens);
  request.params = request_.sampling;
  request.recent = tokens.data() + tokens.size() - count;
  request.recent_count = static_cast<int32_t>(count);
  request.top = request_.top;
  request.chain = chain_for_draw();
  return request;
}

/// Points at the tokens as they are now; null for the plain order.
const kernels::SamplerChain* DecodeJob::chain_for_draw() {
  if (!request_.chain) return nullptr;
  const ChainRequest& wanted = *request_.chain;
  const std::vector<int32_t>& tokens = sequence_->tokens;
  chain_ = wanted.settings;
  chain_.history = tokens.data();
  chain_.history_count = static_cast<int32_t>(tokens.size());
  chain_.bias_ids = wanted.bias_ids.data();
  chain_.biases = wanted.biases.data();
  chain_.bias_count = static_cast<int32_t>(wanted.bias_ids.size());
  chain_.dry_breakers = wanted.dry_breakers.data();
  chain_.dry_breaker_count = static_cast<int32_t>(wanted.dry_breakers.size());
  chain_.mirostat_mu = &mirostat_mu_;
  if (wanted.allowed) chain_.allowed = wanted.allowed(tokens).data();
  return &chain_;
}

void DecodeJob::complete(const StepResult& result) {
  {
    const std::scoped_lock lock(model_->kv_mutex);
    model_->kv()->written(
        sequence_->kv, to_,
        sequence_->kept ? std::span<const int32_t>(sequence_->tokens) : std::span<const int32_t>());
  }
  remaining_ = size() - to_;
  if (request_.on_prefill && outcome_.generated == 0)
    request_.on_prefill({outcome_.prompt_tokens - outcome_.reused_tokens, to_ - outcome_.reused_tokens,
                         milliseconds(Clock::now() - first_step_)});
  if (request_.score) return take_score(result);
  if (output_ >= 0) take_token(result);
}

void DecodeJob::take_score(const StepResult& result) {
  for (int64_t i = 0; i < outputs_; ++i) {
    const kernels::Sample::Choice& choice = result.batch.choice(output_ + i);
    if (++scored_ == size())
      outcome_.last = choice;
    else
      outcome_.logprobs.push_back(choice.logprob);
  }
  if (scored_ == size()) end(DecodeOutcome::End::enough);
}

Error DecodeJob::no_next_token() const {
  const std::string where = fmt::format("position {}", size());
  if (request_.chain && request_.chain->allowed)
    return {ErrorCode::unsupported, "None of the tokens that may follow has a finite logit", where,
            "loosen what the reply must look like, or undo the last edit"};
  return {ErrorCode::unsupported, "The model gave no finite logit, so there is no next token", where,
          "undo the last edit, or try exact arithmetic"};
}

void DecodeJob::take_token(const StepResult& result) {
  const kernels::Sample::Choice& choice = result.batch.choice(output_);
  if (choice.id < 0) return fail(no_next_token());
  const Clock::time_point now = Clock::now();
  const TokenStep token{choice, milliseconds(now - last_token_), size() + outcome_.forgotten,
                        outcome_.forgotten};
  last_token_ = now;
  if (outcome_.generated++ == 0) {
    first_token_ = now;
    outcome_.prefill_ms = milliseconds(now - first_step_);
    model_->profiler.record_latency(result.plan, Phase::prefill, outcome_.prefill_ms);
  } else {
    model_->profiler.record_latency(result.plan, Phase::decode, token.step_ms);
  }
  {
    const std::scoped_lock lock(model_->kv_mutex);
    sequence_->tokens.push_back(choice.id);
    sequence_->length = size();
    remaining_ = size() - to_;
  }
  if (!request_.on_token || !request_.on_token(token)) return end(DecodeOutcome::End::enough);
  if (size() >= most_tokens() && !shift()) end(DecodeOutcome::End::context);
}

/// Makes room in a full context: of what follows the tokens to keep, the older half goes. What stays is read
/// again at its new place, so that the reply goes on exactly as if it had never seen more.
bool DecodeJob::shift() {
  if (!request_.shift) return false;
  const int64_t keep = std::clamp<int64_t>(*request_.shift, 0, size() / 2);
  const int64_t forgotten = (size() - keep + 1) / 2;
  const std::scoped_lock lock(model_->kv_mutex);
  model_->kv()->truncate(sequence_->kv, keep);
  const auto begin = sequence_->tokens.begin() + static_cast<std::ptrdiff_t>(keep);
  sequence_->tokens.erase(begin, begin + static_cast<std::ptrdiff_t>(forgotten));
  sequence_->length = size();
  remaining_ = size() - keep;
  outcome_.forgotten += forgotten;
  return true;
}

void DecodeJob::end(DecodeOutcome::End end) {
  outcome_.end = end;
  outcome_.length = size();
  if (timed_ && outcome_.generated == 0) outcome_.prefill_ms = milliseconds(Clock::now() - first_step_);
  if (outcome_.generated > 1) outcome_.decode_ms = milliseconds(last_token_ - first_token_);
  finished_ = true;
}

void DecodeJob::fail(Error error) {
  error_ = std::move(error);
  finished_ = true;
}

void DecodeJob::settle() {
  if (sequence_->job == this) sequence_->job = nullptr;
  sequence_.reset();
  if (error_)
    on_done_(*std::move(error_));
  else
    on_done_(std::move(outcome_));
}

}  // namespace orrery::runtime
