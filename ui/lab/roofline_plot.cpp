#include "ui/lab/roofline_plot.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/lab/lab_limits.h"
#include "ui/lab/lab_model.h"
#include "ui/lab/roofline_marks.h"
#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kTera = 1e-12, kGiga = 1e-9;
constexpr double kApart = 16, kHit = 12, kRivalHalf = 44;  // px between marks, around one; of a line
constexpr double kWordsApart = 13;                         // px between the names of roofs
constexpr double kOver = 10;                               // of the name of a cache
constexpr double kBesideRows = 0.6;                        // of the line of reading

/// The single precision's, and those that rows multiply in.
bool isMet(const api::LabRun& run, size_t arithmetic) {
  return arithmetic == static_cast<size_t>(Arithmetic::f32) ||
         std::ranges::any_of(run.versions, [&](const api::LabVersion& version) {
           return version.us > 0 && static_cast<size_t>(version.arithmetic) == arithmetic;
         });
}

QString rateWord(double bytesPerSecond) { return format::bandwidth(bytesPerSecond, 1e6); }

}  // namespace

std::vector<OtherProblem> otherProblems(const std::vector<api::KeptLabRun>& history,
                                        const std::vector<api::LabRun>& shown) {
  std::map<std::pair<std::string, std::string>, OtherProblem> last;
  for (const api::KeptLabRun& kept : history) {
    const api::LabRun& run = kept.run;
    const bool beside = std::ranges::any_of(shown, [&](const api::LabRun& other) {
      return other.kernel == run.kernel && other.machine == run.machine && other.problem != run.problem;
    });
    if (!beside || run.flops <= 0 || run.bytes <= 0) continue;
    OtherProblem other{run.problem, "", run.flops / run.bytes, 0,
                       run.device == "cpu" ? Token::cpu : Token::cuda};
    for (const api::LabVersion& version : run.versions)
      if (const double y = version.gflops * 1e9 * kTera; y > other.y) {
        other.y = y;
        other.row = version.name;
      }
    if (other.y > 0) last[{run.problem, run.device}] = other;
  }
  std::vector<OtherProblem> all;
  for (const auto& [key, other] : last) all.push_back(other);
  return all;
}

std::vector<PublishedMark> publishedMarks(const std::vector<api::LabRun>& runs) {
  std::vector<PublishedMark> marks;
  if (runs.empty() || runs.front().bytes <= 0) return marks;
  const api::LabRun& run = runs.front();
  for (const api::PublishedTime& time : api::published_times(run)) {
    const auto text = [](const std::string& words) { return QString::fromStdString(words); };
    marks.push_back({QString("%1 on %2, published: %3, %4\n%5")
                         .arg(text(time.name), text(time.machine), format::number(time.gflops) + " GFLOP/s",
                              format::time(time.us), text(time.source)),
                     text(time.name + ", " + time.machine), run.flops / run.bytes,
                     time.gflops * 1e9 * kTera});
  }
  return marks;
}

RooflinePlot::RooflinePlot(const Theme& theme, QWidget* parent)
    : Plot(parent),
      theme_(theme),
      empty_(new QCPItemText(this)),
      yWord_(new QCPItemText(this)),
      marks_(new RooflineMarks(this)) {
  setupAxes();
  for (QCPItemText* word : {empty_, yWord_}) {
    word->setSelectable(false);
    word->setClipToAxisRect(false);
    word->position->setType(QCPItemPosition::ptAxisRectRatio);
  }
  empty_->position->setCoords(0.5, 0.5);
  yWord_->setText("TFLOP/s");
  yWord_->setPadding(QMargins(0, 0, 0, 5));
  yWord_->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
  yWord_->position->setCoords(0, 0);
  connect(this, &Plot::afterLayout, this, [this] {
    placeWords();
    placePoints();
  });
  setMinimumSize(140, 90);
  setAccessibleName("Roofline of the kernel's rows");
  styleAll();
  show({}, {});
}

void RooflinePlot::setupAxes() {
  axisRect()->setMinimumMargins(QMargins(0, 20, 14, 0));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    const QSharedPointer<QCPAxisTickerLog> ticker(new QCPAxisTickerLog);
    ticker->setLogBase(axis == xAxis ? 4 : 10);
    ticker->setSubTickCount(0);
    axis->setTicker(ticker);
    axis->setNumberFormat("g");
    axis->setNumberPrecision(4);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  xAxis->grid()->setVisible(false);
  xAxis->setLabelPadding(2);
  yAxis->setBasePen(Qt::NoPen);
}

