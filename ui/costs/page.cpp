#include "ui/costs/page.h"

#include "ui/costs/costs_page.h"
#include "ui/frame/workspace.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) {
  auto* costs = new EditCosts;
  auto* page = new CostsPage(work.theme(), costs, parent);
  costs->setParent(page);
  QObject::connect(page, &CostsPage::targetAsked, &work, &Workspace::targetAsked);
  QObject::connect(page, &CostsPage::wordsChanged, &work,
                   [&work](const QString& words) { emit work.subtitleChanged("costs", words); });
  QObject::connect(page, &CostsPage::failed, &work, &Workspace::failed);
  QObject::connect(&work, &Workspace::sourceChanged, page, &CostsPage::setSource);
  page->setSource(work.drawn());
  return {.body = page};
}

}  // namespace

Page costsPage() { return {"costs", "C&osts", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
