// What a row of the passes says of a gain.
#pragma once

#include <QString>

#include "ui/session/pass_gains.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct GainWords {
  QString text, tip;
  Token token = Token::text3;
};

/// "-4.0 %" of a step, or "within noise". `what`: "a token".
GainWords gainWords(const std::optional<api::StepGain>& gain, const QString& what, int rounds);
/// "fuse qkv"
QString passTitle(const std::string& name);

}  // namespace orrery::ui
