// The dialogs that ask for files, and what is read from them and written to them.
#include <QFileDialog>
#include <QFileInfo>

#include "engine/api/recipes.h"
#include "ui/session/graph_controller.h"
#include "ui/session/recipe_shelf.h"
#include "ui/session/trace_saver.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/openable.h"
#include "ui/shell/opening.h"

namespace orrery::ui {
void Opening::askFile() {
  const QString path = QFileDialog::getOpenFileName(window_, "Open a model, a graph, an adapter or a recipe",
                                                    work_.settings().lastFolder, modelFilters());
  if (path.isEmpty()) return;
  work_.settings().lastFolder = QFileInfo(path).path();
  openPaths({path});
}

void Opening::askFolder() {
  const QString path =
      QFileDialog::getExistingDirectory(window_, "Open a model's folder", work_.settings().lastFolder);
  if (path.isEmpty()) return;
  work_.settings().lastFolder = QFileInfo(path).path();
  openPaths({path});
}

void Opening::askExportGraph() {
  const QString path = QFileDialog::getSaveFileName(window_, "Export the graph", "graph.svg",
                                                    "Drawing (*.svg);;Document (*.pdf);;Picture (*.png)");
  if (path.isEmpty()) return;
  QString reason;
  if (graph_->view()->exportImage(path, &reason))
    return emit work_.noticed("Saved " + QFileInfo(path).fileName());
  emit work_.failed(describeError(
      "Could not export the graph",
      {ErrorCode::io, reason.toStdString(), path.toStdString(), "choose another folder or name"}));
}

void Opening::askExportPaper() {
  const QString a3 = "A3, document (*.pdf);;A3, a drawing for each sheet (*.svg)",
                a4 = "A4, document (*.pdf);;A4, a drawing for each sheet (*.svg)";
  QString kind;
  const QString path =
      QFileDialog::getSaveFileName(window_, "Export the page for paper", "page.pdf", a4 + ";;" + a3, &kind);
  if (path.isEmpty()) return;
  QString reason;
  if (graph_->view()->exportPaper(path, kind.startsWith("A3") ? GraphView::Paper::a3 : GraphView::Paper::a4,
                                  &reason))
    return emit work_.noticed("Saved " + QFileInfo(path).fileName());
  emit work_.failed(describeError(
      "Could not export the page",
      {ErrorCode::io, reason.toStdString(), path.toStdString(), "choose another folder or name"}));
}

void Opening::askSaveTrace() {
  const QString path = QFileDialog::getSaveFileName(window_, "Save what ran when, of every open model",
                                                    "trace.json", "Traces (*.json)");
  if (!path.isEmpty()) work_.traces()->save(path);
}

/// Makes the edits of the file on the model that is drawn.
void Opening::openRecipe(const QString& path) {
  const QString name = QFileInfo(path).fileName();
  const auto recipe = work_.services().recipes.read(path.toStdString());
  if (!recipe.ok()) return emit work_.failed(describeError("Could not open " + name, recipe.error()));
  if (recipe->edits.empty()) return emit work_.noticed(name + " holds no edits");
  graph_->banner()->dismiss();
  addRecent(path);
  work_.drawn()->replay(recipe->edits, name, recipe->model);
}

bool Opening::saveGraph(bool as) {
  SessionController* source = work_.session();
  const SessionPtr session = source->session();
  if (!session || !work_.services().graphs.save) return false;
  QString path = graphFile_;
  if (as || path.isEmpty()) {
    const QString folder = work_.settings().lastFolder;
    const QString suggested = path.isEmpty() ? (folder.isEmpty() ? "" : folder + "/") + "graph.json" : path;
    path = QFileDialog::getSaveFileName(window_, "Save the graph", suggested, "Graphs (*.json)");
    if (path.isEmpty()) return false;
    work_.settings().lastFolder = QFileInfo(path).path();
  }
  GraphEditor* editor = graph_->modelView()->editor();
  const bool drawn = work_.drawn() == source;
  const api::Canvas canvas{drawn ? editor->filePlaces() : api::Places(), work_.graphs()->given()};
  const Result<void> saved = work_.services().graphs.save(*session, path.toStdString(), canvas);
  if (!saved.ok()) {
    emit work_.failed(describeError("Could not save the graph", saved.error()));
    return false;
  }
  source->markSaved();
  work_.graphs()->markSaved();
  if (std::exchange(graphFile_, path) != path) {
    // The view forgets where things are with the name that it knows the graph by.
    const QString kept = editor->arrangement();
    source->rename(QFileInfo(path).completeBaseName());
    graph_->refreshGraph();
    if (drawn) editor->setArrangement(kept);
  }
  addRecent(path);
  emit work_.noticed("Saved " + QFileInfo(path).fileName());
  emit work_.changed();
  return true;
}

bool Opening::askSaveRecipe(SessionController* source) {
  const SessionPtr session = source->session();
  if (source == work_.session() && work_.graphs()->own()) return saveGraph(false);
  if (!session || !saveRecipe(*session, session->recipe())) return false;
  source->markSaved();
  graph_->closeCells();
  emit work_.changed();
  return true;
}

bool Opening::saveRecipe(const api::Session& session, const std::vector<edit::Edit>& edits) {
  if (!work_.services().recipes.write) return false;
  const QString path = QFileDialog::getSaveFileName(
      window_, "Save the edits as a recipe",
      work_.recipes()->proposal(QString::fromStdString(session.info().path)), "Recipes (*.json)");
  if (path.isEmpty()) return false;
  edit::Recipe recipe = api::recipe_of(session);
  recipe.edits = edits;
  if (const Result<void> saved = work_.recipes()->save(path, recipe); !saved.ok()) {
    emit work_.failed(describeError("Could not save the recipe", saved.error()));
    return false;
  }
  addRecent(path);
  emit work_.noticed("Saved " + QFileInfo(path).fileName());
  return true;
}

}  // namespace orrery::ui
