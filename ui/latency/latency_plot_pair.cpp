// The half of LatencyPlot that draws two replies on one logarithmic axis.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/latency/latency_plot.h"
#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kLeastDecades = 2.5;  // more than these: powers of ten alone
constexpr double kNameHeight = 30;     // px, two lines
constexpr double kLeastTokens = 20;
constexpr double kLeastNames = 0.2, kMostNames = 0.6;  // of the axis

/// Ones, twos and fives of each power of ten where the range is small; between them all the others.
class LogTicker : public QCPAxisTicker {
 protected:
  QVector<double> createTickVector(double, const QCPRange& range) override {
    const bool wide = range.upper > range.lower * std::pow(10, kLeastDecades);
    return multiples(range, wide ? std::initializer_list<int>{1} : std::initializer_list<int>{1, 2, 5});
  }
  int getSubTickCount(double) override { return 1; }
  QVector<double> createSubTickVector(int, const QVector<double>& ticks) override {
    if (ticks.isEmpty()) return {};
    return multiples({ticks.first() / 10, ticks.last() * 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  }

 private:
  static QVector<double> multiples(const QCPRange& range, std::initializer_list<int> steps) {
    QVector<double> ticks;
    if (range.lower <= 0) return ticks;
    for (double power = std::pow(10, std::floor(std::log10(range.lower))); power <= range.upper; power *= 10)
      for (const int step : steps) ticks += step * power;
    return ticks;
  }
};

}  // namespace

void LatencyPlot::setPair(const SideLooks& sides) {
  sides_ = sides;
  styleAll();
}

void LatencyPlot::setLogarithmic(bool logarithmic) {
  if (paired_ == logarithmic) return;
  paired_ = logarithmic;
  yAxis->setScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  QSharedPointer<QCPAxisTicker> ticker(logarithmic ? new LogTicker : new QCPAxisTicker);
  ticker->setTickCount(3);
  yAxis->setTicker(ticker);
  yAxis->setSubTicks(logarithmic);
  yAxis->setSubTickLength(0, 0);
  yAxis->grid()->setSubGridVisible(logarithmic);
  for (QCPGraph* graph : {each_, p50_, p95_}) graph->setVisible(!logarithmic);
  for (int side : {0, 1}) {
    pairEach_[side]->setVisible(logarithmic);
    pairP50_[side]->setVisible(logarithmic);
    pairWord_[side]->setVisible(logarithmic);
  }
  itemKey_ = 0;
}

void LatencyPlot::fillPair(int side, const LatencySeries& series) {
  QVector<double> x, each, p50;
  for (const LatencySeries::Sample& sample : series.samples()) {
    x += static_cast<double>(x.size());
    each += sample.ms;
    p50 += sample.p50;
  }
  pairEach_[side]->setData(x, each, true);
  pairP50_[side]->setData(x, p50, true);
  pairEach_[side]->setVisible(visible_[static_cast<int>(LatencyCurve::each)]);
  pairP50_[side]->setVisible(visible_[static_cast<int>(LatencyCurve::p50)]);
  pairWord_[side]->setVisible(!x.isEmpty());
  if (x.isEmpty()) return;
  pairWord_[side]->position->setCoords(x.last(), p50.last());
  pairWord_[side]->setText(sides_[static_cast<size_t>(side)].name + "\n" + format::time(p50.last() * 1e3));
}

/// What the names at the curves' ends take of the axis.
double LatencyPlot::namesShare() const {
  double widest = 0;
  for (const QCPItemText* word : pairWord_)
    for (const QString& line : word->text().split('\n'))
      widest = std::max(widest, textWidth(line, word->font()) + 2 * kNamePadding);
  const int axis = width() - axisRect()->margins().left();  // a name may reach into the right margin
  return std::clamp(widest / std::max(1, axis), kLeastNames, kMostNames);
}

/// Names of curves that end at about the same height stand above and below.
void LatencyPlot::partNames() {
  const double a = pairWord_[0]->position->value(), b = pairWord_[1]->position->value();
  const bool close = pairWord_[0]->visible() && pairWord_[1]->visible() &&
                     std::abs(yAxis->coordToPixel(a) - yAxis->coordToPixel(b)) < kNameHeight;
  const Qt::Alignment above = Qt::AlignLeft | Qt::AlignBottom, below = Qt::AlignLeft | Qt::AlignTop,
                      beside = Qt::AlignLeft | Qt::AlignVCenter;
  pairWord_[0]->setPositionAlignment(!close ? beside : a >= b ? above : below);
  pairWord_[1]->setPositionAlignment(!close ? beside : a >= b ? below : above);
}

void LatencyPlot::showPair(const LatencySeries& a, const LatencySeries& b) {
  if (paused_) return;
  clearItems();
  setLogarithmic(true);
  fillPair(0, a);
  fillPair(1, b);
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const LatencySeries* series : {&a, &b})
    for (const LatencySeries::Sample& sample : series->samples()) {
      low = std::min(low, sample.ms);
      high = std::max(high, sample.ms);
    }
  if (high > 0) yAxis->setRange(std::max(low / 1.6, 1e-4), high * 1.6);
  const double count = static_cast<double>(std::max(a.samples().size(), b.samples().size()));
  if (following_) xAxis->setRange(0, std::max(kLeastTokens, count) / (1 - namesShare()));
  partNames();
  head_->setVisible(false);
  liveLine_->setVisible(false);
  liveWord_->setVisible(false);
  redraw();
}

}  // namespace orrery::ui
