#include "ui/latency/latency_plot.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHeadroom = 1.25;
constexpr double kLeastSpan = 60;  // tokens
constexpr double kOne = 0.4;       // tokens: the width of one that is alone
constexpr int kExportWidth = 1000, kExportHeight = 360;
constexpr double kExportScale = 2;
constexpr double kTickGap = 6;  // px

/// About six ticks; none at the right end, where the axis' word stands.
class TokenTicker : public QCPAxisTicker {
 public:
  TokenTicker(const QCPAxis* axis, const QCPItemText* word) : axis_(axis), word_(word) { setTickCount(6); }

 protected:
  QVector<double> createTickVector(double step, const QCPRange& range) override {
    QVector<double> ticks = QCPAxisTicker::createTickVector(step, range);
    const QMargins margins = axis_->axisRect()->margins();
    const double width = axis_->parentPlot()->viewport().width() - margins.left() - margins.right();
    const auto taken = [&](double tick) {  // px from the right end
      return textWidth(QString::number(tick), axis_->tickLabelFont()) / 2 + kTickGap +
             textWidth(word_->text(), word_->font());
    };
    while (!ticks.isEmpty() && (range.upper - ticks.last()) / range.size() * width < taken(ticks.last()))
      ticks.removeLast();
    return ticks;
  }

 private:
  const QCPAxis* axis_;
  const QCPItemText* word_;
};

}  // namespace

LatencyPlot::LatencyPlot(const Theme& theme, QWidget* parent) : Plot(parent), theme_(theme) {
  setupWords();
  setupAxes();
  setupGraphs();
  styleAll();
  connect(this, &Plot::afterLayout, this, &LatencyPlot::placeWords);
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  axisRect()->setRangeDrag(Qt::Horizontal);
  axisRect()->setRangeZoom(Qt::Horizontal);
  setNoAntialiasingOnDrag(false);
  setMinimumHeight(80);
  setAccessibleName("Latency per token");
  const auto moved = [this] {
    following_ = false;
    emit viewChanged(false);
  };
  connect(this, &Plot::mouseWheel, this, moved);
  connect(this, &Plot::mouseMove, this, [this, moved](QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) moved();
  });
}

void LatencyPlot::setupAxes() {
  axisRect()->setAutoMargins(QCP::msNone);
  xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new TokenTicker(xAxis, xWord_)));
  xAxis->grid()->setVisible(false);
  xAxis->setSubTicks(false);
  xAxis->setTickLength(0, 0);
  yAxis->setSubTicks(false);
  yAxis->setTickLength(0, 0);
  yAxis->setBasePen(Qt::NoPen);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickPen(Qt::NoPen);  // of length 0 they would still be dots
    axis->setSubTickPen(Qt::NoPen);
  }
  yAxis->ticker()->setTickCount(3);
  yAxis->grid()->setZeroLinePen(Qt::NoPen);
  xAxis->setRange(0, kLeastSpan);
  yAxis->setRange(0, 6);
}

void LatencyPlot::setupGraphs() {
  each_ = addGraph();
  p95_ = addGraph();
  p50_ = addGraph();
  p95_->setChannelFillGraph(p50_);
  each_->setAntialiased(false);  // thin and jagged: smoothing costs most here and shows least
  for (QCPGraph* graph : {each_, p95_, p50_}) {
    graph->setSelectable(QCP::stNone);
    graph->setAdaptiveSampling(true);
    graph->setAntialiasedFill(false);  // its edge is drawn over
  }
  for (int side : {0, 1}) {
    pairEach_[side] = addGraph();
    pairP50_[side] = addGraph();
    pairEach_[side]->setAntialiased(false);
    for (QCPGraph* graph : {pairEach_[side], pairP50_[side]}) graph->setSelectable(QCP::stNone);
    pairWord_[side] = new QCPItemText(this);
    pairWord_[side]->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    pairWord_[side]->setTextAlignment(Qt::AlignLeft);
    pairWord_[side]->setPadding(QMargins(kNamePadding, 0, 0, 0));
    pairWord_[side]->setSelectable(false);
    pairWord_[side]->setVisible(false);
  }
  liveLine_ = new QCPItemStraightLine(this);
  liveLine_->setSelectable(false);
  liveLine_->setVisible(false);
  head_ = new QCPItemTracer(this);
  head_->setStyle(QCPItemTracer::tsCircle);
  head_->setSize(8);
  head_->setSelectable(false);
  head_->setVisible(false);
}

