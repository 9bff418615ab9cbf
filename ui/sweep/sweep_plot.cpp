#include "ui/sweep/sweep_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace orrery::ui {
namespace {

constexpr double kNoPoint = std::numeric_limits<double>::quiet_NaN();
constexpr double kPoint = 9, kHollow = 6, kRing = 15, kTickWidth = 44;  // px

bool isInside(std::string_view path, std::string_view scope) {
  return path.size() > scope.size() && path[scope.size()] == '.' && path.starts_with(scope);
}

/// Of an earlier sweep at a place of this one: of what lies in it the largest, else of what it lies in.
std::optional<double> valueAt(const api::Sweep& other, const std::string& scope) {
  std::optional<double> largest;
  for (const api::SweepRow& row : other.rows) {
    const bool there = row.scope == scope || isInside(row.scope, scope) || isInside(scope, row.scope);
    if (!row.refusal.empty() || !there) continue;
    const double distance = api::distance_of(row.change);
    if (!(largest >= distance)) largest = distance;
  }
  return largest;
}

}  // namespace

SweepPlot::SweepPlot(const Theme& theme, QWidget* parent) : Plot(parent), theme_(theme) {
  setupAxes();
  other_ = addGraph();
  line_ = addGraph();
  for (QCPGraph*& shade : shades_) {
    shade = addGraph();
    shade->setLineStyle(QCPGraph::lsNone);
  }
  for (int i = 0; i < graphCount(); ++i) graph(i)->setSelectable(QCP::stNone);
  live_ = new QCPItemStraightLine(this);
  mark_ = new QCPItemStraightLine(this);
  ring_ = new QCPItemTracer(this);
  ring_->setStyle(QCPItemTracer::tsCircle);
  liveWord_ = new QCPItemText(this);
  liveWord_->setText("measuring");
  liveWord_->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
  liveWord_->setPadding(QMargins(4, 0, 0, 0));
  empty_ = new QCPItemText(this);
  empty_->setText("What every place is worth is drawn here");
  empty_->position->setType(QCPItemPosition::ptAxisRectRatio);
  empty_->position->setCoords(0.5, 0.5);
  for (QCPAbstractItem* item :
       {static_cast<QCPAbstractItem*>(live_), static_cast<QCPAbstractItem*>(mark_),
        static_cast<QCPAbstractItem*>(ring_), static_cast<QCPAbstractItem*>(liveWord_)}) {
    item->setSelectable(false);
    item->setVisible(false);
  }
  setMinimumHeight(80);
  setAccessibleName("Distance at each place");
  styleAll();
}

void SweepPlot::setupAxes() {
  xAxis->grid()->setVisible(false);
  xAxis->setSubTicks(false);
  const QSharedPointer<QCPAxisTickerFixed> whole(new QCPAxisTickerFixed);
  whole->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
  xAxis->setTicker(whole);
  yAxis->setScaleType(QCPAxis::stLogarithmic);
  yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
  yAxis->setNumberFormat("g");
  yAxis->setNumberPrecision(2);
  yAxis->setBasePen(Qt::NoPen);
  yAxis->grid()->setZeroLinePen(Qt::NoPen);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
  }
  yAxis->setRange(low_, high_);
  xAxis->setRange(-0.5, 29.5);
}

void SweepPlot::styleAll() {
  setBackground(QBrush(theme_(Token::panel)));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickLabelFont(theme_.monoFont(10.5));
    axis->setTickLabelColor(theme_(Token::text3));
    axis->setLabelFont(theme_.textFont(10.5));
    axis->setLabelColor(theme_(Token::text3));
  }
  xAxis->setBasePen(QPen(theme_(Token::borderStrong), 1));
  yAxis->grid()->setPen(QPen(theme_(Token::border), 1));
  line_->setPen(QPen(theme_(Token::text2), 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  other_->setPen(QPen(theme_(Token::text3), 1, Qt::DashLine));
  other_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(theme_(Token::text3), 1),
                                          QBrush(theme_(Token::panel)), theme_.scaled(kHollow)));
  for (int i = 0; i < kShades; ++i)
    shades_[i]->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme_(Token::text2), 1),
                                                QBrush(theme_.heat(i / (kShades - 1.0))),
                                                theme_.scaled(kPoint)));
  live_->setPen(QPen(theme_(Token::accent), 1));
  mark_->setPen(QPen(theme_(Token::accent), 1, Qt::DotLine));
  ring_->setPen(QPen(theme_(Token::accent), 2));
  ring_->setBrush(Qt::NoBrush);
  ring_->setSize(theme_.scaled(kRing));
  for (QCPItemText* word : {empty_, liveWord_}) {
    word->setFont(theme_.textFont(10.5));
    word->setColor(theme_(word == empty_ ? Token::text3 : Token::accent));
  }
}

