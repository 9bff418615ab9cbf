// The engine's texts as the window's.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "ui/placement/scope_words.h"

namespace orrery::ui {

inline QString text(const std::string& words) { return QString::fromStdString(words); }

/// As scopeWord() says several paths.
inline QString together(const std::vector<std::string>& paths) {
  QStringList words;
  for (const std::string& path : paths) words += text(path);
  return scopeWord(words);
}

}  // namespace orrery::ui