void LatencyPlot::styleAll() {
  const auto faint = [](QColor color, double opacity) {
    color.setAlphaF(static_cast<float>(opacity));
    return color;
  };
  const QColor curve = theme_(token_);
  axisRect()->setMargins(QMargins(qRound(theme_.scaled(42)), qRound(theme_.scaled(26)),
                                  qRound(theme_.scaled(16)), qRound(theme_.scaled(24))));
  setBackground(QBrush(theme_(Token::panel)));
  axisRect()->setBackground(QBrush(theme_(Token::panel)));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickLabelFont(theme_.monoFont(10.5));
    axis->setTickLabelColor(theme_(Token::text3));
    axis->setTickLabelPadding(6);
  }
  for (QCPItemText* word : {xWord_, yWord_}) {
    word->setFont(theme_.textFont(10.5));
    word->setColor(theme_(Token::text3));
  }
  liveWord_->setFont(theme_.textFont(10.5));
  liveWord_->setColor(theme_(Token::accent));
  xAxis->setBasePen(QPen(theme_(Token::borderStrong), 1));
  yAxis->grid()->setPen(QPen(theme_(Token::border), 1));
  yAxis->grid()->setSubGridPen(QPen(faint(theme_(Token::border), 0.45), 1));
  each_->setPen(QPen(faint(curve, 0.45), 1));
  p95_->setPen(QPen(faint(curve, 0.6), 1));
  p95_->setBrush(QBrush(faint(curve, 0.2)));
  p50_->setPen(QPen(curve, 2.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  liveLine_->setPen(QPen(theme_(Token::accent), 1));
  head_->setPen(Qt::NoPen);
  head_->setBrush(curve);
  for (int side : {0, 1}) {
    const QColor color = theme_(sides_[static_cast<size_t>(side)].token);
    pairP50_[side]->setPen(QPen(color, 2.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    pairEach_[side]->setPen(QPen(faint(color, 0.45), 1));
    pairWord_[side]->setFont(theme_.textFont(10.5));
    pairWord_[side]->setColor(color);
  }
  styleItems();
}

void LatencyPlot::fillGraphs(const LatencySeries& series) {
  QVector<double> x, each, p50, p95;
  const auto count = static_cast<qsizetype>(series.samples().size());
  for (QVector<double>* values : {&x, &each, &p50, &p95}) values->reserve(count + series.replies());
  int reply = -1;
  qsizetype begin = 0;           // of the reply
  const auto stretchOne = [&] {  // a line through one point shows nothing
    if (x.size() != begin + 1) return;
    x += x.last() + kOne;
    for (QVector<double>* values : {&each, &p50, &p95}) *values += values->last();
  };
  for (const LatencySeries::Sample& sample : series.samples()) {
    if (reply >= 0 && reply != sample.reply) {  // a gap between replies
      stretchOne();
      x += sample.x - 0.5;
      for (QVector<double>* values : {&each, &p50, &p95}) *values += kNan;
      begin = x.size();
    }
    reply = sample.reply;
    x += sample.x;
    each += sample.ms;
    p50 += sample.p50;
    p95 += sample.p95;
  }
  stretchOne();
  each_->setData(x, each, true);
  p50_->setData(x, p50, true);
  p95_->setData(x, p95, true);
  each_->setVisible(visible_[static_cast<int>(LatencyCurve::each)]);
  p50_->setVisible(visible_[static_cast<int>(LatencyCurve::p50)]);
  p95_->setVisible(visible_[static_cast<int>(LatencyCurve::band)]);
}

void LatencyPlot::fitRanges(const LatencySeries& series) {
  double top = 0;
  std::vector<double> times;
  for (const LatencySeries::Sample& sample : series.samples()) times.push_back(sample.ms);
  if (!times.empty()) {  // one slow token in a hundred may leave the picture
    const auto rank = static_cast<ptrdiff_t>(0.99 * static_cast<double>(times.size() - 1));
    std::nth_element(times.begin(), times.begin() + rank, times.end());
    top = std::max(times[static_cast<size_t>(rank)], series.samples().back().p95);
  }
  for (const LatencySeries::Block& block : series.blocks()) top = std::max(top, block.perToken());
  yAxis->setRange(0, top > 0 ? top * kHeadroom : 6);
  if (following_) xAxis->setRange(0, std::max(kLeastSpan, series.end() * 1.02));
}

void LatencyPlot::show(const LatencySeries& series, bool live) {
  if (paused_) return;
  setLogarithmic(false);
  fillGraphs(series);
  // Items change with replies, prefills and edits only; per token they stay.
  size_t key = series.marks().size() * 4096 + static_cast<size_t>(series.replies()) * 2 + (live ? 1 : 0);
  for (const LatencySeries::Block& block : series.blocks())
    key = key * 31 + static_cast<size_t>(block.tokens);
  if (key != itemKey_) {
    itemKey_ = key;
    fillItems(series, live);
  }
  fitRanges(series);
  const bool head = live && !series.samples().empty() && visible_[static_cast<int>(LatencyCurve::p50)];
  head_->setVisible(head);
  liveLine_->setVisible(head);
  if (head) {
    const LatencySeries::Sample& last = series.samples().back();
    head_->position->setCoords(last.x, last.p50);
    liveLine_->point1->setCoords(last.x, 0);
    liveLine_->point2->setCoords(last.x, 1);
  }
  redraw();
}

void LatencyPlot::setCurveToken(Token token) {
  token_ = token;
  styleAll();
}

void LatencyPlot::setTexts(bool texts) {
  texts_ = texts;
  itemKey_ = 0;
  yWord_->setText(texts ? "ms per text" : "ms per token");
  xWord_->setText(texts ? "texts" : "tokens");
}

void LatencyPlot::setPaused(bool paused) { paused_ = paused; }

void LatencyPlot::setCurveVisible(LatencyCurve curve, bool visible) {
  visible_[static_cast<int>(curve)] = visible;
  itemKey_ = 0;
}

void LatencyPlot::resetView() {
  following_ = true;
  emit viewChanged(true);
}

void LatencyPlot::setTheme(const Theme& theme) {
  theme_ = theme;
  styleAll();
  redraw();
}

bool LatencyPlot::exportTo(const QString& path, const LatencySeries& series, QString* reason) {
  LatencyPlot copy(Theme(Theme::Mode::light, theme_.bodySize()));
  copy.resize(kExportWidth, kExportHeight);
  std::copy(std::begin(visible_), std::end(visible_), std::begin(copy.visible_));
  copy.setCurveToken(token_);
  copy.setTexts(texts_);
  copy.show(series, false);
  const QString suffix = QFileInfo(path).suffix().toLower();
  bool saved = false;
  if (suffix == "pdf") {
    saved = copy.savePdf(path, kExportWidth, kExportHeight);
  } else if (suffix == "png") {
    saved = copy.savePng(path, kExportWidth, kExportHeight, kExportScale);
  } else {
    *reason = "a plot is saved as .png or .pdf, numbers as .csv";
    return false;
  }
  if (!saved) *reason = "the file cannot be written";
  return saved;
}

void LatencyPlot::mouseDoubleClickEvent(QMouseEvent*) { resetView(); }

}  // namespace orrery::ui
