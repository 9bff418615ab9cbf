#include "ui/replies/page.h"

#include "ui/frame/workspace.h"
#include "ui/replies/replies_page.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new RepliesPage(work.theme(), work.session(), parent);
  QObject::connect(page, &RepliesPage::wordsChanged, &work,
                   [&work](const QString& words) { emit work.subtitleChanged("replies", words); });
  return {.body = page};
}

}  // namespace

Page repliesPage() { return {"replies", "Rep&lies", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
