// What an entry of a menu would do to the graph, carried by the entry, so that it can be foretold while the
// entry is under the pointer.
#pragma once

#include <QAction>
#include <QString>
#include <vector>

#include "engine/api/session.h"

namespace orrery::ui {

/// "bypass", "place" or "precision" of scopes; `word`: the device, or what is rounded to.
edit::Edit editOf(const QString& verb, const QString& scopes, const QString& word = {});
void carry(QAction* entry, std::vector<edit::Edit> edits);
/// Empty: the entry changes nothing, or cannot be chosen.
std::vector<edit::Edit> carriedBy(const QAction* entry);

}  // namespace orrery::ui
