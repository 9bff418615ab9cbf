#include "ui/session/ui_error.h"

namespace orrery::ui {
namespace {

QString sentence(QString text) {
  text = text.trimmed();
  if (text.isEmpty()) return text;
  text[0] = text[0].toUpper();
  if (!text.endsWith('.') && !text.endsWith('?') && !text.endsWith('!')) text += '.';
  return text;
}

}  // namespace

QString UiError::body() const {
  QString text = what;
  if (!where.isEmpty()) text += " (" + where + ")";
  text = sentence(text);
  if (!advice.isEmpty()) text += " " + sentence(advice);
  return text;
}

UiError describeError(const QString& title, const Error& error, QStringList actions) {
  UiError result;
  result.code = error.code;
  result.title = title;
  result.what = QString::fromStdString(error.what);
  result.where = QString::fromStdString(error.where);
  result.advice = QString::fromStdString(error.advice);
  result.actions = std::move(actions);
  return result;
}

}  // namespace orrery::ui