void RooflinePlot::styleAll() {
  setBackground(QBrush(theme_(Token::panel)));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickLabelFont(theme_.monoFont(10.5));
    axis->setTickLabelColor(theme_(Token::text3));
    axis->setLabelFont(theme_.textFont(10.5));
    axis->setLabelColor(theme_(Token::text3));
  }
  xAxis->setBasePen(xAxis->tickLabels() ? QPen(theme_(Token::borderStrong), 1) : QPen(Qt::NoPen));
  yAxis->grid()->setPen(QPen(theme_(Token::border), 1));
  for (QCPItemText* word : {empty_, yWord_}) {
    word->setFont(theme_.textFont(10.5));
    word->setColor(theme_(Token::text3));
  }
}

void RooflinePlot::show(const std::vector<api::LabRun>& runs, const std::vector<LabRow>& rows,
                        const std::vector<OtherProblem>& others) {
  others_ = others;
  published_ = publishedMarks(runs);
  rows_ = rows;
  points_.clear();
  rivals_.clear();
  roofs_.clear();
  flops_ = runs.empty() ? 0 : runs.front().flops;
  bytes_ = runs.empty() ? 0 : runs.front().bytes;
  const double x = flops_ > 0 && bytes_ > 0 ? flops_ / bytes_ : 0;
  for (const LabRow& row : rows) {
    if (!row.timed() || x <= 0 || row.version->gflops <= 0) continue;
    const double y = row.version->gflops * 1e9 * kTera;
    if (row.isRival())
      rivals_.push_back({row.number, QString::fromStdString(row.library), x, y, row.token()});
    else
      points_.push_back({row.number, x, y, row.token(), row.onCard(), row.stored});
  }
  for (const api::LabRun& run : runs) {
    const double memory = memorySpeed(run), cache = cacheSpeed(run);
    if (memory <= 0 || x <= 0) continue;
    const auto& operations = run.limits.operations_per_second;
    double highest = 0;
    for (size_t i = 0; i < kArithmetics; ++i)
      if (isMet(run, i)) highest = std::max(highest, operations[i]);
    roofs_.push_back({rateWord(memory), memory, highest, true});
    if (cache > 0) roofs_.push_back({"cache " + rateWord(cache), cache, highest, false});
    const auto first = static_cast<ptrdiff_t>(roofs_.size());
    for (size_t i = 0; i < kArithmetics; ++i)
      if (isMet(run, i) && operations[i] > 0)
        roofs_.push_back({QString::fromUtf8(api::name_of(static_cast<Arithmetic>(i)).data()), 0,
                          operations[i], operations[i] == highest});
    std::sort(roofs_.begin() + first, roofs_.end(),
              [](const Roof& a, const Roof& b) { return a.operations > b.operations; });
  }
  empty_->setText(runs.empty()  ? QStringLiteral("Run the kernel to see its rows here")
                  : flops_ <= 0 ? QStringLiteral("It computes nothing: its limit is the speed of reading")
                                : QString());
  const bool empty = points_.empty() && rivals_.empty() && roofs_.empty();
  empty_->setVisible(empty);
  yWord_->setVisible(!empty);
  xAxis->setLabel(empty ? QString() : QStringLiteral("flops per byte"));
  xAxis->setBasePen(empty ? QPen(Qt::NoPen) : QPen(theme_(Token::borderStrong), 1));
  yAxis->grid()->setVisible(!empty);
  for (QCPAxis* axis : {xAxis, yAxis}) axis->setTickLabels(!empty);
  findRanges();
  drawRoofs();
  redraw();
}

/// Octaves around the work of a call and where the roof bends, decades around rates and roofs.
void RooflinePlot::findRanges() {
  double left = 0.25, right = 64, low = 1e-3, high = 1;
  bool first = true;
  const auto widen = [&](double x, double y) {
    left = first ? x : std::min(left, x);
    right = first ? x : std::max(right, x);
    low = first ? y : std::min(low, y);
    high = first ? y : std::max(high, y);
    first = false;
  };
  for (const RooflinePoint& point : points_) widen(point.x, point.y);
  for (const RivalLine& rival : rivals_) widen(rival.x, rival.y);
  for (const OtherProblem& other : others_) widen(other.x, other.y);
  for (const PublishedMark& mark : published_) widen(mark.x, mark.y);
  double speed = 0;
  for (const Roof& roof : roofs_) {
    if (roof.bytesPerSecond > 0) speed = roof.bytesPerSecond;
    if (roof.operations > 0 && speed > 0) widen(roof.operations / speed, roof.operations * kTera);
  }
  if (!first && (!points_.empty() || !rivals_.empty())) {
    left /= 4;
    right *= 4;
    low /= 1.6;
    high *= 1.8;
  }
  xAxis->setRange(left, std::max(right, left * 16));
  yAxis->setRange(low, std::max(high, low * 10));
}

