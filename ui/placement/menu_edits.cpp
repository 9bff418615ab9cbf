#include "ui/placement/menu_edits.h"

#include <QVariant>

#include "ui/placement/scope_words.h"

namespace orrery::ui {

using Edits = std::vector<edit::Edit>;

edit::Edit editOf(const QString& verb, const QString& scopes, const QString& word) {
  edit::Edit edit;
  edit.op = verb.toStdString();
  edit.fields["scope"] = scopeWord({scopes}).toStdString();
  if (!word.isEmpty()) edit.fields[verb == "precision" ? "dtype" : "device"] = word.toStdString();
  return edit;
}

void carry(QAction* entry, Edits edits) { entry->setData(QVariant::fromValue(std::move(edits))); }

std::vector<edit::Edit> carriedBy(const QAction* entry) {
  return entry && entry->isEnabled() ? entry->data().value<Edits>() : Edits();
}

}  // namespace orrery::ui
