#include "ui/latency/vitals_strip.h"

#include <QPainter>
#include <algorithm>

#include "ui/theme/format.h"
#include "ui/theme/side_look.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kHeight = 24, kInset = 12, kGap = 14;

VitalsStrip::Line lineOf(const DeviceLine& device) {
  const api::DeviceVitals& vitals = device.vitals;
  VitalsStrip::Line line{device.title, device.name, {}};
  if (vitals.clock_mhz > 0)
    line.figures.emplace_back("clock", format::count(qRound64(vitals.clock_mhz)) + " MHz");
  if (vitals.power_watts > 0)
    line.figures.emplace_back("power", format::count(qRound64(vitals.power_watts)) + " W");
  if (vitals.memory_total > 0)
    line.figures.emplace_back("memory", format::bytes(static_cast<double>(vitals.memory_used)) + " / " +
                                            format::bytes(static_cast<double>(vitals.memory_total)));
  if (vitals.celsius > 0)
    line.figures.emplace_back("temp", format::count(qRound64(vitals.celsius)) + QStringLiteral(" °C"));
  return line;
}

}  // namespace

VitalsStrip::VitalsStrip(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setTheme(theme);
  hide();
}

void VitalsStrip::setDevices(const std::vector<DeviceLine>& devices) {
  std::vector<Line> lines;
  for (const DeviceLine& device : devices)
    if (Line line = lineOf(device); !line.figures.empty()) lines.push_back(std::move(line));
  if (lines == lines_) return;
  lines_ = std::move(lines);
  setVisible(!lines_.empty());
  QStringList words;
  for (const Line& line : lines_) {
    words << line.title << line.name;
    for (const auto& [caption, value] : line.figures) words << caption + ' ' + value;
  }
  setAccessibleName(words.join(", "));
  fitHeight();
  update();
}

void VitalsStrip::fitHeight() {
  const auto lines = std::max<size_t>(lines_.size(), 1);
  setFixedHeight(static_cast<int>(theme_.scaled(kHeight) * static_cast<double>(lines)));
}

void VitalsStrip::setTheme(const Theme& theme) {
  theme_ = theme;
  fitHeight();
  update();
}

void VitalsStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  double top = 0;
  for (const Line& line : lines_) {
    paintLine(painter, line, top);
    top += theme_.scaled(kHeight);
  }
}

void VitalsStrip::paintLine(QPainter& painter, const Line& line, double top) const {
  const double height = theme_.scaled(kHeight);
  const QFont word = theme_.textFont(11), strong = theme_.textFont(11.5, QFont::DemiBold),
              mono = theme_.monoFont(11);
  double right = width() - kInset;
  const auto text = [&](double x, const QString& words, const QFont& font, Token token) {
    painter.setFont(font);
    painter.setPen(theme_(token));
    painter.drawText(QRectF(x, top, width(), height), Qt::AlignVCenter | Qt::AlignLeft, words);
  };
  const double left = kInset + 14 + textWidth(line.title, strong) + kGap;
  for (auto figure = line.figures.rbegin(); figure != line.figures.rend(); ++figure) {
    const double value = textWidth(figure->second, mono), caption = textWidth(figure->first, word) + 6;
    if (right - value - caption < left) break;  // a narrow plot leaves out what does not fit
    text(right - value, figure->second, mono, Token::text);
    text(right - value - caption, figure->first, word, Token::text3);
    right -= value + caption + kGap;
  }
  paintMark(painter, {line.title, true, Token::cuda}, QPointF(kInset + 4, top + height / 2.0), 7, theme_);
  text(kInset + 14, line.title, strong, Token::text);
  if (left + textWidth(line.name, word) < right) text(left - kGap + 8, line.name, word, Token::text2);
}

}  // namespace orrery::ui
