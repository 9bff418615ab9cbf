// Text and numbers where the system has no font at all.
#include <gtest/gtest.h>

#include <QFontInfo>
#include <QFontMetricsF>
#include <QImage>
#include <QPainter>

#include "ui/theme/theme.h"

namespace orrery::ui {
namespace {

const Theme kTheme(Theme::Mode::light);

/// How much of a picture the text covers.
double ink(const QFont& font, const QString& text) {
  QImage image(400, 60, QImage::Format_Grayscale8);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.setFont(font);
  painter.drawText(image.rect(), Qt::AlignCenter, text);
  painter.end();
  double sum = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) sum += 255 - qGray(image.pixel(x, y));
  return sum / 255;
}

TEST(Fonts, TextIsInterInEveryWeight) {
  double lighter = 0;
  for (const QFont::Weight weight : {QFont::Normal, QFont::Medium, QFont::DemiBold, QFont::Bold}) {
    const QFont font = kTheme.textFont(24, weight);
    const QFontInfo shown(font);
    EXPECT_EQ(shown.family(), "Inter");
    EXPECT_EQ(shown.weight(), weight);
    const double covered = ink(font, "Orrery shows it");
    EXPECT_GT(covered, lighter) << weight;
    lighter = covered;
  }
}

TEST(Fonts, NumbersAreJetBrainsMono) {
  for (const QFont::Weight weight : {QFont::Normal, QFont::Medium}) {
    const QFont font = kTheme.monoFont(18, weight);
    const QFontInfo shown(font);
    EXPECT_EQ(shown.family(), "JetBrains Mono");
    EXPECT_EQ(shown.weight(), weight);
    const QFontMetricsF metrics(font);
    EXPECT_EQ(metrics.horizontalAdvance("1111"), metrics.horizontalAdvance("8888"));
    EXPECT_NE(ink(font, "1"), ink(font, "8")) << "they are digits, not boxes";
  }
}

}  // namespace
}  // namespace orrery::ui
