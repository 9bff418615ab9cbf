#include "ui/costs/cost_lines.h"

#include <cmath>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kSameSpeed = 0.01;  // of it: as often as not a speed is measured that much otherwise

/// `written`: the difference without its sign.
void setDelta(CostLine& line, double difference, const QString& written, bool moreIsBetter) {
  line.delta = (difference > 0 ? "+" : "\u2212") + written;
  line.token = (difference > 0) == moreIsBetter ? Token::ok : Token::warn;
}

CostLine speed(const api::MeasuredChange& change) {
  CostLine line{"speed", format::dash(), {}, Token::text3};
  if (!change.tokens_per_second_after) return line;
  const double after = *change.tokens_per_second_after, before = change.tokens_per_second_before.value_or(0);
  line.value = format::rate(after, "tok/s");
  if (before <= 0) return line;
  const double difference = after - before;
  if (std::abs(difference) < kSameSpeed * before)
    line.delta = "0";
  else
    setDelta(line, difference, format::number(std::abs(difference), 2), true);
  return line;
}

CostLine memory(const api::MeasuredChange& change) {
  CostLine line{"memory", format::dash(), {}, Token::text3};
  if (change.memory.empty()) return line;
  double before = 0, after = 0;  // of all devices
  for (const api::MemoryChange& device : change.memory) {
    before += static_cast<double>(device.before.session());
    after += static_cast<double>(device.after.session());
  }
  line.value = format::bytes(after);
  line.delta = "0";
  if (after != before) setDelta(line, after - before, format::bytes(std::abs(after - before)), false);
  return line;
}

CostLine perplexity(const api::MeasuredChange& change) {
  CostLine line{"perplexity", format::dash(), {}, Token::text3};
  if (!change.nll_after) return line;
  const double after = std::exp(*change.nll_after);
  line.value = format::number(after);
  if (!change.nll_before) return line;
  const double difference = after - std::exp(*change.nll_before);
  const QString written = format::number(std::abs(difference), 2);
  line.delta = "0";
  if (std::abs(difference) >= 0.0005 * after) setDelta(line, difference, written, false);
  return line;
}

QString shared(std::optional<double> share) { return share ? format::percent(*share) : format::dash(); }

}  // namespace

QString costRefusal(const EditCost& cost) {
  if (!cost.refusal) return {};
  const ErrorCode code = cost.refusal->code;
  const bool ofEdits = code == ErrorCode::invalid_argument || code == ErrorCode::not_found ||
                       code == ErrorCode::unsupported || code == ErrorCode::shape_mismatch;
  return (ofEdits && !cost.total ? "cannot be made alone: " : "not measured: ") +
         QString::fromStdString(cost.refusal->what);
}

std::vector<CostLine> costLines(const EditCost& cost, bool writes) {
  const api::MeasuredChange& change = cost.change ? *cost.change : api::MeasuredChange();
  const auto plain = [](const QString& label, const QString& value) {
    return CostLine{label, value, {}, Token::text3};
  };
  if (!writes)
    return {memory(change),
            plain("cosine", change.cosine ? QString::number(*change.cosine, 'f', 6) : format::dash())};
  return {speed(change), memory(change),
          plain("KL", change.kl ? format::number(*change.kl, 2) : format::dash()),
          plain("top-1", shared(change.top1_agreement)), perplexity(change)};
}

}  // namespace orrery::ui
