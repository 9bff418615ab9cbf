#include "ui/graph/box_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ui/graph/node_box.h"

namespace orrery::ui {
namespace {

constexpr double kNarrowest = 184, kWidest = 260;
constexpr double kNarrowestClose = 176;  // in a layer of a page
// What is not known yet gets room all the same: a box does not grow when it is measured.
constexpr size_t kTime = 7, kAboutTime = 9;    // letters: "99.9 ms", "≈ 99.9 ms"
constexpr size_t kKernel = 12, kRate = 9;      // "flash_packed", "99.9 GB/s"
constexpr size_t kFoldedDoc = 17, kShare = 6;  // "≈ 1 240 µs each", "49.7 %"

size_t letters(const std::string& utf8) {
  return static_cast<size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

double nameWidth(const std::string& name, const TextWidths& widths) {
  double width = 0;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if ((code & 0xC0) != 0x80) width += widths.name[code < widths.name.size() ? code : 'm'];
  }
  return width;
}

/// What is written in a box: letters, but of the chip its width.
struct BoxWords {
  std::string name;
  double chip = 0;
  size_t time = kAboutTime, left = 0, right = 0;
};

double boxWidth(const BoxWords& words, const TextWidths& widths, double narrowest) {
  const double first = nameWidth(words.name, widths) + (words.chip > 0 ? kTextGap + words.chip : 0) +
                       kTextGap + static_cast<double>(words.time) * widths.time,
               second = static_cast<double>(words.left + words.right) * widths.second +
                        (words.right > 0 ? kTextGap : 0);
  return std::clamp(kGutter + 2 * kPad + std::ceil(std::max(first, second)), narrowest, kWidest);
}

BoxWords wordsOf(const SceneNode& node, const TextWidths& widths) {
  BoxWords words{node.name, 0, kAboutTime, letters(node.detail), letters(node.type)};
  if (node.family != graph::OpFamily::linear)  // those say their shape alone where they stand in a row
    words.left = std::max(words.left, kKernel);
  if (node.transfer) words.right = kRate;
  if (node.fused > 1) {
    words.chip = widths.fusedChip;
    words.time = kTime;  // measured as a whole
  }
  return words;
}

/// As format::bytes writes it; this file knows no Qt.
std::string bytesText(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 4; ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit > 0 && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

double nodeWidth(const SceneNode& node, const TextWidths& widths, bool close) {
  return boxWidth(wordsOf(node, widths), widths, close ? kNarrowestClose : kNarrowest);
}

double foldedWidth(const SceneGroup& first, const SceneGroup& last, const TextWidths& widths) {
  const double chip = &first == &last ? 0 : widths.stackChip;
  return boxWidth({foldedName(first, last), chip, kAboutTime, kFoldedDoc, kShare}, widths, kNarrowest);
}

std::string pillText(const ScenePill& pill) {
  return pill.bytes > 0 ? pill.text + "  " + bytesText(pill.bytes) : pill.text;
}

double pillWidth(const ScenePill& pill, const TextWidths& widths) {
  return pill.empty() ? 0 : 30 + static_cast<double>(letters(pillText(pill))) * widths.second;
}

}  // namespace orrery::ui
