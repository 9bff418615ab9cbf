#include "ui/depth/depth_plot.h"

#include <algorithm>
#include <cmath>

#include "ui/depth/depth_words.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kCurveMark = 8, kHollowMark = 7, kCurve = 2, kSpread = 1;  // px
constexpr double kTickWide = 62;                                            // px of a number of the axis

QString tickWord(DepthPlot::What what, double value) {
  if (what == DepthPlot::What::time)
    return value >= 1 ? format::count(std::llround(value)) : QString::number(value);
  return format::bytes(value).replace(".0 ", " ");
}

}  // namespace

DepthPlot::DepthPlot(const Theme& theme, What what, QWidget* parent)
    : Plot(parent),
      theme_(theme),
      what_(what),
      mark_(new QCPItemStraightLine(this)),
      empty_(new QCPItemText(this)),
      yWord_(new QCPItemText(this)) {
  setupAxes();
  for (Line& line : lines_) {
    line.graph = addGraph();
    line.graph->setSelectable(QCP::stNone);
    line.spread = new QCPErrorBars(xAxis, yAxis);
    line.spread->setDataPlottable(line.graph);
    line.spread->setSelectable(QCP::stNone);
    line.spread->setWhiskerWidth(0);
    line.spread->setSymbolGap(0);
  }
  mark_->setSelectable(false);
  for (QCPItemText* word : {empty_, yWord_}) {
    word->setSelectable(false);
    word->setClipToAxisRect(false);
    word->position->setType(QCPItemPosition::ptAxisRectRatio);
  }
  empty_->position->setCoords(0.5, 0.5);
  yWord_->setText(what == What::time ? "ms a token" : "bytes of the context");
  yWord_->setPadding(QMargins(0, 0, 0, 5));
  yWord_->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
  yWord_->position->setCoords(0, 0);
  setMinimumSize(140, 90);
  setAccessibleName(what == What::time ? "Time of a token over the length of the text"
                                       : "Memory of the context over the length of the text");
  styleAll();
  show({}, {}, {});
}

void DepthPlot::setupAxes() {
  axisRect()->setMinimumMargins(QMargins(0, 20, 14, 0));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(QSharedPointer<QCPAxisTickerText>(new QCPAxisTickerText));
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setSubTicks(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  xAxis->grid()->setVisible(false);
  xAxis->setLabelPadding(2);
  yAxis->setBasePen(Qt::NoPen);
}

void DepthPlot::styleAll() {
  setBackground(QBrush(theme_(Token::panel)));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickLabelFont(theme_.monoFont(10.5));
    axis->setTickLabelColor(theme_(Token::text3));
    axis->setLabelFont(theme_.textFont(10.5));
    axis->setLabelColor(theme_(Token::text3));
  }
  xAxis->setBasePen(empty_->visible() ? QPen(Qt::NoPen) : QPen(theme_(Token::borderStrong), 1));
  yAxis->grid()->setPen(QPen(theme_(Token::border), 1));
  mark_->setPen(QPen(theme_(Token::accent), 1, Qt::DotLine));
  for (QCPItemText* word : {empty_, yWord_}) {
    word->setFont(theme_.textFont(10.5));
    word->setColor(theme_(Token::text3));
  }
  for (size_t i = 0; i < looks_.size() && i < std::size(lines_); ++i) {
    const bool hollow = i == 0 && looks_.size() > 1;
    const QColor color = theme_(looks_[i].token);
    const auto shape = looks_[i].device ? QCPScatterStyle::ssSquare : QCPScatterStyle::ssCircle;
    lines_[i].graph->setPen(QPen(color, kCurve, hollow ? Qt::DashLine : Qt::SolidLine, Qt::RoundCap));
    lines_[i].graph->setScatterStyle(QCPScatterStyle(shape, QPen(color, 1.6),
                                                     QBrush(hollow ? theme_(Token::panel) : color),
                                                     theme_.scaled(hollow ? kHollowMark : kCurveMark)));
    lines_[i].spread->setPen(QPen(color, kSpread));
  }
}

double DepthPlot::valueOf(const api::BenchResult::Depth& at) const {
  return what_ == What::time ? at.ms : static_cast<double>(at.context_bytes);
}

std::vector<double> DepthPlot::points(size_t curve) const {
  std::vector<double> values;
  if (curve < curves_.size())
    for (const api::BenchResult::Depth& at : curves_[curve].points) values.push_back(valueOf(at));
  return values;
}

