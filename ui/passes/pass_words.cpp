#include "ui/passes/pass_words.h"

#include <cmath>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString spreadWords(const api::StepSpread& spread) {
  return QString("%1 (%2 to %3)")
      .arg(format::time(spread.us), format::time(spread.low), format::time(spread.high));
}

}  // namespace

GainWords gainWords(const std::optional<api::StepGain>& gain, const QString& what, int rounds) {
  if (!gain) return {format::dash(), {}, Token::text3};
  const QString tip =
      QString("%1 with the pass: %2\nwithout: %3\nmedian and middle three quarters of %4, in turns")
          .arg(what, spreadWords(gain->with), spreadWords(gain->without), format::counted(rounds, "round"));
  if (gain->within_noise()) return {"within noise", tip, Token::text2};
  const double change = gain->change();
  const QString sign = change < 0 ? QStringLiteral("\u2212") : QStringLiteral("+");
  return {sign + format::percent(std::abs(change)), tip, change < 0 ? Token::ok : Token::warn};
}

QString passTitle(const std::string& name) { return QString::fromStdString(name).replace('_', ' '); }

}  // namespace orrery::ui
