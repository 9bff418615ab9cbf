// What edits do to the answers: two versions of one session read the same text, each in one step of its own.
#include <algorithm>
#include <array>
#include <chrono>

#include "engine/api/edit_meter.h"
#include "engine/api/guard.h"
#include "engine/api/steering.h"
#include "engine/generate/encode_texts.h"
#include "engine/generate/probe.h"

namespace orrery::api {
namespace {

constexpr size_t kTimedSteps = 5;

/// Prose, numbers, code and two languages besides: what a rounded number changes shows in some of it.
constexpr std::string_view kProbeText =
    "The orrery in the hall had stood still for eleven years when the clockmaker's daughter wound it again. "
    "Mercury went first, in small quick steps; Saturn took an afternoon to move by the width of a finger. "
    "She counted: 88 days, 225, 365, 687, then 4,333 and 10,759, and wrote each number beside its gear. "
    "for (int i = 0; i < planets; ++i) angle[i] += 2 * pi * days / period[i]; "
    "La m\u00e9canique c\u00e9leste est une horloge. Die Uhr ging zwei Minuten nach. "
    "What a machine repeats exactly, it said, it has understood; what it has understood it may forget.";

}  // namespace

Result<EditMeter> EditMeter::over(const SessionImpl& session, SessionStatePtr state, std::string_view text,
                                  const std::stop_token& stop) {
  ORRERY_TRY(session.check_vocabulary());
  EditMeter meter(session, std::move(state));
  const int64_t most_tokens = std::min(logit_tokens(session, session), session.text_limit());
  meter.tokens_ =
      generate::encode_within(*session.engine().tokenizer, text.empty() ? kProbeText : text, most_tokens);
  if (meter.tokens_.empty())
    return Error{ErrorCode::invalid_argument, "There is nothing to read", "measure", "give a text"};
  ORRERY_TRY(session.check_ids(meter.tokens_));
  if (meter.generates())
    meter.positions_ = std::min<int64_t>(static_cast<int64_t>(meter.tokens_.size()), runtime::kMaxOutputs);
  if (stop.stop_requested()) return cancelled_error();
  const runtime::Version& version = *meter.state_->version;
  ORRERY_ASSIGN(std::vector<float> answer, answer_of({session, version}, meter.tokens_, meter.positions_));
  meter.answer_ = distributions_of(std::move(answer), meter.positions_);
  ORRERY_ASSIGN(meter.memory_,
                memory_of(*session.engine().model, version, session.info().task, session.options()));
  ORRERY_ASSIGN(meter.tokens_per_second_, meter.tokens_per_second(version));
  return meter;
}

Result<MeasuredChange> EditMeter::measure(const std::vector<edit::Edit>& edits,
                                          const std::stop_token& stop) const {
  ORRERY_ASSIGN(const Replayed made, replayed(state_->model, edits));
  ORRERY_TRY(session_->check_results_of(*state_, *made.graph));
  ORRERY_ASSIGN(const auto version,
                prepare_version(made.graph, session_->preparation(state_->fusion, state_->disabled_passes),
                                {{}, stop}));
  if (stop.stop_requested()) return cancelled_error();
  ORRERY_ASSIGN(std::vector<float> numbers, answer_of({*session_, *version}, tokens_, positions_));
  ORRERY_ASSIGN(const auto memory,
                memory_of(*session_->engine().model, *version, session_->info().task, session_->options()));
  MeasuredChange change;
  change.tokens_per_second_before = tokens_per_second_;
  ORRERY_ASSIGN(change.tokens_per_second_after, tokens_per_second(*version));
  change.tokens = static_cast<int64_t>(tokens_.size());
  change.positions = positions_;
  change.memory = memory_changes(memory_, memory);
  if (!generates()) {
    change.cosine = difference_of(answer_.logits, numbers).cosine;
    return change;
  }
  const Distributions answer = distributions_of(std::move(numbers), positions_);
  Agreement agreement = agreement_of(answer_, answer);
  change.kl = agreement.kl;
  change.top1_agreement = agreement.top1;
  change.kl_by_position = std::move(agreement.kl_by_position);
  change.nll_before = nll(answer_);
  change.nll_after = nll(answer);
  return change;
}

std::optional<double> EditMeter::nll(const Distributions& answer) const {
  if (positions_ < 2) return std::nullopt;
  return answer.nll_of(std::span(tokens_).last(static_cast<size_t>(positions_ - 1)));
}

/// By the median of a few steps; the first one, which warms up, is not among them.
Result<std::optional<double>> EditMeter::tokens_per_second(const runtime::Version& version) const {
  if (!generates()) return std::optional<double>();
  const generate::Probe::Step step{.tokens = std::span(tokens_).first(1), .outputs = 1};
  ORRERY_ASSIGN(const auto probe, generate::Probe::run(session_->engine(), version, {}, step));
  std::array<double, kTimedSteps> seconds = {};
  for (double& each : seconds) {
    const auto start = std::chrono::steady_clock::now();
    ORRERY_TRY(probe->run_again());
    each = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::ranges::sort(seconds);
  return std::optional(1 / seconds[kTimedSteps / 2]);
}

Result<MeasuredChange> SessionImpl::measure(const std::vector<edit::Edit>& edits, std::string_view text,
                                            std::stop_token stop) const {
  return guarded([&]() -> Result<MeasuredChange> {
    const SessionStatePtr now = state();
    ORRERY_TRY(replayed(now->model, edits));  // what is refused is so before anything is read
    ORRERY_ASSIGN(const std::vector<edit::Edit> complete, with_vectors(*this, *now, edits, {{}, stop}));
    ORRERY_ASSIGN(const EditMeter meter, EditMeter::over(*this, now, text, stop));
    return meter.measure(complete, stop);
  });
}

}  // namespace orrery::api