void RooflinePlot::drawRoofs() {
  clearGraphs();
  for (QCPItemText* word : words_) removeItem(word);
  words_.clear();
  double reading = 0;
  const QCPRange across = xAxis->range();
  for (const Roof& roof : roofs_) {
    QVector<double> x, y;
    if (roof.bytesPerSecond > 0) {
      if (roof.highest) reading = roof.bytesPerSecond;
      const double bend = roof.operations > 0 ? roof.operations / roof.bytesPerSecond : across.upper;
      for (const double at : {across.lower, std::min(bend, across.upper)}) {
        x += at;
        y += at * roof.bytesPerSecond * kTera;
      }
    } else {
      const double bend = reading > 0 ? roof.operations / reading : across.lower;
      x += {std::max(bend, across.lower), across.upper};
      y += {roof.operations * kTera, roof.operations * kTera};
    }
    QCPGraph* line = addGraph();
    line->setSelectable(QCP::stNone);
    line->setData(x, y, true);
    line->setPen(
        QPen(theme_(Token::text2), roof.highest ? 1.6 : 1.2, roof.highest ? Qt::SolidLine : Qt::DashLine));
    auto* word = new QCPItemText(this);
    word->setSelectable(false);
    word->setClipToAxisRect(false);  // that of the highest roof stands above it
    word->setFont(theme_.textFont(10.5));
    word->setColor(theme_(Token::text2));
    word->setPadding(QMargins(6, 2, 3, 1));
    word->setText(roof.name);
    words_.push_back(word);
  }
}

/// Where the names of lines stand: those of peaks at the right, of lines that lie close together one after
/// the other; that of memory below its line and beside the rows, that of a cache over its end, or where it is
/// short beside it.
void RooflinePlot::placeWords() {
  const QCPRange across = xAxis->range(), up = yAxis->range();
  QCPItemText* last = nullptr;  // of a peak
  double lastAt = 0;
  for (size_t i = 0; i < words_.size(); ++i) {
    const Roof& roof = roofs_[i];
    QCPItemText* word = words_[i];
    word->setVisible(true);
    if (roof.bytesPerSecond > 0) {
      const double at = placeOfReading(roof);
      word->setVisible(at > 0);
      const double wide = textWidth(roof.name, word->font());
      const bool over = !roof.highest && xAxis->coordToPixel(at) - wide > axisRect()->left() + kOver;
      word->setPositionAlignment(over ? Qt::AlignRight | Qt::AlignBottom : Qt::AlignLeft | Qt::AlignTop);
      word->position->setCoords(at, at * roof.bytesPerSecond * kTera);
      last = nullptr;
      continue;
    }
    const double y = roof.operations * kTera, at = yAxis->coordToPixel(y);
    const QString words = roof.name + " " + format::number(y);
    if (last && std::abs(at - lastAt) < theme_.scaled(kWordsApart)) {
      last->setText(last->text() + ", " + words);
      word->setVisible(false);
      continue;
    }
    word->setText(words);
    word->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    word->position->setCoords(across.upper, y);
    word->setVisible(y < up.upper && y > up.lower);
    last = word;
    lastAt = at;
  }
}

/// Flops a byte; 0: the line is not in the picture.
double RooflinePlot::placeOfReading(const Roof& roof) const {
  const double scale = roof.bytesPerSecond * kTera,
               start = std::max(xAxis->range().lower, yAxis->range().lower / scale),
               highest = std::min(yAxis->range().upper,
                                  roof.operations > 0 ? roof.operations * kTera : yAxis->range().upper),
               end = std::min(xAxis->range().upper, highest / scale);
  if (end <= start * 1.2) return 0;
  if (!roof.highest) return end;
  const double rows = points_.empty() ? 0 : std::log(points_.front().x / start) / std::log(end / start);
  return start * std::pow(end / start, rows > 0 && rows < kBesideRows ? rows + 0.2 : 0.1);
}

