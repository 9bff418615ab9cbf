#include "ui/library/page.h"

#include "ui/frame/workspace.h"
#include "ui/library/library_page.h"

namespace orrery::ui {
namespace {

ListedModels listed(const LibraryModel& library) {
  ListedModels models;
  for (int row = 0; row < library.rowCount(); ++row) {
    const QModelIndex index = library.index(row);
    if (library.recipe(index)) continue;
    const auto text = [&](int role) { return index.data(role).toString(); };
    models.push_back({text(LibraryModel::nameRole), text(LibraryModel::detailRole),
                      text(LibraryModel::pathRole), text(LibraryModel::adapterRole),
                      text(LibraryModel::titleRole)});
  }
  return models;
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new LibraryPage(work.theme(), work.session(), parent);
  page->setEstimates(work.estimates());
  page->setRecipes(work.recipes());
  QObject::connect(page, &LibraryPage::openAsked, &work, &Workspace::openAsked);
  QObject::connect(page, &LibraryPage::optionsAsked, &work, &Workspace::optionsAsked);
  QObject::connect(page, &LibraryPage::fileAsked, &work, &Workspace::fileAsked);
  QObject::connect(page, &LibraryPage::metadataAsked, &work, &Workspace::metadataAsked);
  QObject::connect(page, &LibraryPage::countChanged, &work, [&work, page](int models) {
    emit work.subtitleChanged("library", QString("%1 %2").arg(models).arg(models == 1 ? "model" : "models"));
    emit work.modelsListed(listed(*page->model()));
  });
  QObject::connect(page, &LibraryPage::recipeAsked, &work, &Workspace::recipeAsked);
  QObject::connect(page, &LibraryPage::recipeSwitched, work.session(), &SessionController::switchRecipe);
  QObject::connect(&work, &Workspace::recentChanged, page, &LibraryPage::setRecent);
  work.session()->scanLibrary({});
  return {.body = page, .corner = page->corner()};
}

}  // namespace

Page libraryPage() { return {"library", "Library", Qt::LeftDockWidgetArea, {272, 215}, make}; }

}  // namespace orrery::ui
