#include "ui/theme/format.h"

#include <array>
#include <cmath>
#include <utility>

namespace orrery::ui::format {
namespace {

constexpr QChar kThinGap(0x202F);

/// Parts thousands of the digits before a decimal point.
QString grouped(const QString& digits) {
  const qsizetype start = digits.startsWith('-') ? 1 : 0;
  qsizetype point = digits.indexOf('.');
  if (point < 0) point = digits.size();
  QString text = digits;
  for (qsizetype at = point - 3; at > start; at -= 3) text.insert(at, kThinGap);
  return text;
}

}  // namespace

QString dash() { return QStringLiteral("–"); }

QString count(qint64 value) { return grouped(QString::number(value)); }

QString counted(qint64 value, const QString& noun) {
  return count(value) + ' ' + noun + (value == 1 ? "" : "s");
}

QString number(double value, int digits) {
  if (!std::isfinite(value)) return dash();
  if (value == 0) return QStringLiteral("0");
  // Rounded first: 9.996 has its digit before the point in another place than it seems.
  int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  const double unit = std::pow(10.0, before - digits);
  const double rounded = std::round(value / unit) * unit;
  before = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9)) + 1;
  if (before < -4) return QString::number(value, 'e', digits - 1);
  return grouped(QString::number(rounded, 'f', std::max(0, digits - before)));
}

QString distance(double value) {
  constexpr double kPlain = 1e-3;
  if (value == 0) return QStringLiteral("0");
  return std::abs(value) < kPlain ? QString::number(value, 'e', 1) : number(value);
}

QString time(double us) {
  if (!std::isfinite(us)) return dash();
  if (us < 0.0995) return number(us * 1e3, us < 0.00995 ? 2 : 3) + QStringLiteral(" ns");
  if (us < 999.5) return (us < 9.995 ? QString::number(us, 'f', 1) : number(us)) + QStringLiteral(" µs");
  if (us < 999.5e3) return number(us / 1e3) + QStringLiteral(" ms");
  return number(us / 1e6) + QStringLiteral(" s");
}

QString time(double us, bool estimated) {
  return estimated && std::isfinite(us) ? QStringLiteral("≈ ") + time(us) : time(us);
}

QString timeBrief(double us, bool estimated) {
  if (!std::isfinite(us)) return dash();
  if (estimated) return QStringLiteral("≈") + timeBrief(us, false);
  const auto brief = [](double value, const char* unit) {
    return (value < 9.95 ? QString::number(value, 'f', 1) : number(value, value < 99.5 ? 2 : 3)) +
           QString::fromUtf8(unit);
  };
  if (us < 0.0995) return brief(us * 1e3, " ns");
  if (us < 999.5) return brief(us, " µs");
  return us < 999.5e3 ? brief(us / 1e3, " ms") : brief(us / 1e6, " s");
}

QString bytes(double value) {
  if (!std::isfinite(value) || value < 0) return dash();
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit > 0 && value < 9.95 ? 1 : 0;
  return QString::number(value, 'f', decimals) + ' ' + QLatin1String(units[unit]);
}

QString rate(double value, const QString& unit) { return number(value) + ' ' + unit; }

QString bandwidth(double bytes, double us) {
  if (!(us > 0) || !(bytes > 0)) return dash();
  const double perSecond = bytes / us * 1e6;
  return perSecond < 0.9995e9 ? number(perSecond / 1e6) + QStringLiteral(" MB/s")
                              : number(perSecond / 1e9) + QStringLiteral(" GB/s");
}

QString percent(double share) {
  if (!std::isfinite(share)) return dash();
  const double value = share * 100;
  return QString::number(value, 'f', std::abs(value) < 99.95 ? 1 : 0) + QStringLiteral(" %");
}

}  // namespace orrery::ui::format
