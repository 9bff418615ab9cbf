#include "ui/graph/device_legend.h"

#include <QPainter>

#include "ui/graph/device_mark.h"

namespace orrery::ui {
namespace {

constexpr double kLegendWidth = 158, kTop = 8, kRow = 18, kSign = 12, kText = 36;

}  // namespace

DeviceLegend::DeviceLegend(const Theme& theme, QWidget* parent) : StripSection(theme, parent) {
  setAccessibleName(tr("Devices"));
  hide();
}

void DeviceLegend::setShown(const QStringList& devices, bool fellBack) {
  devices_ = devices;
  fellBack_ = fellBack;
  QStringList words = devices_;
  if (fellBack_) words << tr("dashed: not where asked");
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  update();
}

/// The devices, the mark on wires, the outline.
int DeviceLegend::rows() const {
  const int several = devices_.size() > 1 ? static_cast<int>(devices_.size()) + 1 : 0;
  return several + (fellBack_ ? 1 : 0);
}

QSize DeviceLegend::sizeHint() const { return {qRound(px(kLegendWidth)), qRound(px(kStripHeight))}; }

void DeviceLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(theme_.textFont(11));
  const double s = theme_.scaled(1);
  double top = kTop * s;
  const auto row = [&](const QString& words) {
    painter.setPen(theme_(Token::text2));
    painter.drawText(QRectF(kText * s, top, width() - kText * s, kRow * s), Qt::AlignVCenter | Qt::AlignLeft,
                     words);
    top += kRow * s;
  };
  const auto middle = [&] { return top + kRow * s / 2; };
  const double centre = (kSign + 8) * s;
  if (devices_.size() > 1) {
    for (const QString& device : devices_) {
      paintDeviceMark(painter, markOf(device), {centre, middle()}, 8 * s, theme_);
      row(device == devices_.first() ? tr("%1, the model's").arg(device) : device);
    }
    painter.setPen(QPen(theme_(Token::text3), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(centre - 8 * s, middle() - 5 * s, 16 * s, 10 * s), 5 * s, 5 * s);
    row(tr("copied each token"));
  }
  if (!fellBack_) return;
  QPen dashes(theme_(Token::warn), 2, Qt::CustomDashLine, Qt::FlatCap);
  dashes.setDashPattern({2, 1.2});
  painter.setPen(dashes);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(centre - 8 * s, middle() - 5 * s, 16 * s, 10 * s), 3 * s, 3 * s);
  row(tr("not where asked"));
}

}  // namespace orrery::ui
