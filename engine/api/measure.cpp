// What edits do to the answers: two versions of one session read the same text, each in one step of its own.
#include "engine/api/compare_values.h"
#include "engine/api/guard.h"
#include "engine/generate/encode_texts.h"

namespace orrery::api {
namespace {

/// Prose, numbers, code and two languages besides: what a rounded number changes shows in some of it.
constexpr std::string_view kProbeText =
    "The orrery in the hall had stood still for eleven years when the clockmaker's daughter wound it again. "
    "Mercury went first, in small quick steps; Saturn took an afternoon to move by the width of a finger. "
    "She counted: 88 days, 225, 365, 687, then 4,333 and 10,759, and wrote each number beside its gear. "
    "for (int i = 0; i < planets; ++i) angle[i] += 2 * pi * days / period[i]; "
    "La m\u00e9canique c\u00e9leste est une horloge. Die Uhr ging zwei Minuten nach. "
    "What a machine repeats exactly, it said, it has understood; what it has understood it may forget.";

}  // namespace

Result<MeasuredChange> SessionImpl::measure(const std::vector<edit::Edit>& edits, std::string_view text,
                                            std::stop_token stop) const {
  return guarded([&]() -> Result<MeasuredChange> {
    const SessionStatePtr now = state();
    ORRERY_ASSIGN(const Replayed made, replayed(now->model, edits));
    ORRERY_ASSIGN(const auto version,
                  prepare_version(made.graph, preparation(now->fusion, now->disabled_passes), {{}, stop}));
    ORRERY_TRY(check_vocabulary());
    const int64_t most_tokens = std::min(logit_tokens(*this, *this), text_limit());
    std::vector<int32_t> tokens =
        generate::encode_within(*parts_.tokenizer, text.empty() ? kProbeText : text, most_tokens);
    if (tokens.empty())
      return Error{ErrorCode::invalid_argument, "There is nothing to read", "measure", "give a text"};
    MeasuredChange change;
    change.tokens = static_cast<int64_t>(tokens.size());
    const bool generates = parts_.info.task == Task::generate;
    if (generates) change.positions = std::min<int64_t>(change.tokens, runtime::kMaxOutputs);
    if (stop.stop_requested()) return cancelled_error();
    ORRERY_ASSIGN(const auto answers,
                  answers_of({*this, *now->version}, {*this, *version}, tokens, change.positions));
    if (generates) {
      const Agreement agreement = agreement_of(answers[0], answers[1], change.positions);
      change.kl = agreement.kl;
      change.top1_agreement = agreement.top1;
    } else {
      change.cosine = difference_of(answers[0], answers[1]).cosine;
    }
    return change;
  });
}

}  // namespace orrery::api
