// Values of the engine and of the layout as Qt's.
#pragma once

#include <fmt/format.h>

#include <QRectF>
#include <QString>
#include <string>
#include <vector>

#include "ui/graph/geometry.h"
#include "ui/placement/scope_words.h"

namespace orrery::ui {

inline QRectF rectOf(const Rect& box) { return {box.x, box.y, box.w, box.h}; }
inline QString text(const std::string& words) { return QString::fromStdString(words); }

/// For people: a number that a float has, by the fewest digits that give it again.
inline QString attributeText(const graph::Attribute& value) {
  const double* number = std::get_if<double>(&value);
  const float single = number ? static_cast<float>(*number) : 0;
  return text(number && single == *number ? fmt::format("{}", single) : graph::to_string(value));
}

/// As scopeWord() says several paths.
inline QString together(const std::vector<std::string>& paths) {
  QStringList words;
  for (const std::string& path : paths) words += text(path);
  return scopeWord(words);
}

}  // namespace orrery::ui
