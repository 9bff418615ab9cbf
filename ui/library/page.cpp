#include "ui/library/page.h"

#include <QFile>
#include <QFileInfo>

#include "ui/frame/workspace.h"
#include "ui/library/library_page.h"

namespace orrery::ui {
namespace {

ListedModels listed(const LibraryModel& library) {
  ListedModels models;
  for (int row = 0; row < library.rowCount(); ++row) {
    const QModelIndex index = library.index(row);
    if (library.recipeAt(index)) continue;
    const auto text = [&](int role) { return index.data(role).toString(); };
    models.push_back({text(LibraryModel::nameRole), text(LibraryModel::detailRole),
                      text(LibraryModel::pathRole), text(LibraryModel::adapterRole),
                      text(LibraryModel::titleRole)});
  }
  return models;
}

/// The recipe that the history has by the name of that file, or by the recipe's own.
void leaveOut(Workspace& work, const LibraryModel& library, const QString& file) {
  const api::History* history = work.session()->history();
  if (!history) return;
  for (int row = 0; row < library.rowCount(); ++row) {
    const api::ListedRecipe* recipe = library.recipeAt(library.index(row));
    if (!recipe || QString::fromStdString(recipe->path) != file) continue;
    for (const api::StackedRecipe& made : history->recipes())
      if (made.on &&
          (made.name == recipe->name || QString::fromStdString(made.name) == QFileInfo(file).fileName()))
        return work.session()->switchRecipe(made.name, false);
  }
}

void keepRecipes(Workspace& work, LibraryPage* page) {
  QObject::connect(page, &LibraryPage::recipeAsked, &work,
                   [&work](const QString& recipe, const QString& model, const QString& adapter) {
                     if (model.isEmpty()) emit work.drawAsked(work.session());
                     emit work.recipeAsked(recipe, model, adapter);
                   });
  QObject::connect(page, &LibraryPage::recipeLeftOut, &work,
                   [&work, page](const QString& recipe) { leaveOut(work, *page->model(), recipe); });
  QObject::connect(page, &LibraryPage::considered, &work, [&work](const std::vector<edit::Edit>& edits) {
    edits.empty() || work.drawn() != work.session() ? work.editLeft() : work.editConsidered(edits);
  });
  QObject::connect(page, &LibraryPage::renameAsked, &work,
                   [&work](const QString& recipe, const QString& name) {
                     const auto& rename = work.services().recipes.rename;
                     const auto done = rename(recipe.toStdString(), name.toStdString());
                     if (!done.ok())
                       return emit work.failed(describeError("Could not rename the recipe", done.error()));
                     emit work.recipesChanged();
                   });
  QObject::connect(page, &LibraryPage::trashAsked, &work, [&work](const QString& recipe) {
    QFile file(recipe);
    if (!file.moveToTrash())
      return emit work.failed(describeError(
          "Could not move the recipe to the trash",
          {ErrorCode::io, file.errorString().toStdString(), recipe.toStdString(), "delete the file itself"}));
    emit work.recipesChanged();
    emit work.noticed("Moved " + QFileInfo(recipe).fileName() + " to the trash");
  });
  QObject::connect(&work, &Workspace::recipesChanged, page, [&work] { work.session()->scanLibrary({}); });
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new LibraryPage(work.theme(), work.session(), parent);
  page->setEstimates(work.estimates());
  QObject::connect(page, &LibraryPage::openAsked, &work, &Workspace::openAsked);
  QObject::connect(page, &LibraryPage::optionsAsked, &work, &Workspace::optionsAsked);
  QObject::connect(page, &LibraryPage::fileAsked, &work, &Workspace::fileAsked);
  QObject::connect(page, &LibraryPage::metadataAsked, &work, &Workspace::metadataAsked);
  QObject::connect(page, &LibraryPage::countChanged, &work, [&work, page](int models) {
    emit work.subtitleChanged("library", QString("%1 %2").arg(models).arg(models == 1 ? "model" : "models"));
    emit work.modelsListed(listed(*page->model()));
  });
  QObject::connect(&work, &Workspace::recentChanged, page, &LibraryPage::setRecent);
  keepRecipes(work, page);
  work.session()->scanLibrary({});
  return {.body = page, .corner = page->corner()};
}

}  // namespace

Page libraryPage() { return {"library", "Library", Qt::LeftDockWidgetArea, {272, 215}, make}; }

}  // namespace orrery::ui
