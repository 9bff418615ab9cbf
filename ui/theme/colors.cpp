// The colour tables of the theme: every literal colour of the program is in this file.
#include <array>
#include <cmath>

#include "ui/theme/theme.h"

namespace orrery::ui {
namespace {

using Rgb = uint32_t;
struct Pair {
  Rgb dark, light;
};

constexpr std::array<Pair, kTokenCount> kTokens{{
    {0x12161C, 0xF4F6F8}, {0x181D24, 0xE7EAEE}, {0x1D232B, 0xFCFDFE},
    {0x272E38, 0xFFFFFF},  // canvas to raised
    {0x13181E, 0xF1F3F6}, {0x303844, 0xE9EDF2}, {0x323B47, 0xD3D9E0},
    {0x6F7B8D, 0x7A8594},  // sunken to borderStrong
    {0xE8ECF2, 0x171C23}, {0xAAB4C2, 0x465160}, {0x8F9BAC, 0x586474},
    {0x5E6978, 0x98A2B0},  // text to disabled
    {0x3EC6C0, 0x0A7371}, {0x06201F, 0xFFFFFF}, {0x1C4447, 0xCDE9E7},
    {0xE8FBFA, 0x0A2E2D},                        // accent to selectionText
    {0x6FA8FF, 0x1F5FD0}, {0x9BD245, 0x3D7300},  // cpu, cuda
    {0x4CC38A, 0x127246}, {0xF09A3A, 0x945400}, {0xFF6B63, 0xBE2A24},
    {0xE9A0EE, 0x9A35A8},  // ok to edited
    {0x16332A, 0xDDF2E7}, {0x3A2C16, 0xFCEED6}, {0x41211F, 0xFBE3E1},
    {0x3A2740, 0xF7E6F8},  // their grounds
    {0x617085, 0x7E8A99},  // edge
    {0x9FB0C8, 0x4E5C70}, {0xA892FF, 0x5B3FC4}, {0xE2C044, 0x7A5C00},
    {0xC9A27E, 0x7D4F28},  // wireF32 to wireQ
    {0xC9A8FF, 0x6B36B5}, {0x74CFDD, 0x00626E}, {0x8DBBFF, 0x1D55B0},
    {0xB4CE88, 0x41610F}, {0xE8B384, 0x8A4300}, {0xEBA6C8, 0x962F6B},  // synKeyword to synDirective
}};

/// In the order of graph::OpFamily; sources are data movement to the eye.
constexpr std::array<Pair, 10> kFamilies{{{0xB8B0FA, 0x4F2D90},
                                          {0x4A88D4, 0x5560CC},
                                          {0x94EAE2, 0x04857A},
                                          {0x969016, 0x77720A},
                                          {0xBBA8A2, 0x4A403B},
                                          {0x8ACB62, 0x33520F},
                                          {0xB8646A, 0xB93F5C},
                                          {0x7F8698, 0x8790B4},
                                          {0x7F8698, 0x8790B4},
                                          {0xFCE0BA, 0xC47E4E}}};

using Stops = std::array<Rgb, 9>;
constexpr Stops kHeatDark{0x2F263E, 0x552B58, 0x872D5B, 0xB1394E, 0xD3543F,
                          0xE87D3A, 0xF4A94D, 0xF8D37F, 0xF9F2C4};
constexpr Stops kHeatLight{0xFAF3E3, 0xFBDAA9, 0xFAB873, 0xF4904B, 0xE5683B,
                           0xCC443B, 0xA82B42, 0x7E1D44, 0x54183E};
constexpr Stops kBitsDark{0x39434F, 0x47525F, 0x54616F, 0x657382, 0x788898,
                          0x8E9CAA, 0xA3B0BD, 0xBECAD3, 0xD9E1E9};
constexpr Stops kBitsLight{0xE3E8EE, 0xCED6DF, 0xB9C3CF, 0xA0ABB9, 0x8793A3,
                           0x6E7C8C, 0x556274, 0x3D4850, 0x242D39};
constexpr Stops kRatioDark{0x86B7FF, 0x4F86D6, 0x3A62A0, 0x31465F, 0x2A313B,
                           0x3A4A2C, 0x557528, 0x7BA636, 0xB0E35F};
constexpr Stops kRatioLight{0x174FB5, 0x4A7FD6, 0x8FB2EC, 0xCFDFF8, 0xF3F5F6,
                            0xDCEBC4, 0xACD07A, 0x6E9F2E, 0x3D7000};

double toLinear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}
double toGamma(double channel) {
  channel = std::clamp(channel, 0.0, 1.0);
  return channel <= 0.0031308 ? channel * 12.92 : 1.055 * std::pow(channel, 1 / 2.4) - 0.055;
}

/// OKLab as published by Björn Ottosson (2020).
struct Lab {
  double l, a, b;
};
Lab toLab(Rgb rgb) {
  const double red = toLinear(((rgb >> 16) & 255) / 255.0), green = toLinear(((rgb >> 8) & 255) / 255.0),
               blue = toLinear((rgb & 255) / 255.0);
  const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}
QColor toColor(const Lab& lab) {
  const double l = std::pow(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  return QColor::fromRgbF(
      static_cast<float>(toGamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)),
      static_cast<float>(toGamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)),
      static_cast<float>(toGamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)));
}