void DepthPlot::show(const std::vector<int64_t>& depths, const std::vector<DepthCurve>& curves,
                     const std::vector<SideLook>& looks) {
  depths_ = depths;
  curves_ = curves;
  looks_ = looks;
  double low = 0, high = 0;
  for (size_t i = 0; i < std::size(lines_); ++i) {
    QVector<double> x, y, below, above;
    if (i < curves_.size())
      for (const api::BenchResult::Depth& at : curves_[i].points) {
        const double value = valueOf(at);
        const bool timed = what_ == What::time;
        x += static_cast<double>(at.tokens);
        y += value;
        below += timed ? value - at.min_ms : 0;
        above += timed ? at.max_ms - value : 0;
        low = low == 0 ? y.back() - below.back() : std::min(low, y.back() - below.back());
        high = std::max(high, y.back() + above.back());
      }
    lines_[i].graph->setData(x, y, true);
    lines_[i].spread->setData(below, above);
  }
  const bool empty = !(high > 0);
  if (!empty) {
    const auto [least, most] = axisRange(low, high);
    yAxis->setRange(least, most);
  }
  const double first = depths.empty() ? 1000 : static_cast<double>(depths.front()),
               last = depths.empty() ? 1e5 : static_cast<double>(depths.back());
  xAxis->setRange(first / 1.35, std::max(last, first * 2) * 1.35);
  empty_->setVisible(empty);
  xAxis->setLabel(empty ? QString() : QStringLiteral("tokens before"));
  yWord_->setVisible(!empty);
  yAxis->grid()->setVisible(!empty);
  for (QCPAxis* axis : {xAxis, yAxis}) axis->setTickLabels(!empty);
  styleAll();
  placeTicks();
  placeMark();
  redraw();
}

/// As many along the bottom as there is room for.
void DepthPlot::placeTicks() {
  for (QCPAxis* axis : {xAxis, yAxis}) {
    std::vector<double> ticks = axisTicks(axis->range().lower, axis->range().upper);
    const double most = axis == xAxis ? width() / theme_.scaled(kTickWide) : ticks.size();
    if (static_cast<double>(ticks.size()) > most)
      std::erase_if(ticks, [](double tick) { return std::abs(std::remainder(std::log10(tick), 1)) > 1e-6; });
    auto ticker = axis->ticker().staticCast<QCPAxisTickerText>();
    ticker->clear();
    for (const double tick : ticks)
      ticker->addTick(tick, axis == xAxis ? format::count(std::llround(tick)) : tickWord(what_, tick));
  }
}

void DepthPlot::setEmptyWords(const QString& words) {
  empty_->setText(words);
  redraw();
}

void DepthPlot::choose(int depth) {
  chosen_ = depth;
  placeMark();
  redraw();
}

void DepthPlot::placeMark() {
  const bool known = chosen_ >= 0 && chosen_ < static_cast<int>(depths_.size()) && !empty_->visible();
  mark_->setVisible(known);
  if (!known) return;
  const auto at = static_cast<double>(depths_[static_cast<size_t>(chosen_)]);
  mark_->point1->setCoords(at, yAxis->range().lower);
  mark_->point2->setCoords(at, yAxis->range().upper);
}

int DepthPlot::depthAt(const QPointF& position) const {
  size_t measured = 0;
  for (const DepthCurve& curve : curves_) measured = std::max(measured, curve.points.size());
  int nearest = -1;
  double least = 0;
  for (size_t i = 0; i < measured; ++i) {
    const double off = std::abs(xAxis->coordToPixel(static_cast<double>(depths_[i])) - position.x());
    if (nearest >= 0 && off >= least) continue;
    nearest = static_cast<int>(i);
    least = off;
  }
  return nearest;
}

void DepthPlot::mousePressEvent(QMouseEvent* event) {
  Plot::mousePressEvent(event);
  if (event->button() != Qt::LeftButton) return;
  if (const int depth = depthAt(event->position()); depth >= 0) emit depthChosen(depth);
}

void DepthPlot::resizeEvent(QResizeEvent* event) {
  placeTicks();  // before it is drawn in its new size
  Plot::resizeEvent(event);
}

void DepthPlot::setTheme(const Theme& theme) {
  theme_ = theme;
  styleAll();
  redraw();
}

}  // namespace orrery::ui
