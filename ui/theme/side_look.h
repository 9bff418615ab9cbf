// How the two sides of a comparison look wherever they are shown: the same name, colour and shape on cards,
// curves, legends and columns.
#pragma once

#include <array>

#include "ui/theme/theme.h"

class QPainter;

namespace orrery::ui {

struct SideLook {
  QString name;         // "CPU", "CUDA 0", "CPU, exact"
  bool device = false;  // not the CPU: a square, else a circle
  Token token = Token::cpu;
  bool operator==(const SideLook& other) const = default;
};
using SideLooks = std::array<SideLook, 2>;

/// Each in its device's colour. Two of one kind take those of the CPU and of CUDA, A the first: the colours
/// between which Theme::ratio() goes, so that a side's nodes have its colour too. Their shapes say the kind.
SideLooks sideLooks(const std::array<QString, 2>& names, const std::array<bool, 2>& devices);

/// The side's mark, `size` wide about `centre`.
void paintMark(QPainter& painter, const SideLook& side, const QPointF& centre, double size,
               const Theme& theme);

}  // namespace orrery::ui