/// 256 steps of a map: mixing in OKLab costs a microsecond, a table nothing.
std::array<QColor, 257> mixed(const Stops& stops) {
  std::array<QColor, 257> table;
  for (size_t i = 0; i < table.size(); ++i) {
    const double place = static_cast<double>(i) / 256 * (stops.size() - 1);
    const size_t below = std::min<size_t>(static_cast<size_t>(place), stops.size() - 2);
    const double t = place - static_cast<double>(below);
    const Lab a = toLab(stops[below]), b = toLab(stops[below + 1]);
    table[i] = toColor({a.l + (b.l - a.l) * t, a.a + (b.a - a.a) * t, a.b + (b.b - a.b) * t});
  }
  return table;
}

QColor lookUp(const std::array<QColor, 257>& table, double t) {
  if (!std::isfinite(t)) t = 0;
  return table[static_cast<size_t>(std::lround(std::clamp(t, 0.0, 1.0) * 256))];
}

double luminance(const QColor& color) {
  return 0.2126 * toLinear(color.redF()) + 0.7152 * toLinear(color.greenF()) +
         0.0722 * toLinear(color.blueF());
}

}  // namespace

QColor Theme::color(Token token) const {
  const Pair& pair = kTokens[static_cast<size_t>(token)];
  return QColor::fromRgb(isDark() ? pair.dark : pair.light);
}

QColor Theme::family(graph::OpFamily family) const {
  const Pair& pair = kFamilies[std::min<size_t>(static_cast<size_t>(family), kFamilies.size() - 1)];
  return QColor::fromRgb(isDark() ? pair.dark : pair.light);
}

QColor Theme::heat(double t) const {
  static const auto dark = mixed(kHeatDark), light = mixed(kHeatLight);
  return lookUp(isDark() ? dark : light, t);
}

QColor Theme::bits(double t) const {
  static const auto dark = mixed(kBitsDark), light = mixed(kBitsLight);
  return lookUp(isDark() ? dark : light, t);
}

QColor Theme::ratio(double log2) const {
  static const auto dark = mixed(kRatioDark), light = mixed(kRatioLight);
  return lookUp(isDark() ? dark : light, (log2 + 4) / 8);
}

QColor Theme::textOn(const QColor& ground) {
  const double y = luminance(ground);
  return (y + 0.05) * (y + 0.05) > 0.05 * 1.05 ? QColor(Qt::black) : QColor(Qt::white);
}

QColor Theme::blend(const QColor& ground, const QColor& top, double opacity) {
  const auto mix = [opacity](float below, float above) {
    return static_cast<float>(below + (above - below) * std::clamp(opacity, 0.0, 1.0));
  };
  return QColor::fromRgbF(mix(ground.redF(), top.redF()), mix(ground.greenF(), top.greenF()),
                          mix(ground.blueF(), top.blueF()));
}

}  // namespace orrery::ui
