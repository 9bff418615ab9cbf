// What LatencyPlot writes: the words of its axes, replies, prefills and edits. Every label is placed anew
// with each layout, where none is yet; one without room is left out, and a tool tip has it.
#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>

#include "ui/latency/latency_plot.h"
#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kLabelGap = 4;     // px about labels
constexpr double kOver = 7;         // px at body 13: clear of the topmost tick's number
constexpr double kMarkShare = 0.4;  // of the plot, that an edit's name may take
constexpr double kNear = 5;         // px, of the pointer from an edit's line

QSizeF sizeOf(const QCPItemText& text) {
  return QFontMetricsF(text.font()).boundingRect(QRectF(0, 0, 1e4, 1e4), Qt::AlignLeft, text.text()).size();
}

/// Three lines as two: the last two joined.
QString inTwoLines(QString words) { return words.replace(words.lastIndexOf('\n'), 1, "  "); }

/// The labels that are placed so far.
class Places {
 public:
  explicit Places(const QRectF& page) : page_(page) {}

  const QRectF* at(const QRectF& area) const {
    const QRectF wanted = area.adjusted(-kLabelGap, 0, kLabelGap, 0);
    const auto other = std::find_if(taken_.begin(), taken_.end(),
                                    [&](const QRectF& taken) { return taken.intersects(wanted); });
    return other == taken_.end() ? nullptr : &*other;
  }
  /// The first area that is free; rather one without an edit's line through it.
  void take(QCPItemText* text, const std::vector<QRectF>& areas) {
    text->setVisible(false);
    for (const bool crossed : {false, true})
      for (const QRectF& area : areas) {
        if (!page_.contains(area) || at(area) || (!crossed && crossesLine(area))) continue;
        text->position->setCoords(area.topLeft());
        text->setVisible(true);
        taken_.push_back(area);
        return;
      }
  }
  void addLine(double x) { lines_.push_back(x); }

 private:
  bool crossesLine(const QRectF& area) const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](double x) { return area.left() < x && x < area.right(); });
  }

  QRectF page_;
  std::vector<double> lines_;
  std::vector<QRectF> taken_;
};

}  // namespace

void LatencyPlot::setupWords() {
  for (QCPItemText** word : {&xWord_, &yWord_, &liveWord_}) *word = makeNote(0, 0, {}, Token::text3).text;
  setTexts(false);
  liveWord_->setVisible(false);
}

LatencyPlot::Note LatencyPlot::makeNote(double from, double to, const QString& words, Token token) {
  auto* text = new QCPItemText(this);
  text->position->setType(QCPItemPosition::ptAbsolute);
  text->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
  text->setTextAlignment(Qt::AlignLeft);
  text->setText(words);
  text->setClipToAxisRect(false);
  text->setSelectable(false);
  return {text, token, from, to, 0, words};
}

void LatencyPlot::clearItems() {
  for (QCPAbstractItem* item : items_) removeItem(item);
  items_.clear();
  for (std::vector<Note>* notes : {&replies_, &edits_, &prefills_}) {
    for (const Note& note : *notes) removeItem(note.text);
    notes->clear();
  }
}

void LatencyPlot::styleItems() {
  const auto grey = [this](double opacity) {
    return Theme::blend(theme_(Token::panel), theme_(Token::text3), opacity);
  };
  for (QCPAbstractItem* item : items_) {
    if (auto* area = qobject_cast<QCPItemRect*>(item)) {
      area->setPen(Qt::NoPen);
      area->setBrush(grey(0.27));
    } else if (auto* top = qobject_cast<QCPItemLine*>(item)) {
      top->setPen(QPen(grey(0.85), 2));
    } else if (auto* line = qobject_cast<QCPItemStraightLine*>(item)) {
      QPen pen(theme_(Token::edited), 1.2);
      pen.setDashPattern({3, 3});
      line->setPen(pen);
    }
  }
  for (const std::vector<Note>* notes : {&replies_, &edits_, &prefills_})
    for (const Note& note : *notes) {
      note.text->setFont(notes == &prefills_ ? theme_.monoFont(10) : theme_.textFont(10.5));
      note.text->setColor(theme_(note.token));
    }
}

void LatencyPlot::addBlock(const LatencySeries::Block& block) {
  if (block.tokens <= 0) return;
  const double right = block.x + static_cast<double>(block.tokens);
  auto* area = new QCPItemRect(this);
  area->topLeft->setCoords(block.x, block.perToken());
  area->bottomRight->setCoords(right, 0);
  auto* top = new QCPItemLine(this);
  top->start->setCoords(block.x, block.perToken());
  top->end->setCoords(right, block.perToken());
  items_.push_back(area);
  items_.push_back(top);
  const QString words =
      QString("prefill\n%1 tok\n%2").arg(format::count(block.tokens), format::time(block.ms * 1e3));
  prefills_.push_back(makeNote(block.x, right, words, Token::text3));
  prefills_.back().ms = block.perToken();
}

void LatencyPlot::addMark(const LatencySeries::Mark& mark) {
  auto* line = new QCPItemStraightLine(this);
  line->point1->setCoords(mark.x - 0.5, 0);
  line->point2->setCoords(mark.x - 0.5, 1);
  items_.push_back(line);
  edits_.push_back(makeNote(mark.x - 0.5, mark.x - 0.5, mark.name, Token::edited));
}

