// Colours that can be told apart and read, words for numbers, icons that are there.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QImage>
#include <QPainter>
#include <cmath>

#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace orrery::ui {
namespace {

double linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double luminance(const QColor& c) {
  return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}
double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return x > y ? x / y : y / x;
}

class BothThemes : public testing::TestWithParam<Theme::Mode> {
 protected:
  Theme theme{GetParam()};
};

TEST_P(BothThemes, TextIsReadableOnEveryGround) {
  for (const Token ground : {Token::canvas, Token::window, Token::panel, Token::raised, Token::sunken}) {
    EXPECT_GE(contrast(theme(Token::text), theme(ground)), 11.4);
    EXPECT_GE(contrast(theme(Token::text3), theme(ground)), 4.85);
    EXPECT_GE(contrast(theme(Token::accent), theme(ground)), 4.65);
    EXPECT_GE(contrast(theme(Token::borderStrong), theme(ground)), 3.05);
  }
  EXPECT_GE(contrast(theme(Token::onAccent), theme(Token::accent)), 5.6);
}

TEST_P(BothThemes, SourceCodeIsReadableOnEveryGround) {
  for (const Token ground : {Token::canvas, Token::panel, Token::raised, Token::sunken, Token::okBg,
                             Token::errorBg, Token::selectionBg})
    for (const Token word : {Token::synKeyword, Token::synType, Token::synFunction, Token::synString,
                             Token::synNumber, Token::synDirective})
      EXPECT_GE(contrast(theme(word), theme(ground)), 5.3);
}

TEST_P(BothThemes, TextOnEveryHeatIsReadableAndHeatIsMonotone) {
  double last = theme.isDark() ? -1 : 2;
  for (int i = 0; i <= 64; ++i) {
    const QColor heat = theme.heat(i / 64.0);
    EXPECT_GE(contrast(heat, Theme::textOn(heat)), 4.58) << i;
    EXPECT_EQ(luminance(heat) > last, theme.isDark()) << "lightness at " << i;
    last = luminance(heat);
  }
  EXPECT_EQ(theme.heat(-3), theme.heat(0));
  EXPECT_EQ(theme.heat(std::nan("")), theme.heat(0));
}

TEST_P(BothThemes, TheMapsHitTheirStops) {
  EXPECT_EQ(theme.heat(0).name(), theme.isDark() ? "#2f263e" : "#faf3e3");
  EXPECT_EQ(theme.heat(0.5).name(), theme.isDark() ? "#d3543f" : "#e5683b");
  EXPECT_EQ(theme.heat(1).name(), theme.isDark() ? "#f9f2c4" : "#54183e");
  EXPECT_EQ(theme.ratio(0).name(), theme.isDark() ? "#2a313b" : "#f3f5f6");
}

TEST_P(BothThemes, TheStyleSheetHasNoWordLeft) {
  const QString sheet = theme.styleSheet();
  EXPECT_GT(sheet.size(), 2000);
  EXPECT_FALSE(sheet.contains('@')) << sheet.mid(sheet.indexOf('@'), 40).toStdString();
}

INSTANTIATE_TEST_SUITE_P(Modes, BothThemes, testing::Values(Theme::Mode::dark, Theme::Mode::light));

TEST(Icons, AllAreDrawnInTheColourAskedFor) {
  const Theme theme;
  ASSERT_FALSE(icon(u"open", theme).isNull());
  const QStringList files = QDir(":/orrery/icons").entryList({"*.svg"});
  EXPECT_GE(files.size(), 50);
  for (const QString& file : files) {
    QImage image(32, 32, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    const QColor colour(200, 10, 90);
    EXPECT_TRUE(paintIcon(painter, file.chopped(4), QRectF(0, 0, 32, 32), colour));
    painter.end();
    int drawn = 0;
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 32; ++x)
        if (const QColor c = image.pixelColor(x, y); c.alpha() > 200) {
          ++drawn;
          EXPECT_NEAR(c.red(), 200, 12) << file.toStdString();
        }
    EXPECT_GT(drawn, 3) << file.toStdString();
  }
  EXPECT_TRUE(icon(u"no such icon", theme).isNull());
  QImage image(8, 8, QImage::Format_ARGB32);
  QPainter painter(&image);
  EXPECT_FALSE(paintIcon(painter, u"no such icon", QRectF(0, 0, 8, 8), Qt::red));
}

TEST(Format, NumbersForPeople) {
  using namespace format;
  EXPECT_EQ(count(1480), QString::fromUtf8("1\u202f480"));
  EXPECT_EQ(count(-1234567), QString::fromUtf8("-1\u202f234\u202f567"));
  EXPECT_EQ(number(46), "46.0");
  EXPECT_EQ(number(9.996), "10.0");
  EXPECT_EQ(number(0.01234), "0.0123");
  EXPECT_EQ(number(1479.6), QString::fromUtf8("1\u202f480"));
  EXPECT_EQ(time(11.23), "11.2 µs");
  EXPECT_EQ(time(2.14), "2.1 µs");
  EXPECT_EQ(time(4219), "4.22 ms");
  EXPECT_EQ(time(0.9), "0.9 µs");
  EXPECT_EQ(time(0.0452), "45.2 ns");
  EXPECT_EQ(time(999.7), "1.00 ms");
  EXPECT_EQ(bytes(2304), "2.3 kB");
  EXPECT_EQ(bytes(98e6), "98 MB");
  EXPECT_EQ(bytes(576), "576 B");
  EXPECT_EQ(bandwidth(24e3, 1), "24.0 GB/s");
  EXPECT_EQ(percent(0.324), "32.4 %");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(time(std::nan("")), dash());
  EXPECT_EQ(bandwidth(1, 0), dash());
}

}  // namespace
}  // namespace orrery::ui
