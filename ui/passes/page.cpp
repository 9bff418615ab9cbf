#include "ui/passes/page.h"

#include "ui/frame/workspace.h"
#include "ui/passes/passes_page.h"
#include "ui/session/second_device.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) {
  auto* gains = new PassGains;
  auto* page = new PassesPage(work.theme(), gains, parent);
  gains->setParent(page);
  QObject::connect(page, &PassesPage::nodesLit, &work, &Workspace::nodesLit);
  QObject::connect(page, &PassesPage::wordsChanged, &work,
                   [&work](const QString& words) { emit work.subtitleChanged("passes", words); });
  QObject::connect(&work, &Workspace::sourceChanged, page, &PassesPage::setSource);
  QObject::connect(&work, &Workspace::nodeChosen, page, &PassesPage::leaveChoice);
  QObject::connect(&work, &Workspace::scopeChosen, page, &PassesPage::leaveChoice);
  QObject::connect(gains, &PassGains::switched, &work, [&work](const std::set<std::string>& disabled) {
    if (work.drawn() == work.session()) work.both()->second()->setPasses(disabled);
  });
  page->setSource(work.drawn());
  return {.body = page};
}

}  // namespace

Page passesPage() { return {"passes", "&Passes", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
