// Edits as a person calls them.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "engine/api/history.h"

namespace orrery::ui {

/// What a step is called and what it is done to: "Bypass" and "layers.3".
struct StepWords {
  QString name, scope;
  /// In one line; some names have the scope in them.
  QString both() const { return scope.isEmpty() || name.contains(scope) ? name : name + ' ' + scope; }
};
/// `name`: of the step; empty: as its edits say. The scope is the one that all of them are in.
StepWords stepWords(const std::string& name, const std::vector<edit::Edit>& edits);
/// All that an edit says, in one line: "Repeat layers.4-7, times 2".
QString editSentence(const edit::Edit& edit);

}  // namespace orrery::ui
