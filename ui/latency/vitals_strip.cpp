#include "ui/latency/vitals_strip.h"

#include <QPainter>

#include "ui/theme/format.h"
#include "ui/theme/side_look.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kHeight = 24, kInset = 12, kGap = 14;

}  // namespace

VitalsStrip::VitalsStrip(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setTheme(theme);
  hide();
}

void VitalsStrip::setDevice(const DeviceLine& device) {
  const api::DeviceVitals& vitals = device.vitals;
  title_ = device.title;
  name_ = device.name;
  figures_.clear();
  if (vitals.clock_mhz > 0)
    figures_.emplace_back("clock", format::count(qRound64(vitals.clock_mhz)) + " MHz");
  if (vitals.power_watts > 0)
    figures_.emplace_back("power", format::count(qRound64(vitals.power_watts)) + " W");
  if (vitals.memory_total > 0)
    figures_.emplace_back("memory", format::bytes(static_cast<double>(vitals.memory_used)) + " / " +
                                        format::bytes(static_cast<double>(vitals.memory_total)));
  if (vitals.celsius > 0)
    figures_.emplace_back("temp", format::count(qRound64(vitals.celsius)) + QStringLiteral(" °C"));
  setVisible(!title_.isEmpty() && !figures_.empty());
  QStringList words{title_, name_};
  for (const auto& [caption, value] : figures_) words += caption + ' ' + value;
  setAccessibleName(words.join(", "));
  update();
}

void VitalsStrip::setTheme(const Theme& theme) {
  theme_ = theme;
  setFixedHeight(static_cast<int>(theme.scaled(kHeight)));
  update();
}

void VitalsStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  const QFont word = theme_.textFont(11), strong = theme_.textFont(11.5, QFont::DemiBold),
              mono = theme_.monoFont(11);
  double right = width() - kInset;
  const auto text = [&](double x, const QString& words, const QFont& font, Token token) {
    painter.setFont(font);
    painter.setPen(theme_(token));
    painter.drawText(QRectF(x, 0, width(), height()), Qt::AlignVCenter | Qt::AlignLeft, words);
  };
  const double left = kInset + 14 + textWidth(title_, strong) + kGap;
  for (auto figure = figures_.rbegin(); figure != figures_.rend(); ++figure) {
    const double value = textWidth(figure->second, mono), caption = textWidth(figure->first, word) + 6;
    if (right - value - caption < left) break;  // a narrow plot leaves out what does not fit
    text(right - value, figure->second, mono, Token::text);
    text(right - value - caption, figure->first, word, Token::text3);
    right -= value + caption + kGap;
  }
  paintMark(painter, {title_, true, Token::cuda}, QPointF(kInset + 4, height() / 2.0), 7, theme_);
  text(kInset + 14, title_, strong, Token::text);
  if (left + textWidth(name_, word) < right) text(left - kGap + 8, name_, word, Token::text2);
}

}  // namespace orrery::ui