/// Those that would cover each other stand side by side.
void RooflinePlot::placePoints() {
  const double apart = theme_.scaled(kApart);
  std::vector<RooflinePoint*> placed;
  for (RooflinePoint& point : points_) {
    const QPointF place(xAxis->coordToPixel(point.x), yAxis->coordToPixel(point.y));
    const auto isFree = [&](const QPointF& at) {
      return std::ranges::all_of(placed, [&](const RooflinePoint* other) {
        return std::abs(other->at.x() - at.x()) >= apart || std::abs(other->at.y() - at.y()) >= apart;
      });
    };
    point.at = place;
    for (int step = 1; !isFree(point.at); ++step)
      point.at = place + QPointF((step % 2 == 1 ? 1 : -1) * ((step + 1) / 2) * apart, 0);
    placed.push_back(&point);
  }
}

void RooflinePlot::choose(int number) {
  chosen_ = number;
  redraw();
}

const RooflinePoint* RooflinePlot::pointAt(const QPointF& position) const {
  const RooflinePoint* nearest = nullptr;
  double least = theme_.scaled(kHit);
  for (const RooflinePoint& point : points_) {
    const QPointF off = point.at - position;
    const double distance = std::hypot(off.x(), off.y());
    if (distance > least) continue;
    least = distance;
    nearest = &point;
  }
  return nearest;
}

QLineF RooflinePlot::lineOf(const RivalLine& rival) const {
  const QPointF at(xAxis->coordToPixel(rival.x), yAxis->coordToPixel(rival.y));
  const QPointF half(theme_.scaled(kRivalHalf), 0);
  return {at - half, at + half};
}

const RivalLine* RooflinePlot::rivalAt(const QPointF& position) const {
  for (const RivalLine& rival : rivals_) {
    const QLineF line = lineOf(rival);
    if (std::abs(position.y() - line.y1()) < theme_.scaled(kHit / 2) && position.x() >= line.x1() &&
        position.x() <= line.x2())
      return &rival;
  }
  return nullptr;
}

/// At the left of the rows, which do the same work and stand above each other.
QPointF RooflinePlot::placeOf(const PublishedMark& mark) const {
  return {xAxis->coordToPixel(mark.x) - theme_.scaled(kApart), yAxis->coordToPixel(mark.y)};
}

void RooflinePlot::mousePressEvent(QMouseEvent* event) {
  Plot::mousePressEvent(event);
  const RooflinePoint* point = pointAt(event->position());
  if (event->button() != Qt::LeftButton) return;
  if (point)
    emit numberChosen(point->number);
  else if (const RivalLine* rival = rivalAt(event->position()))
    emit numberChosen(rival->number);
}

QString RooflinePlot::tipOf(int number, double x) const {
  const auto row = std::ranges::find(rows_, number, &LabRow::number);
  if (row == rows_.end()) return {};
  return labTip(*row) +
         QString("\n%1 in %2 a call: %3 flops a byte")
             .arg(format::number(flops_ * kGiga) + " GFLOP", format::bytes(bytes_), format::number(x));
}

QString RooflinePlot::tipAt(const QPointF& position) const {
  if (const RooflinePoint* point = pointAt(position)) return tipOf(point->number, point->x);
  if (const RivalLine* rival = rivalAt(position)) return tipOf(rival->number, rival->x);
  for (const OtherProblem& other : others_) {
    const QPointF off = QPointF(xAxis->coordToPixel(other.x), yAxis->coordToPixel(other.y)) - position;
    if (std::hypot(off.x(), off.y()) < theme_.scaled(kHit))
      return QString("%1: %2 TFLOP/s by %3")
          .arg(QString::fromStdString(other.problem), format::number(other.y),
               QString::fromStdString(other.row));
  }
  for (const PublishedMark& mark : published_) {
    const QPointF off = placeOf(mark) - position;
    if (std::hypot(off.x(), off.y()) < theme_.scaled(kHit)) return mark.words;
  }
  return {};
}

bool RooflinePlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return Plot::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const QString words = tipAt(help->pos());
  words.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), words, this);
  return true;
}

void RooflinePlot::setTheme(const Theme& theme) {
  theme_ = theme;
  styleAll();
  drawRoofs();
  redraw();
}

}  // namespace orrery::ui
