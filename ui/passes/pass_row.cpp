#include "ui/passes/pass_row.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/theme/format.h"
#include "ui/widgets/meter.h"

namespace orrery::ui {
namespace {

constexpr double kRowHeight = 30, kHeadHeight = 20, kInset = 10, kGap = 10;
constexpr double kNameWidth = 158, kCountWidth = 56, kNodesWidth = 80, kTimeWidth = 60, kGainWidth = 82,
                 kButtonWidth = 26, kLeastDoc = 150;

const QString kMeasure = QStringLiteral("Measure the time of a step with this pass and without it, in turns");

void writeCell(QPainter& painter, const PassColumns::Column& column, double height, const QFont& font,
               const QColor& ink, const QString& words, bool right) {
  if (column.width <= 0) return;
  painter.setFont(font);
  painter.setPen(ink);
  painter.drawText(QRectF(column.left, 0, column.width, height),
                   Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft),
                   QFontMetricsF(font).elidedText(words, Qt::ElideRight, column.width));
}

}  // namespace

/// What the pass does goes first where there is no room, then its time, then its nodes.
PassColumns PassColumns::of(double width, const Theme& theme, bool writes) {
  const double s = theme.scaled(1);
  PassColumns columns;
  const int gains = writes ? 2 : 1;
  double room =
      width - 2 * kInset * s - (kNameWidth + kButtonWidth + gains * kGainWidth + (gains + 1) * kGap) * s;
  const auto take = [&](double wanted) {
    const double needed = (wanted + kGap) * s;
    if (room < needed) return 0.0;
    room -= needed;
    return wanted * s;
  };
  columns.rewrites.width = take(kCountWidth);
  columns.nodes.width = take(kNodesWidth);
  columns.time.width = take(kTimeWidth);
  columns.doc.width = room >= (kLeastDoc + kGap) * s ? room - kGap * s : 0;
  if (columns.doc.width > 0) room = 0;
  columns.name.width = kNameWidth * s + std::max(0.0, room);
  columns.button.width = kButtonWidth * s;
  for (int i = 0; i < gains; ++i) columns.gains[i].width = kGainWidth * s;
  double left = kInset * s;
  for (Column* column : {&columns.name, &columns.doc, &columns.rewrites, &columns.nodes, &columns.time,
                         &columns.gains[0], &columns.gains[1], &columns.button}) {
    column->left = left;
    if (column->width > 0) left += column->width + kGap * s;
  }
  return columns;
}

