#include "ui/latency/latency_plot.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHeadroom = 1.25;
constexpr double kLeastSpan = 60;  // tokens
constexpr int kExportWidth = 1000, kExportHeight = 360;
constexpr double kExportScale = 2;

/// About six ticks; none at the right end, where the axis' word stands.
class TokenTicker : public QCPAxisTicker {
 public:
  TokenTicker() { setTickCount(6); }

 protected:
  QVector<double> createTickVector(double step, const QCPRange& range) override {
    QVector<double> ticks = QCPAxisTicker::createTickVector(step, range);
    while (!ticks.isEmpty() && ticks.last() > range.upper - 0.08 * range.size()) ticks.removeLast();
    return ticks;
  }
};

}  // namespace

LatencyPlot::LatencyPlot(const Theme& theme, QWidget* parent) : QCustomPlot(parent), theme_(theme) {
  setupAxes();
  setupGraphs();
  styleAll();
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
  connect(this, &QCustomPlot::mouseWheel, this, moved);
  connect(this, &QCustomPlot::mouseMove, this, [this, moved](QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) moved();
  });
}

void LatencyPlot::setupAxes() {
  axisRect()->setAutoMargins(QCP::msNone);
  axisRect()->setMargins(QMargins(42, 26, 16, 24));
  xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new TokenTicker));
  xAxis->grid()->setVisible(false);
  xAxis->setSubTicks(false);
  xAxis->setTickLength(0, 0);
  yAxis->setSubTicks(false);
  yAxis->setTickLength(0, 0);
  yAxis->setBasePen(Qt::NoPen);
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
    pairWord_[side]->setPadding(QMargins(8, 0, 0, 0));
    pairWord_[side]->setSelectable(false);
    pairWord_[side]->setVisible(false);
  }
  const auto axisWord = [this](const QString& text, double x, double y, Qt::Alignment alignment) {
    auto* word = new QCPItemText(this);
    word->position->setType(QCPItemPosition::ptAxisRectRatio);
    word->position->setCoords(x, y);
    word->setPositionAlignment(alignment);
    word->setText(text);
    word->setClipToAxisRect(false);
    word->setSelectable(false);
    return word;
  };
  yWord_ = axisWord("ms per token", 0, 0, Qt::AlignLeft | Qt::AlignBottom);
  yWord_->setPadding(QMargins(-30, 0, 0, 5));
  xWord_ = axisWord("tokens", 1, 1, Qt::AlignRight | Qt::AlignTop);
  xWord_->setPadding(QMargins(0, 6, 0, 0));
  liveWord_ = axisWord({}, 1, 0, Qt::AlignRight | Qt::AlignBottom);
  liveWord_->setPadding(QMargins(0, 0, 0, 5));
  liveLine_ = new QCPItemStraightLine(this);
  liveLine_->setSelectable(false);
  liveLine_->setVisible(false);
  head_ = new QCPItemTracer(this);
  head_->setStyle(QCPItemTracer::tsCircle);
  head_->setSize(8);
  head_->setSelectable(false);
  head_->setVisible(false);
}

QColor LatencyPlot::blockFill() const {
  return Theme::blend(theme_(Token::panel), theme_(Token::text3), 0.27);
}

void LatencyPlot::styleAll() {
  const auto faint = [](QColor color, double opacity) {
    color.setAlphaF(static_cast<float>(opacity));
    return color;
  };
  const QColor curve = theme_(token_);
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
}

void LatencyPlot::fillGraphs(const LatencySeries& series) {
  QVector<double> x, each, p50, p95;
  const auto count = static_cast<qsizetype>(series.samples().size());
  for (QVector<double>* values : {&x, &each, &p50, &p95}) values->reserve(count + series.replies());
  int reply = -1;
  for (const LatencySeries::Sample& sample : series.samples()) {
    if (reply >= 0 && reply != sample.reply) {  // a gap between replies
      x += sample.x - 0.5;
      for (QVector<double>* values : {&each, &p50, &p95}) *values += kNan;
    }
    reply = sample.reply;
    x += sample.x;
    each += sample.ms;
    p50 += sample.p50;
    p95 += sample.p95;
  }
  each_->setData(x, each, true);
  p50_->setData(x, p50, true);
  p95_->setData(x, p95, true);
  each_->setVisible(visible_[static_cast<int>(LatencyCurve::each)]);
  p50_->setVisible(visible_[static_cast<int>(LatencyCurve::p50)]);
  p95_->setVisible(visible_[static_cast<int>(LatencyCurve::band)]);
}

