// What of a text is new beside another, line by line.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace orrery::ui {

struct DiffLine {
  enum class Kind { both, added, removed };
  Kind kind = Kind::both;
  int number = 0;  // in the new text, from 1; of a removed line, in the old one
  QString text;

  bool operator==(const DiffLine&) const = default;
};

/// The new text with the lines that it has no longer, each where it stood: as few changes as there can be
/// (the longest common subsequence). Texts of thousands of lines take a moment: time is the product of what
/// is left of both without what they begin and end with alike.
std::vector<DiffLine> differenceOf(const QStringList& before, const QStringList& after);

}  // namespace orrery::ui
