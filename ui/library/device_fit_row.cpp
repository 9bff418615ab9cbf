#include "ui/library/device_fit_row.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/library/fit_look.h"
#include "ui/session/model_title.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kHeight = 52, kPadding = 10, kBar = 8, kFigures = 190;

}  // namespace

QColor colorOf(MemoryPart part, const Theme& theme) {
  switch (part) {
    case MemoryPart::weights:
      return theme.family(graph::OpFamily::linear);
    case MemoryPart::kvCache:
      return theme.family(graph::OpFamily::attention);
    case MemoryPart::scratch:
      break;
  }
  return theme.family(graph::OpFamily::data_movement);
}

DeviceFitRow::DeviceFitRow(const Theme& theme, const api::DeviceMemory& memory, QWidget* parent)
    : QAbstractButton(parent), theme_(theme) {
  setCheckable(true);
  setAutoExclusive(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setMemory(memory);
}

void DeviceFitRow::setMemory(const api::DeviceMemory& memory) {
  memory_ = memory;
  const bool usable = memory.refusal.empty();
  setEnabled(usable);
  setToolTip(usable ? QString("Weights %1, KV cache %2, scratch %3: estimated")
                          .arg(bytes(memory.weights), bytes(memory.kv_cache), bytes(memory.scratch))
                    : QString::fromStdString(memory.refusal));
  setAccessibleName(deviceTitle(memory.device) + ", " +
                    (usable ? wordOf(memory.fit) : QString::fromStdString(memory.refusal)));
  update();
}

void DeviceFitRow::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize DeviceFitRow::sizeHint() const { return {420, static_cast<int>(std::ceil(theme_.scaled(kHeight)))}; }

void DeviceFitRow::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double radius = theme_.scaled(5), padding = theme_.scaled(kPadding);
  const bool hovered = isEnabled() && underMouse();
  paintBox(painter, rect(), radius,
           theme_(isChecked() ? Token::selectionBg
                  : hovered   ? Token::hover
                              : Token::raised),
           theme_(isChecked() ? Token::accent : Token::border));
  const QRectF inner = QRectF(rect()).adjusted(padding, 0, -padding, 0);
  const double half = height() / 2.0;
  paintTitle(painter, QRectF(inner.left(), theme_.scaled(4), inner.width(), half - theme_.scaled(2)));
  paintBar(painter, QRectF(inner.left(), half + theme_.scaled(1), inner.width(), half - theme_.scaled(5)));
  if (hasFocus()) paintFocus(painter, rect(), radius, theme_);
}

/// Mark, device, what it is; at the right the fit.
void DeviceFitRow::paintTitle(QPainter& painter, const QRectF& line) const {
  const bool usable = memory_.refusal.empty(), cpu = memory_.device == "cpu";
  const QRectF dot(line.left(), line.center().y() - 3.5, 7, 7);
  const QColor mark = theme_(!usable ? Token::disabled : cpu ? Token::cpu : Token::cuda);
  painter.setPen(usable ? QPen(Qt::NoPen) : QPen(mark, 1));
  painter.setBrush(usable ? QBrush(mark) : QBrush(Qt::NoBrush));
  cpu ? painter.drawEllipse(dot) : painter.drawRect(dot);
  double right = line.right();
  if (usable) {
    const FitLook look = lookOf(memory_.fit);
    painter.setFont(theme_.textFont(11.5, QFont::Medium));
    painter.setPen(theme_(look.token));
    const double width = QFontMetricsF(painter.font()).horizontalAdvance(wordOf(memory_.fit));
    painter.drawText(QRectF(right - width, line.top(), width + 1, line.height()), Qt::AlignVCenter,
                     wordOf(memory_.fit));
    const double size = theme_.scaled(12);
    right -= width + size + theme_.scaled(5);
    paintIcon(painter, look.icon, QRectF(right, line.center().y() - size / 2, size, size),
              theme_(look.token));
    right -= theme_.scaled(8);
  }
  const QString title = deviceTitle(memory_.device);
  const double left = line.left() + theme_.scaled(15);
  painter.setFont(theme_.textFont(12.5, QFont::DemiBold));
  painter.setPen(theme_(usable ? Token::text : Token::text3));
  painter.drawText(QRectF(left, line.top(), right - left, line.height()), Qt::AlignVCenter, title);
  const double after = left + QFontMetricsF(painter.font()).horizontalAdvance(title) + theme_.scaled(8);
  painter.setFont(theme_.textFont(11.5));
  painter.setPen(theme_(Token::text2));
  painter.drawText(QRectF(after, line.top(), right - after, line.height()), Qt::AlignVCenter,
                   QFontMetricsF(painter.font())
                       .elidedText(QString::fromStdString(memory_.name), Qt::ElideRight, right - after));
}

/// The bar ends where the larger of the two, what is asked and what is free, ends; a line marks what is free.
void DeviceFitRow::paintBar(QPainter& painter, const QRectF& line) const {
  if (!memory_.refusal.empty()) {
    painter.setFont(theme_.textFont(11.5));
    painter.setPen(theme_(Token::text2));
    const QString reason = QString::fromStdString(memory_.refusal);
    painter.drawText(line, Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(reason, Qt::ElideRight, line.width()));
    return;
  }
  const double figures = theme_.scaled(kFigures), height = theme_.scaled(kBar);
  QRectF bar(line.left(), line.center().y() - height / 2, line.width() - figures, height);
  const double whole = static_cast<double>(std::max<uint64_t>({memory_.sum(), memory_.free, 1}));
  paintBox(painter, bar, height / 2, theme_(Token::sunken), QColor());
  painter.save();
  QPainterPath clip;
  clip.addRoundedRect(bar, height / 2, height / 2);
  painter.setClipPath(clip);
  double x = bar.left();
  for (const auto& [part, value] : {std::pair{MemoryPart::weights, memory_.weights},
                                    {MemoryPart::kvCache, memory_.kv_cache},
                                    {MemoryPart::scratch, memory_.scratch}}) {
    const double width = bar.width() * static_cast<double>(value) / whole;
    painter.fillRect(QRectF(x, bar.top(), width, height), colorOf(part, theme_));
    x += width;
  }
  painter.restore();
  if (memory_.sum() > memory_.free) {
    const double free = bar.left() + bar.width() * static_cast<double>(memory_.free) / whole;
    painter.fillRect(QRectF(free - 1, bar.top() - 3, 2, height + 6), theme_(Token::error));
  }
  painter.setFont(theme_.monoFont(10.5));
  painter.setPen(theme_(isChecked() ? Token::selectionText : Token::text2));
  painter.drawText(QRectF(line.right() - figures, line.top(), figures, line.height()),
                   Qt::AlignVCenter | Qt::AlignRight,
                   QString("%1 of %2 free").arg(bytes(memory_.sum()), bytes(memory_.free)));
}

}  // namespace orrery::ui
