#include "engine/runtime/step_budget.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

constexpr double kMargin = 0.75;    // of the time that there is: steps differ
constexpr int64_t kRowsAtOnce = 8;  // that kernels take together; a chunk is whole ones where it can be
constexpr int64_t kGrowth = 4;      // a chunk grows by a fourth: what the next tokens cost is not known
constexpr double kDelayed = 3;      // usual steps; what chunks that grow like this do not take by themselves
constexpr int64_t kTelling = 64;    // tokens of a step without replies that tells what one takes

}  // namespace

void RecentMedian::add(double value) { values_[count_++ % kValues] = value; }

double RecentMedian::value() const {
  const size_t count = std::min(count_, kValues);
  if (count == 0) return 0;
  std::array<double, kValues> sorted = values_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

/// The last step counts in full: where reading weights hides some tokens, the next ones cost more.
double StepBudget::token_ms() const {
  return token_ms_.empty() ? alone_token_ms_ : std::max(token_ms_.value(), last_token_ms_);
}

int64_t StepBudget::prompt_tokens(double usual_ms) const {
  const double token = token_ms();
  if (usual_ms <= 0 || (token_ms_.empty() && token <= 0)) return kFirstChunk;
  const double room = (kLongestStep - 1) * usual_ms * kMargin;
  if (room < token) return kRowsAtOnce;  // what a prompt costs at all is too much: fewer would not help
  const auto grown = static_cast<double>(reach_ + std::max(kRowsAtOnce, reach_ / kGrowth));
  const auto tokens = static_cast<int64_t>(token * grown < room ? grown : room / token);
  return tokens < kRowsAtOnce ? tokens : tokens / kRowsAtOnce * kRowsAtOnce;
}

void StepBudget::record(int64_t replies, int64_t prompt, double ms) {
  const auto tokens = static_cast<double>(prompt);
  const double usual = usual_ms();
  if (replies == 0) {
    if (prompt >= kTelling) alone_token_ms_ = ms / tokens;
    return;
  }
  if (prompt == 0) {
    usual_.add(ms);
    mixed_ = 0;
    return;
  }
  ++mixed_;
  if (usual <= 0) return;
  delayed_ = ms > kDelayed * usual && !delayed_;
  if (delayed_) return;
  reach_ = std::max(prompt, reach_ / 2);
  last_token_ms_ = std::max(ms - usual, 0.0) / tokens;
  token_ms_.add(last_token_ms_);
}

}  // namespace orrery::runtime