void LatencyPlot::fillItems(const LatencySeries& series, bool live) {
  clearItems();
  if (visible_[static_cast<int>(LatencyCurve::prefill)])
    for (const LatencySeries::Block& block : series.blocks()) addBlock(block);
  const QString word = texts_ ? "run %1" : "reply %1";
  for (int reply = 1; reply <= series.replies(); ++reply)
    if (!live || reply < series.replies())
      replies_.push_back(makeNote(series.decodeStart(reply),
                                  reply < series.replies() ? series.decodeStart(reply + 1) : 1e300,
                                  word.arg(reply), Token::text3));
  liveWord_->setText(word.arg(series.replies()) + ", live");
  liveWord_->setVisible(live);
  for (const LatencySeries::Mark& mark : series.marks()) addMark(mark);
  styleItems();
}

void LatencyPlot::placeWords() {
  const QRectF plot = axisRect()->rect(), page = viewport();
  Places places(page.adjusted(0, 0, -kLabelGap, 0));
  const double row = plot.top() - theme_.scaled(kOver);  // the foot of what stands above the plot
  const QSizeF y = sizeOf(*yWord_), x = sizeOf(*xWord_), live = sizeOf(*liveWord_);
  places.take(yWord_, {{QPointF(page.left() + theme_.scaled(12), row - y.height()), y}});
  places.take(xWord_, {{QPointF(plot.right() - x.width(), plot.bottom() + kLabelGap + 2), x}});
  if (liveWord_->visible())
    places.take(liveWord_, {{QPointF(plot.right() - live.width(), row - live.height()), live}});

  for (const Note& note : replies_) {  // over the reply, after what stands there already
    const double from = std::max(xAxis->coordToPixel(note.from), plot.left()),
                 to = std::min(xAxis->coordToPixel(note.to), plot.right());
    const QSizeF size = sizeOf(*note.text);
    QRectF area(QPointF(from, row - size.height()), size);
    while (const QRectF* other = places.at(area)) area.moveLeft(other->right() + kLabelGap + 1);
    places.take(note.text, area.left() < to ? std::vector{area} : std::vector<QRectF>());
  }
  for (const Note& note : edits_) places.addLine(xAxis->coordToPixel(note.from));
  for (const Note& note : edits_) {  // beside its line, as high as there is room
    const double line = xAxis->coordToPixel(note.from);
    note.text->setText(elided(note.words, note.text->font(), kMarkShare * plot.width()));
    const QSizeF size = sizeOf(*note.text);
    const double left = line - kLabelGap - 1 - size.width();
    std::vector<QRectF> areas;
    for (double top = plot.top() + kLabelGap; top + size.height() <= plot.bottom(); top += size.height()) {
      if (line >= plot.left()) areas.emplace_back(QPointF(line + kLabelGap + 1, top), size);
      if (left >= plot.left()) areas.emplace_back(QPointF(left, top), size);
    }
    places.take(note.text, line <= plot.right() ? areas : std::vector<QRectF>());
  }
  for (const Note& note : prefills_) {  // as near the top of the block as no curve runs through it
    const double left = std::max(xAxis->coordToPixel(note.from), plot.left()) + 1,
                 right = std::min(xAxis->coordToPixel(note.to), plot.right()),
                 block = std::max(yAxis->coordToPixel(note.ms), plot.top());
    const auto place = [&](const QString& words) {
      note.text->setText(words);
      const QSizeF size = sizeOf(*note.text);
      const QRectF above(QPointF(left, block - kLabelGap - size.height()), size),
          below(QPointF(left + kLabelGap, block + kLabelGap), size);
      const QRectF curves = curvesAcross(above.left(), below.right());
      std::vector<QRectF> areas;
      for (double away = 0; away < plot.height(); away += kLabelGap)
        for (const QRectF& area : {above.translated(0, -away), below.translated(0, away)})
          if (left <= right && area.top() >= plot.top() && area.bottom() <= plot.bottom() &&
              !area.intersects(curves))
            areas.push_back(area);
      places.take(note.text, areas);
      return note.text->visible();
    };
    const QString narrow = note.words, low = inTwoLines(note.words);
    const bool fits = QFontMetricsF(note.text->font()).size(0, low).width() <= right - left;
    if (!place(fits ? low : narrow)) place(fits ? narrow : low);
  }
}

QRectF LatencyPlot::curvesAcross(double left, double right) const {
  const QCPRange across(xAxis->pixelToCoord(left), xAxis->pixelToCoord(right));
  QRectF rows;
  for (int i = 0; i < graphCount(); ++i) {
    bool found = false;
    const QCPRange values = graph(i)->data()->valueRange(found, QCP::sdBoth, across);
    if (!found || !graph(i)->visible()) continue;
    const double top = yAxis->coordToPixel(values.upper), bottom = yAxis->coordToPixel(values.lower);
    rows |= QRectF(left, top - 1, right - left, bottom - top + 2);  // with the line's own width
  }
  return rows;
}

/// What the edits and the block at the pointer are called.
QString LatencyPlot::noteAt(const QPointF& at) const {
  QStringList words;
  if (!axisRect()->rect().contains(at.toPoint())) return {};
  for (const Note& note : edits_)
    if (std::abs(xAxis->coordToPixel(note.from) - at.x()) <= kNear) words += note.words;
  for (const Note& note : prefills_)
    if (xAxis->coordToPixel(note.from) <= at.x() && at.x() <= xAxis->coordToPixel(note.to) &&
        at.y() >= yAxis->coordToPixel(note.ms) - kNear)
      words += QString(note.words).replace('\n', ' ');
  return words.join('\n');
}

bool LatencyPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return Plot::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), noteAt(help->pos()), this);
  return true;
}

}  // namespace orrery::ui
