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
constexpr uint64_t kMostKept = uint64_t{256} << 20;  // bytes of values that an edited graph may begin at

/// Only how many times as long one node of an op takes as another is asked of them: as many times as it moves
/// bytes.
MachineLimits bytes_alone(const weights::DevicePtr& /*card*/) {
  MachineLimits limits;
  limits.reading = {{1, 1e9}};
  return limits;
}

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
                                  Runs runs, const std::stop_token& stop) {
  ORRERY_TRY(session.check_vocabulary());
  EditMeter meter(session, std::move(state), runs);
  const int64_t most_tokens = std::min(logit_tokens(session, session), session.text_limit());
  meter.tokens_ =
      generate::encode_within(*session.engine().tokenizer, text.empty() ? kProbeText : text, most_tokens);
  if (meter.tokens_.empty())
    return Error{ErrorCode::invalid_argument, "There is nothing to read", "measure", "give a text"};
  ORRERY_TRY(session.check_ids(meter.tokens_));
  if (meter.generates())
    meter.positions_ = std::min<int64_t>(static_cast<int64_t>(meter.tokens_.size()), runtime::kMaxOutputs);
  if (stop.stop_requested()) return cancelled_error();
  ORRERY_TRY(meter.read_text());
  ORRERY_ASSIGN(meter.memory_, memory_of(*session.engine().model, *meter.state_->version, session.info().task,
                                         session.options()));
  if (meter.generates()) ORRERY_TRY(meter.time_step());
  return meter;
}

/// Of what is there; and what edited graphs may begin at.
Result<void> EditMeter::read_text() {
  const runtime::Version& version = *state_->version;
  ORRERY_ASSIGN(const ValueId answer, answer_value(*version.fused, positions_));
  std::vector<ValueId> kept{answer};
  if (runs_ == Runs::from_the_edit) {
    const Bindings sizes{
        {kTokens, static_cast<int64_t>(tokens_.size())}, {kSequences, 1}, {kOutputs, positions_}};
    const auto worth = generate::KnownValues::worth_keeping(*version.fused, sizes, kMostKept);
    kept.insert(kept.end(), worth.begin(), worth.end());
  }
  ORRERY_ASSIGN(const auto probe,
                generate::Probe::run(session_->engine(), version, kept, {tokens_, positions_}));
  ORRERY_ASSIGN(std::vector<float> numbers, probe->read(0));
  answer_ = distributions_of(std::move(numbers), positions_);
  const std::vector<uint64_t> hashes = version.fused->feed_hashes(kept);
  for (size_t i = 1; i < kept.size(); ++i) {
    ORRERY_ASSIGN(const std::vector<std::byte> elements, probe->read_bytes(i));
    ORRERY_TRY(known_.add(hashes[i], elements));
  }
  held_ = probe->plan().weights;
  return {};
}

Result<MeasuredChange> EditMeter::measure(const std::vector<edit::Edit>& edits,
                                          const std::stop_token& stop) const {
  ORRERY_ASSIGN(const Replayed made, replayed(state_->model, edits));
  ORRERY_TRY(session_->check_results_of(*state_, *made.graph));
  ORRERY_ASSIGN(const auto version,
                prepare_version(made.graph, session_->preparation(state_->fusion, state_->disabled_passes),
                                {{}, stop}));
  if (stop.stop_requested()) return cancelled_error();
  ORRERY_ASSIGN(std::vector<float> numbers, answer_after(*version));
  ORRERY_ASSIGN(const auto memory,
                memory_of(*session_->engine().model, *version, session_->info().task, session_->options()));
  MeasuredChange change;
  change.tokens_per_second_before = tokens_per_second_;
  ORRERY_ASSIGN(change.tokens_per_second_after, speed_after(*version));
  change.tokens = static_cast<int64_t>(tokens_.size());
  change.positions = positions_;
  change.memory = memory_changes(memory_, memory);
  if (!generates()) {
    change.cosine = difference_of(answer_.logits, numbers).cosine;
    return change;
  }
  const Distributions answer = distributions_of(std::move(numbers), positions_, false);
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

Result<std::vector<float>> EditMeter::answer_after(const runtime::Version& version) const {
  return answer_of({*session_, version}, tokens_, positions_,
                   runs_ == Runs::from_the_edit ? &known_ : nullptr);
}

/// By the median of a few steps; the first one, which warms up, is not among them.
Result<double> EditMeter::steps_per_second(generate::Probe& probe) {
  std::array<double, kTimedSteps> seconds = {};
  for (double& each : seconds) {
    const auto start = std::chrono::steady_clock::now();
    ORRERY_TRY(probe.run_again());
    each = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::ranges::sort(seconds);
  return 1 / seconds[kTimedSteps / 2];
}

Result<std::unique_ptr<generate::Probe>> EditMeter::one_token(const runtime::Version& version) const {
  generate::Probe::Step step{.tokens = std::span(tokens_).first(1), .outputs = 1};
  step.timed = runs_ == Runs::from_the_edit;
  return generate::Probe::run(session_->engine(), version, {}, step);
}

/// Of what is there: the sum of its nodes' times where an edited graph's speed is computed that way.
Result<void> EditMeter::time_step() {
  ORRERY_ASSIGN(const auto probe, one_token(*state_->version));
  ORRERY_ASSIGN(tokens_per_second_, steps_per_second(*probe));
  if (runs_ == Runs::whole) return {};
  LimitsReach reach;
  step_ = profile_of(probe->profile(), Phase::decode, MachineLimits{}, reach);
  if (step_->step.us > 0) tokens_per_second_ = 1e6 / step_->step.us;
  held_.insert(held_.end(), probe->plan().weights.begin(), probe->plan().weights.end());
  return {};
}

Result<std::optional<double>> EditMeter::speed_after(const runtime::Version& version) const {
  if (!generates()) return std::optional<double>();
  if (runs_ == Runs::whole) {
    ORRERY_ASSIGN(const auto probe, one_token(version));
    ORRERY_ASSIGN(const double speed, steps_per_second(*probe));
    return std::optional(speed);
  }
  const runtime::Version& before = *state_->version;
  ORRERY_ASSIGN(const StepTimeChange time, session_->step_time(before, version, *step_, 1, bytes_alone));
  return time.after > 0 ? std::optional(1e6 / time.after) : std::nullopt;
}

Result<MeasuredChange> SessionImpl::measure(const std::vector<edit::Edit>& edits, std::string_view text,
                                            std::stop_token stop) const {
  return guarded([&]() -> Result<MeasuredChange> {
    const SessionStatePtr now = state();
    ORRERY_TRY(replayed(now->model, edits));  // what is refused is so before anything is read
    ORRERY_ASSIGN(const std::vector<edit::Edit> complete, with_vectors(*this, *now, edits, {{}, stop}));
    ORRERY_ASSIGN(const EditMeter meter, EditMeter::over(*this, now, text, EditMeter::Runs::whole, stop));
    return meter.measure(complete, stop);
  });
}

}  // namespace orrery::api
