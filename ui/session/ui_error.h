// What a banner says of a failure: a title for the attempt, then what is wrong, where, and what to do.
#pragma once

#include <QMetaType>
#include <QString>
#include <QStringList>

#include "engine/base/result.h"

namespace orrery::ui {

struct UiError {
  ErrorCode code = ErrorCode::internal;
  QString title;        // "Could not open model.gguf"
  QString what;         // a sentence without a full stop
  QString where;        // may be empty
  QString advice;       // may be empty
  QStringList actions;  // button texts, the first is the suggested one; the page knows what they do

  /// The sentences below the title.
  QString body() const;
};

UiError describeError(const QString& title, const Error& error, QStringList actions = {});

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::UiError)
