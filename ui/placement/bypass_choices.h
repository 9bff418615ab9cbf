// What bypass can do with things of a graph: leave them out of what runs, or put them back.
#pragma once

#include <QString>
#include <QStringList>
#include <limits>
#include <vector>

#include "ui/session/session_controller.h"

namespace orrery::ui {

struct BypassChoice {
  bool restores = false;
  QString name;     // "layers.3", or how many: "3"
  QString scopes;   // as an edit names them
  QString refusal;  // why it cannot be done; empty: it can
  QString words() const { return (restores ? "Restore " : "Bypass ") + name; }
  QString tip() const;
};

/// What bypass would do first with things of the model graph. Quick: whether it can is not asked.
enum class Bypass { nothing, leavesOut, restores };
Bypass bypassOf(const SessionController& source, const QStringList& things);

/// The first choices are of `things`, scopes and nodes of the model graph: Bypass of what runs, Restore of
/// what is bypassed, named by the scope that was. Then Bypass of `around` and of the scopes around it, as far
/// as it can be done: at most that many, as whether it can is slow to tell. `name`: what the things are
/// called together.
std::vector<BypassChoice> bypassChoices(const SessionController& source, const QString& name,
                                        const QStringList& things, const QString& around = {},
                                        int mostAround = std::numeric_limits<int>::max());

}  // namespace orrery::ui
