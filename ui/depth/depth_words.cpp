#include "ui/depth/depth_words.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int64_t kDeepest = 1 << 20;
constexpr double kFewDecades = 1.9, kMargin = 1.5;

}  // namespace

Result<std::vector<int64_t>> depthsOf(const QString& words) {
  static const QRegularExpression parts("[,;\\s]+");
  std::vector<int64_t> depths;
  for (QString word : words.split(parts, Qt::SkipEmptyParts)) {
    const bool thousands = word.endsWith('k', Qt::CaseInsensitive);
    bool number = false;
    const double value = (thousands ? word.chopped(1) : word).toDouble(&number) * (thousands ? 1000 : 1);
    if (!number || value < 1 || value > static_cast<double>(kDeepest) || value != std::floor(value))
      return Error{ErrorCode::invalid_argument, "\"" + word.toStdString() + "\" is no depth", "",
                   "type numbers from 1 to 1048576 with commas between"};
    depths.push_back(static_cast<int64_t>(value));
  }
  if (depths.empty())
    return Error{ErrorCode::invalid_argument, "There is no depth", "", "type some, such as 1000, 10000"};
  std::ranges::sort(depths);
  const auto same = std::ranges::unique(depths);
  depths.erase(same.begin(), same.end());
  return depths;
}

QString wordsOf(const std::vector<int64_t>& depths) {
  QStringList words;
  for (const int64_t depth : depths) words += QString::number(depth);
  return words.join(", ");
}

QByteArray depthsCsv(const std::vector<DepthCurve>& curves) {
  QByteArray text = "side,tokens,ms_per_token,min_ms,max_ms,context_bytes,tokens_read,read_ms\n";
  for (const DepthCurve& curve : curves)
    for (const api::BenchResult::Depth& at : curve.points)
      text += QString("%1,%2,%3,%4,%5,%6,%7,%8\n")
                  .arg(curve.name)
                  .arg(at.tokens)
                  .arg(at.ms)
                  .arg(at.min_ms)
                  .arg(at.max_ms)
                  .arg(at.context_bytes)
                  .arg(at.read)
                  .arg(at.read_ms)
                  .toUtf8();
  return text;
}

std::vector<double> axisTicks(double low, double high) {
  std::vector<double> ticks;
  if (!(low > 0) || !(high > low)) return ticks;
  const bool few = std::log10(high / low) < kFewDecades;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10)
    for (const double times : {1.0, 2.0, 5.0})
      if ((few || times == 1) && decade * times >= low * 0.999 && decade * times <= high * 1.001)
        ticks.push_back(decade * times);
  return ticks;
}

std::pair<double, double> axisRange(double low, double high) {
  low /= kMargin;
  high *= kMargin;
  const double lacking = 10 / (high / low);
  if (lacking <= 1) return {low, high};
  return {low / std::sqrt(lacking), high * std::sqrt(lacking)};
}

}  // namespace orrery::ui
