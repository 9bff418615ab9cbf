// "Compute in": what nodes may round what they multiply to. One for the window, which makes the edit or has
// it measured; pages ask it for the menu of what is chosen.
#pragma once

#include <QMenu>
#include <QObject>

#include "engine/api/session.h"

namespace orrery::ui {

/// "balanced": what most of the model's nodes compute in.
QString modelPrecision(const api::Session& session);

class PrecisionMenu : public QObject {
  Q_OBJECT

 public:
  explicit PrecisionMenu(QObject* parent = nullptr) : QObject(parent) {}

  /// Puts the choices into an empty menu. `scopes`: of the model graph, as an edit names them; "*": all.
  void fill(QMenu* menu, const api::Session& session, const QString& scopes);

 signals:
  /// `precision`: "exact", "bf16", ..., or "default": as the model was opened.
  void chosen(const QString& scopes, const QString& precision);
  /// The same, not to be done but to be measured.
  void measureAsked(const QString& scopes, const QString& precision);
};

}  // namespace orrery::ui
