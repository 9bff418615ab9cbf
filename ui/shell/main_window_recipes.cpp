// What the window does with recipes: opens and saves them.
#include <QFileDialog>
#include <QFileInfo>
#include <QSaveFile>

#include "ui/shell/main_window.h"

namespace orrery::ui {
namespace {

constexpr qint64 kMostBytes = qint64{1} << 21;  // more than any recipe has; the engine says so

}  // namespace

/// Makes the edits of the file on the model that is drawn.
void MainWindow::openRecipe(const QString& path) {
  const QString name = QFileInfo(path).fileName();
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    return fail(describeError("Could not open " + name, {ErrorCode::io, file.errorString().toStdString(),
                                                         path.toStdString(), "choose another file"}));
  const auto edits = services_.recipes.parse(file.read(kMostBytes).toStdString());
  if (!edits.ok()) return fail(describeError("Could not open " + name, edits.error()));
  if (edits->empty()) return graph_->banner()->showNotice(name + " holds no edits");
  graph_->banner()->dismiss();
  addRecent(path);
  graph_->source()->replay(*edits, name);
}

/// Whether they were saved.
bool MainWindow::askSaveRecipe(SessionController* source) {
  const SessionPtr session = source->session();
  if (!session || !services_.recipes.write) return false;
  const QFileInfo model(QString::fromStdString(session->info().path));
  const QString suggested = model.path() + "/" + model.completeBaseName() + ".recipe.json";
  const QString path =
      QFileDialog::getSaveFileName(this, "Save the edits as a recipe", suggested, "Recipes (*.json)");
  if (path.isEmpty()) return false;
  QSaveFile file(path);
  const QByteArray text = QByteArray::fromStdString(services_.recipes.write(source->recipe()));
  if (file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit()) {
    source->markSaved();
    addRecent(path);
    graph_->banner()->showNotice("Saved " + QFileInfo(path).fileName());
    refreshStatus();
    return true;
  }
  fail(describeError("Could not save the recipe", {ErrorCode::io, file.errorString().toStdString(),
                                                   path.toStdString(), "choose another folder"}));
  return false;
}

}  // namespace orrery::ui