PassRowView::PassRowView(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      toggle_(new QCheckBox(this)),
      measure_(new IconButton(theme, "play", kMeasure, this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_Hover);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(toggle_, &QCheckBox::toggled, this, &PassRowView::switched);
}

void PassRowView::setRow(const PassRow& row, bool writes, double done) {
  row_ = row;
  writes_ = writes;
  done_ = done;
  const QSignalBlocker blocker(toggle_);
  toggle_->setText(passTitle(row.report.name));
  toggle_->setChecked(row.on);
  toggle_->setEnabled(!row.locked);
  toggle_->setToolTip(row.locked ? "All passes that fuse are off: Model > Fuse operations"
                      : row.on   ? "Leave this pass out: the next message runs without it"
                                 : "Let this pass run again");
  measure_->setVisible(!row.measuring);
  measure_->setEnabled(!row.waits && (row.report.rewrites > 0 || row.report.disabled));
  measure_->setIconName(row.waits ? "pause" : row.gain || row.refusal ? "refresh" : "play");
  measure_->setToolTip(row.waits ? "Waits until the others are measured"
                       : row.report.rewrites == 0 && !row.report.disabled ? "It finds nothing in this graph"
                                                                          : kMeasure);
  measure_->setAccessibleName("Measure " + toggle_->text());
  QStringList said{toggle_->text(), format::counted(row.report.rewrites, "rewrite")};
  for (const GainWords& words : gains()) said += words.text;
  setAccessibleName(said.join(", "));
  place();
  update();
}

std::vector<GainWords> PassRowView::gains() const {
  std::vector<GainWords> words;
  const int rounds = row_.gain ? row_.gain->rounds : 0;
  const auto add = [&](const std::optional<api::StepGain>& gain, const QString& what) {
    words.push_back(gainWords(gain, what, rounds));
    if (row_.gain && row_.gain->rewrites == 0) words.back().text = "finds nothing";
    if (row_.refusal) {
      words.back() = {"not measured", QString::fromStdString(row_.refusal->to_string()), Token::warn};
    } else if (row_.otherwise) {
      words.back().token = Token::text3;
      words.back().tip += "\nmeasured while other passes were on";
    }
  };
  using Gain = std::optional<api::StepGain>;
  if (writes_) {
    add(row_.gain ? row_.gain->decode : Gain(), "A token");
    add(row_.gain ? row_.gain->prefill : Gain(), "A prompt");
  } else {
    add(row_.gain ? row_.gain->encode : Gain(), "A text");
  }
  return words;
}

void PassRowView::setChosen(bool chosen) {
  if (std::exchange(chosen_, chosen) != chosen) update();
}

void PassRowView::place() {
  const PassColumns columns = PassColumns::of(width(), theme_, writes_);
  toggle_->setGeometry(qRound(columns.name.left), 0, qRound(columns.name.width), height());
  const int high = std::min(height() - 4, measure_->sizeHint().height());
  measure_->setGeometry(qRound(columns.button.left), (height() - high) / 2, qRound(columns.button.width),
                        high);
}

QSize PassRowView::sizeHint() const {
  return {qRound(theme_.scaled(420)), qRound(theme_.scaled(kRowHeight))};
}

void PassRowView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double s = theme_.scaled(1);
  if (chosen_ || underMouse()) painter.fillRect(rect(), theme_(chosen_ ? Token::selectionBg : Token::hover));
  const PassColumns columns = PassColumns::of(width(), theme_, writes_);
  const api::PassReport& report = row_.report;
  const bool off = report.disabled;
  const QColor quiet = theme_(chosen_ ? Token::selectionText : off ? Token::text3 : Token::text2);
  const QColor ink = theme_(chosen_ ? Token::selectionText : off ? Token::text3 : Token::text);
  const QFont mono = theme_.monoFont(11);
  writeCell(painter, columns.doc, height(), theme_.textFont(11.5), quiet, QString::fromStdString(report.doc),
            false);
  writeCell(painter, columns.rewrites, height(), mono, ink,
            off ? format::dash() : format::count(report.rewrites), true);
  const QString nodes = report.nodes_before == report.nodes_after
                            ? format::count(report.nodes_after)
                            : QString("%1 \u2192 %2")
                                  .arg(format::count(report.nodes_before), format::count(report.nodes_after));
  writeCell(painter, columns.nodes, height(), mono, off ? quiet : ink, off ? format::dash() : nodes, true);
  writeCell(painter, columns.time, height(), mono, quiet,
            off ? format::dash() : format::time(report.ms * 1e3), true);
  const std::vector<GainWords> words = gains();
  for (size_t i = 0; i < words.size(); ++i)
    writeCell(painter, columns.gains[i], height(), mono,
              chosen_ ? theme_(Token::selectionText) : theme_(words[i].token), words[i].text, true);
  if (row_.measuring) {
    constexpr double kBar = 3;
    const QRectF bar(columns.button.left, (height() - kBar * s) / 2, columns.button.width, kBar * s);
    paintMeter(painter, bar, done_, theme_(Token::accent), theme_);
  }
  if (hasFocus()) paintFocus(painter, rect(), 4 * s, theme_);
}

void PassRowView::resizeEvent(QResizeEvent*) { place(); }

void PassRowView::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) emit chosen();
}

void PassRowView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up:
      return emit walked(-1);
    case Qt::Key_Down:
      return emit walked(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return emit chosen();
    case Qt::Key_Space:
      return toggle_->click();
    default:
      QWidget::keyPressEvent(event);
  }
}

/// A gain's spread, and what the pass does where its column has no room.
bool PassRowView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const PassColumns columns = PassColumns::of(width(), theme_, writes_);
  const std::vector<GainWords> words = gains();
  QString tip = QString::fromStdString(row_.report.doc);
  for (size_t i = 0; i < words.size(); ++i)
    if (help->pos().x() >= columns.gains[i].left &&
        help->pos().x() < columns.gains[i].left + columns.gains[i].width && !words[i].tip.isEmpty())
      tip = words[i].tip;
  QToolTip::showText(help->globalPos(), tip, this);
  return true;
}

void PassRowView::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  place();
  update();
}

PassHead::PassHead(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PassHead::setWrites(bool writes) {
  if (std::exchange(writes_, writes) != writes) update();
}

QSize PassHead::sizeHint() const { return {0, qRound(theme_.scaled(kHeadHeight))}; }

void PassHead::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const PassColumns columns = PassColumns::of(width(), theme_, writes_);
  const QFont font = theme_.textFont(10.5);
  const QColor ink = theme_(Token::text3);
  const auto write = [&](const PassColumns::Column& column, const QString& words, bool right) {
    writeCell(painter, column, height(), font, ink, words, right);
  };
  write(columns.name, "Pass", false);
  write(columns.doc, "What it does", false);
  write(columns.rewrites, "Rewrites", true);
  write(columns.nodes, "Nodes", true);
  write(columns.time, "Takes", true);
  write(columns.gains[0], writes_ ? "A token" : "A text", true);
  if (writes_) write(columns.gains[1], "A prompt", true);
  painter.fillRect(0, height() - 1, width(), 1, theme_(Token::border));
}

void PassHead::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