void SweepPlot::show(const SweepController& sweeps, const ScopeValues& values) {
  const std::vector<api::SweepPlace>& places = sweeps.places();
  const api::Sweep& sweep = sweeps.sweep();
  low_ = values.low() > 0 ? values.low() : 1e-3;
  high_ = values.high() > low_ ? values.high() : low_ * 10;
  const auto within = [this](double value) { return std::clamp(value, low_, high_); };
  points_.assign(places.size(), kNoPoint);
  QVector<double> x, y, otherX, otherY;
  QVector<double> shadeX[kShades], shadeY[kShades];
  for (size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<double>(i);
    if (i < sweep.rows.size() && sweep.rows[i].refusal.empty()) {
      const double distance = api::distance_of(sweep.rows[i].change);
      points_[i] = distance;
      x += at;
      y += within(distance);
      const int shade = qRound(values.place(distance) * (kShades - 1));
      shadeX[shade] += at;
      shadeY[shade] += within(distance);
    }
    if (const api::Sweep* other = sweeps.other())
      if (const auto value = valueAt(*other, places[i].scope); value && *value > 0) {
        otherX += at;
        otherY += *value;
      }
  }
  if (!otherY.isEmpty()) {
    low_ = std::min(low_, *std::ranges::min_element(otherY));
    high_ = std::max(high_, *std::ranges::max_element(otherY));
  }
  line_->setData(x, y, true);
  other_->setData(otherX, otherY, true);
  for (int i = 0; i < kShades; ++i) shades_[i]->setData(shadeX[i], shadeY[i], true);
  xAxis->setRange(-0.5, std::max<double>(static_cast<double>(places.size()), 2) - 0.5);
  xAxis->setLabel(sweep.request.what == api::SweepKind::bypass_layers ||
                          sweep.request.what == api::SweepKind::place_layers
                      ? "layer"
                      : "place, in the order of the graph");
  yAxis->setRange(low_ / 1.6, high_ * 1.6);
  const bool measuring = sweeps.running() && sweep.rows.size() < places.size();
  live_->setVisible(measuring);
  liveWord_->setVisible(measuring);
  if (measuring) {
    const auto at = static_cast<double>(sweep.rows.size());
    live_->point1->setCoords(at, low_);
    live_->point2->setCoords(at, high_);
    liveWord_->position->setCoords(at, high_ * 1.5);
  }
  empty_->setVisible(x.isEmpty() && otherX.isEmpty());
  placeMarks();
  redraw();
}

void SweepPlot::choose(int place) {
  chosen_ = place;
  placeMarks();
  redraw();
}

void SweepPlot::resizeEvent(QResizeEvent* event) {
  Plot::resizeEvent(event);
  xAxis->ticker()->setTickCount(std::clamp(width() / static_cast<int>(theme_.scaled(kTickWidth)), 2, 16));
}

void SweepPlot::placeMarks() {
  const bool known = chosen_ >= 0 && chosen_ < static_cast<int>(points_.size());
  mark_->setVisible(known);
  ring_->setVisible(known && std::isfinite(points_[static_cast<size_t>(chosen_)]));
  if (!known) return;
  mark_->point1->setCoords(chosen_, low_);
  mark_->point2->setCoords(chosen_, high_);
  if (ring_->visible())
    ring_->position->setCoords(chosen_, std::clamp(points_[static_cast<size_t>(chosen_)], low_, high_));
}

void SweepPlot::mousePressEvent(QMouseEvent* event) {
  Plot::mousePressEvent(event);
  if (event->button() != Qt::LeftButton || points_.empty()) return;
  const int place = qRound(xAxis->pixelToCoord(event->position().x()));
  emit placeChosen(std::clamp(place, 0, static_cast<int>(points_.size()) - 1));
}

void SweepPlot::setTheme(const Theme& theme) {
  theme_ = theme;
  styleAll();
  redraw();
}

}  // namespace orrery::ui
