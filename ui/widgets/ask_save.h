// Asks where to, and lets a page save there. A page has `save(path)`, and tells of how it ended by
// `saved(path)` or `saveFailed(error)`.
#pragma once

#include <QFileDialog>
#include <QFileInfo>

#include "ui/session/ui_error.h"

namespace orrery::ui {

/// `kinds`: as QFileDialog lists them. Nothing happens where the person turns back.
template <typename Page>
void askSave(Page* page, const QString& title, const QString& suggested, const QString& kinds) {
  const QString path = QFileDialog::getSaveFileName(page, title, suggested, kinds);
  if (path.isEmpty()) return;
  if (const auto done = page->save(path); done.ok())
    emit page->saved(path);
  else
    emit page->saveFailed(describeError("Could not save " + QFileInfo(path).fileName(), done.error()));
}

}  // namespace orrery::ui
