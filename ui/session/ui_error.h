// What a banner says of a failure: a title for the attempt, then what is wrong, where, and what to do.
#pragma once

#include <QMetaType>
#include <QString>
#include <QStringList>
#include <vector>

#include "engine/api/types.h"

namespace orrery::ui {

struct UiError {
  ErrorCode code = ErrorCode::internal;
  QString title;        // "Could not open model.gguf"
  QString what;         // a sentence without a full stop
  QString where;        // may be empty
  QString advice;       // may be empty
  QStringList actions;  // button texts, the first is the suggested one; the page knows what they do
  std::vector<api::Offer> offers;  // what the first of the actions do, one each

  /// The sentences below the title.
  QString body() const;
};

/// "Use 4 096 tokens", "Use f16 for the KV cache", "Use the CPU".
QString offerTitle(const api::Offer& offer);
/// Adds an offer and its button.
void addOffer(UiError& error, const api::Offer& offer, const QString& title);
/// What the button with this text does; null for one that is not an offer.
const api::Offer* offerOf(const UiError& error, const QString& action);

UiError describeError(const QString& title, const Error& error, QStringList actions = {});

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::UiError)
