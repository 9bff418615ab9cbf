#include "ui/graph/wire_look.h"

#include <QCoreApplication>

namespace orrery::ui {

WireKind wireKindOf(DType dtype) {
  if (dtype == DType::f16 || dtype == DType::bf16) return WireKind::f16;
  if (is_quantised(dtype)) return WireKind::quantised;
  return is_integer(dtype) || dtype == DType::boolean ? WireKind::integer : WireKind::f32;
}

Stroke strokeOf(WireKind kind) {
  switch (kind) {
    case WireKind::f16:
      return Stroke::doubled;
    case WireKind::integer:
      return Stroke::dashDot;
    case WireKind::quantised:
      return Stroke::dotted;
    case WireKind::f32:
      break;
  }
  return Stroke::solid;
}

QColor colorOf(WireKind kind, const Theme& theme) {
  switch (kind) {
    case WireKind::f16:
      return theme(Token::wireF16);
    case WireKind::integer:
      return theme(Token::wireInt);
    case WireKind::quantised:
      return theme(Token::wireQ);
    case WireKind::f32:
      break;
  }
  return theme(Token::wireF32);
}

QString wordOf(WireKind kind) {
  switch (kind) {
    case WireKind::f16:
      return QStringLiteral("f16, bf16");
    case WireKind::integer:
      return QCoreApplication::translate("WireKind", "integers");
    case WireKind::quantised:
      return QCoreApplication::translate("WireKind", "quantised");
    case WireKind::f32:
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
