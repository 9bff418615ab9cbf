#include "ui/classify/page.h"

#include <QFileDialog>

#include "ui/classify/classify_page.h"
#include "ui/frame/workspace.h"

namespace orrery::ui {
namespace {

void askTable(Workspace& work, ClassifyPage* page) {
  emit work.pageAsked("classify");
  const QString path = QFileDialog::getOpenFileName(page, "Open a table of texts", work.settings().lastFolder,
                                                    "Tables (*.csv *.tsv)");
  if (!path.isEmpty()) page->openCsv(path);
}

PageParts make(Workspace& work, QWidget* parent) {
  SessionController* classifier = work.classifier();
  auto* page = new ClassifyPage(work.theme(), classifier, parent);
  QObject::connect(page, &ClassifyPage::graphAsked, &work,
                   [&work](bool shown) { emit work.drawAsked(shown ? work.classifier() : work.session()); });
  QObject::connect(page, &ClassifyPage::openAsked, &work,
                   [&work](const api::OpenOptions& options) { emit work.classifierAsked(options, {}); });
  QObject::connect(&work, &Workspace::classifierChosen, page, &ClassifyPage::openModel);
  QObject::connect(&work, &Workspace::tableAsked, page, [&work, page](const QString& path) {
    emit work.pageAsked("classify");
    page->openCsv(path);
  });
  QObject::connect(&work, &Workspace::graphShown, page,
                   [&work, page] { page->setGraphShown(work.drawn() == work.classifier()); });
  QObject::connect(&work, &Workspace::turnedTo, page, [page](const QString& turned) {
    if (turned == "classify") page->prepare();  // the first look at it loads the classifier
  });
  QObject::connect(classifier, &SessionController::stateChanged, &work, [&work](RunState state) {
    if (state == RunState::classify) emit work.drawAsked(work.classifier());
  });
  return {.body = page,
          .corner = page->corner(),
          .source = classifier,
          .commands = {{.id = "classify.table",
                        .text = "Classify a &CSV...",
                        .menu = Menu::run,
                        .group = 2,
                        .run = [&work, page] { askTable(work, page); }}}};
}

}  // namespace

Page classifyPage() { return {"classify", "C&lassify", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
