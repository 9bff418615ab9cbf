#include "ui/change/page.h"

#include "ui/change/change_page.h"
#include "ui/frame/workspace.h"
#include "ui/session/model_use.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new ChangePage(work.theme(), parent);
  const EditPreviews* previews = work.previews();
  const auto tell = [&work](const QString& words) { emit work.subtitleChanged("change", words); };
  QObject::connect(previews, &EditPreviews::asked, page, [previews, page, tell] {
    page->ask(previews->edits());
    tell("pending");
  });
  QObject::connect(
      previews, &EditPreviews::answered, page, [&work, previews, page, tell](const PreviewPtr& preview) {
        const SessionPtr session = work.drawn()->session();
        if (!session) return;
        page->show(*session->model_graph(), previews->edits(), *preview, writesText(session->info()));
        tell(preview->refusals.empty() ? "pending" : "refused");
      });
  QObject::connect(previews, &EditPreviews::forgotten, page, [page, tell] {
    page->clear();
    tell({});
  });
  return {.body = page};
}

}  // namespace

Page changePage() { return {"change", "What &will change", Qt::RightDockWidgetArea, {337, 260}, make}; }

}  // namespace orrery::ui
