#include "ui/session/ui_error.h"

#include "ui/session/model_title.h"
#include "ui/theme/format.h"

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

QString offerTitle(const api::Offer& offer) {
  const QString value = QString::fromStdString(offer.value);
  if (offer.option == "context") return QString("Use %1 tokens").arg(format::count(value.toLongLong()));
  if (offer.option == "device") return value == "cpu" ? "Use the CPU" : "Use " + deviceTitle(offer.value);
  return QString("Use %1 for the KV cache").arg(value);
}

void addOffer(UiError& error, const api::Offer& offer, const QString& title) {
  error.actions.insert(static_cast<qsizetype>(error.offers.size()), title);
  error.offers.push_back(offer);
}

const api::Offer* offerOf(const UiError& error, const QString& action) {
  const qsizetype index = error.actions.indexOf(action);
  return index >= 0 && static_cast<size_t>(index) < error.offers.size()
             ? &error.offers[static_cast<size_t>(index)]
             : nullptr;
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
