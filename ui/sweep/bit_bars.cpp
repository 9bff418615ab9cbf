#include "ui/sweep/bit_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <numeric>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kLine = 18, kBarHeight = 13, kNameWidth = 84, kBitsWidth = 34, kBetween = 1.2,
                 kLevelSwatch = 11, kLevelHeight = 28;  // px
constexpr double kLeastWidth = 150;
constexpr int kLevelsInALine = 3;

QString bitsWord(double bits) { return format::number(bits, 3); }

}  // namespace

BitBars::BitBars(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName("Bits of each kind of tensor");
}

void BitBars::show(BitCounts counts) {
  const bool another =
      counts.rows.size() != counts_.rows.size() || counts.levels.size() != counts_.levels.size();
  counts_ = std::move(counts);
  QStringList words;
  for (const BitCounts::Row& row : counts_.rows) words += row.name + QStringLiteral(" ") + bitsWord(row.bits);
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  if (another) updateGeometry();
  update();
}

double BitBars::headHeight() const {
  const auto lines = (static_cast<int>(counts_.levels.size()) + kLevelsInALine - 1) / kLevelsInALine;
  return lines * theme_.scaled(kLevelHeight);
}

QSize BitBars::sizeHint() const {
  const double rows = static_cast<double>(counts_.rows.size()) * theme_.scaled(kLine);
  return {static_cast<int>(theme_.scaled(220)), static_cast<int>(headHeight() + rows)};
}

QSize BitBars::minimumSizeHint() const {
  return {static_cast<int>(theme_.scaled(kLeastWidth)), sizeHint().height()};
}

QColor BitBars::colorOf(size_t level) const {
  const double most = static_cast<double>(std::max<size_t>(counts_.levels.size(), 2) - 1);
  return theme_.bits(static_cast<double>(level) / most);
}

void BitBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintLevels(painter);
  double top = headHeight();
  for (const BitCounts::Row& row : counts_.rows) {
    paintRow(painter, row, top);
    top += theme_.scaled(kLine);
  }
}

void BitBars::paintLevels(QPainter& painter) const {
  const double column = width() / static_cast<double>(kLevelsInALine), swatch = theme_.scaled(kLevelSwatch);
  for (size_t level = 0; level < counts_.levels.size(); ++level) {
    const double left = column * static_cast<double>(level % kLevelsInALine),
                 top = theme_.scaled(kLevelHeight) * static_cast<double>(level / kLevelsInALine);
    painter.setPen(QPen(theme_(Token::borderStrong), 1));
    painter.setBrush(colorOf(level));
    painter.drawRoundedRect(QRectF(left + 0.5, top + 1.5, swatch, swatch), 2, 2);
    const QRectF words(left + swatch + theme_.scaled(5), top, column - swatch - theme_.scaled(7),
                       theme_.scaled(13));
    painter.setFont(theme_.textFont(10));
    painter.setPen(theme_(Token::text2));
    painter.drawText(
        words, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(counts_.levels[level].name, Qt::ElideRight, int(words.width())));
    painter.setFont(theme_.monoFont(9.5));
    painter.setPen(theme_(Token::text3));
    painter.drawText(words.translated(0, theme_.scaled(11)), Qt::AlignLeft | Qt::AlignVCenter,
                     bitsWord(counts_.levels[level].bits));
  }
}

void BitBars::paintRow(QPainter& painter, const BitCounts::Row& row, double top) const {
  const double height = theme_.scaled(kLine);
  const QRectF line(0, top, width(), height);
  painter.setFont(theme_.monoFont(10.5));
  painter.setPen(theme_(Token::text));
  const double name = theme_.scaled(kNameWidth), bits = theme_.scaled(kBitsWidth);
  painter.drawText(QRectF(0, top, name - 4, height), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(row.name, Qt::ElideMiddle, int(name) - 4));
  painter.setPen(theme_(Token::text2));
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, bitsWord(row.bits));

  const int all = std::accumulate(row.counts.begin(), row.counts.end(), 0);
  const auto kinds = std::ranges::count_if(row.counts, [](int count) { return count > 0; });
  const double room = width() - name - bits - kBetween * static_cast<double>(kinds - 1);
  double left = name;
  painter.setFont(theme_.monoFont(9.5));
  for (size_t level = 0; level < row.counts.size(); ++level) {
    const int count = row.counts[level];
    if (count == 0) continue;
    const QRectF part(left, top + (height - theme_.scaled(kBarHeight)) / 2, room * count / all,
                      theme_.scaled(kBarHeight));
    const QColor color = colorOf(level);
    painter.setPen(level == 0 ? QPen(theme_(Token::borderStrong), 1) : QPen(Qt::NoPen));
    painter.setBrush(color);
    painter.drawRoundedRect(level == 0 ? part.adjusted(0.5, 0.5, -0.5, -0.5) : part, 2, 2);
    const QString word = format::count(count);
    if (painter.fontMetrics().horizontalAdvance(word) + 4 < part.width()) {
      painter.setPen(Theme::textOn(color));
      painter.drawText(part, Qt::AlignCenter, word);
    }
    left += part.width() + kBetween;
  }
}

bool BitBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const auto row = static_cast<int>((help->pos().y() - headHeight()) / theme_.scaled(kLine));
  QStringList words;
  if (help->pos().y() >= headHeight() && row < static_cast<int>(counts_.rows.size())) {
    const BitCounts::Row& told = counts_.rows[static_cast<size_t>(row)];
    for (size_t level = 0; level < told.counts.size(); ++level)
      if (told.counts[level] > 0)
        words += QString("%1 in %2 bits (%3)")
                     .arg(format::count(told.counts[level]), bitsWord(counts_.levels[level].bits),
                          counts_.levels[level].name);
    words.prepend(told.name);
  }
  words.isEmpty() ? QToolTip::hideText()
                  : QToolTip::showText(help->globalPos(), words.join(QStringLiteral("\n")), this);
  return true;
}

void BitBars::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
