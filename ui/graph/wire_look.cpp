#include "ui/graph/wire_look.h"

#include <QCoreApplication>

namespace orrery::ui {

Carried carriedType(DType dtype) {
  if (dtype == DType::f16 || dtype == DType::bf16) return Carried::f16;
  if (is_quantised(dtype)) return Carried::quantised;
  return is_integer(dtype) || dtype == DType::boolean ? Carried::integer : Carried::f32;
}

Stroke strokeOf(Carried kind) {
  switch (kind) {
    case Carried::f16:
      return Stroke::doubled;
    case Carried::integer:
      return Stroke::dashDot;
    case Carried::quantised:
      return Stroke::dotted;
    case Carried::f32:
      break;
  }
  return Stroke::solid;
}

QColor colorOf(Carried kind, const Theme& theme) {
  switch (kind) {
    case Carried::f16:
      return theme(Token::wireF16);
    case Carried::integer:
      return theme(Token::wireInt);
    case Carried::quantised:
      return theme(Token::wireQ);
    case Carried::f32:
      break;
  }
  return theme(Token::wireF32);
}

QString wordOf(Carried kind) {
  switch (kind) {
    case Carried::f16:
      return QStringLiteral("f16, bf16");
    case Carried::integer:
      return QCoreApplication::translate("Carried", "integers");
    case Carried::quantised:
      return QCoreApplication::translate("Carried", "quantised");
    case Carried::f32:
      break;
  }
  return QStringLiteral("f32");
}

QColor colorOf(WireChange change, const Theme& theme) {
  switch (change) {
    case WireChange::added:
      return theme(Token::ok);
    case WireChange::removed:
      return theme(Token::error);
    case WireChange::changed:
      return theme(Token::edited);
    case WireChange::none:
      break;
  }
  return theme(Token::edge);
}

}  // namespace orrery::ui
