#include "ui/ops/page.h"

#include "ui/frame/workspace.h"
#include "ui/ops/ops_page.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new OpsPage(work.theme(), parent);
  QObject::connect(&work, &Workspace::graphShown, page,
                   [&work, page, shown = graph::GraphVersion()]() mutable {
                     const SessionPtr session = work.drawn()->session();
                     const graph::GraphVersion model = session ? session->model_graph() : nullptr;
                     const bool same =
                         model && shown && &model->ops() == &shown->ops();  // an edit leaves them as they are
                     shown = model;
                     if (!same) page->setOps(model ? model->ops().all() : std::vector<graph::OpPtr>());
                   });
  QObject::connect(&work, &Workspace::opsChanged, page, [&work, page] {
    const SessionPtr session = work.drawn()->session();
    if (const graph::GraphVersion model = session ? session->model_graph() : nullptr)
      page->setOps(model->ops().all());
  });
  QObject::connect(page, &OpsPage::opAsked, &work, &Workspace::opAsked);
  QObject::connect(page, &OpsPage::countChanged, &work, [&work](int ops) {
    emit work.subtitleChanged("ops", ops > 0 ? QString::number(ops) : QString());
  });
  return {.body = page};
}

}  // namespace

Page opsPage() { return {"ops", "O&ps", Qt::LeftDockWidgetArea, {272, 300}, make}; }

}  // namespace orrery::ui
