// How the fit of a model on a device is shown: word, mark and colour.
#pragma once

#include <QStringView>

#include "engine/api/memory_estimate.h"
#include "ui/theme/format.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct FitLook {
  Token token;
  QStringView icon;
};

inline FitLook lookOf(api::Fit fit) {
  switch (fit) {
    case api::Fit::fits:
      return {Token::ok, u"check"};
    case api::Fit::tight:
      return {Token::warn, u"warn"};
    case api::Fit::too_large:
      break;
  }
  return {Token::error, u"error"};
}

inline QString bytes(uint64_t value) { return format::bytes(static_cast<double>(value)); }

inline QString wordOf(api::Fit fit) {
  const std::string_view name = api::name_of(fit);
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

}  // namespace orrery::ui