void LatencyPlot::addBlock(const LatencySeries::Block& block) {
  if (block.tokens <= 0) return;
  const double right = block.x + static_cast<double>(block.tokens);
  auto* area = new QCPItemRect(this);
  area->topLeft->setCoords(block.x, block.perToken());
  area->bottomRight->setCoords(right, 0);
  area->setPen(Qt::NoPen);
  area->setBrush(blockFill());
  auto* top = new QCPItemLine(this);
  top->start->setCoords(block.x, block.perToken());
  top->end->setCoords(right, block.perToken());
  top->setPen(QPen(Theme::blend(theme_(Token::panel), theme_(Token::text3), 0.85), 2));
  auto* note = new QCPItemText(this);
  note->position->setCoords(block.x, block.perToken());
  note->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
  note->setPadding(QMargins(1, 0, 0, 4));
  note->setText(
      QString("prefill\n%1 tok  %2").arg(format::count(block.tokens), format::time(block.ms * 1e3)));
  note->setTextAlignment(Qt::AlignLeft);
  note->setFont(theme_.monoFont(10));
  note->setColor(theme_(Token::text3));
  for (QCPAbstractItem* item : {static_cast<QCPAbstractItem*>(area), static_cast<QCPAbstractItem*>(top),
                                static_cast<QCPAbstractItem*>(note)})
    items_.push_back(item);
}

void LatencyPlot::addNote(double x, const QString& text, Token token, Qt::Alignment alignment) {
  auto* note = new QCPItemText(this);
  note->position->setTypeX(QCPItemPosition::ptPlotCoords);
  note->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  note->position->setCoords(x, 0);
  note->setPositionAlignment(alignment);
  note->setPadding(QMargins(0, 5, 5, 5));
  note->setText(text);
  note->setFont(theme_.textFont(10.5));
  note->setColor(theme_(token));
  note->setClipToAxisRect(false);
  items_.push_back(note);
}

void LatencyPlot::addMark(const LatencySeries::Mark& mark) {
  auto* line = new QCPItemStraightLine(this);
  line->point1->setCoords(mark.x - 0.5, 0);
  line->point2->setCoords(mark.x - 0.5, 1);
  line->setPen(QPen(theme_(Token::edited), 1.2, Qt::CustomDashLine));
  QPen pen = line->pen();
  pen.setDashPattern({3, 3});
  line->setPen(pen);
  items_.push_back(line);
  addNote(mark.x, mark.name, Token::edited, Qt::AlignLeft | Qt::AlignTop);
}

void LatencyPlot::fillItems(const LatencySeries& series, bool live) {
  for (QCPAbstractItem* item : items_) removeItem(item);
  items_.clear();
  if (visible_[static_cast<int>(LatencyCurve::prefill)])
    for (const LatencySeries::Block& block : series.blocks()) addBlock(block);
  const QString word = texts_ ? "run %1" : "reply %1";
  for (int reply = 1; reply <= series.replies(); ++reply)
    if (!live || reply < series.replies())
      addNote(series.decodeStart(reply), word.arg(reply), Token::text3, Qt::AlignLeft | Qt::AlignBottom);
  liveWord_->setText(word.arg(series.replies()) + ", live");
  liveWord_->setVisible(live);
  for (const LatencySeries::Mark& mark : series.marks()) addMark(mark);
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
  replot(QCustomPlot::rpQueuedReplot);
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
  itemKey_ = 0;
  styleAll();
  replot(QCustomPlot::rpQueuedReplot);
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

void LatencyPlot::resizeEvent(QResizeEvent* event) { QCustomPlot::resizeEvent(event); }

void LatencyPlot::mouseDoubleClickEvent(QMouseEvent*) { resetView(); }

}  // namespace orrery::ui
