#include "ui/own_ops/page.h"

#include "ui/frame/workspace.h"
#include "ui/own_ops/own_ops_page.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

Unsaved unsavedOps(const OwnOpsPage& page) {
  const QStringList names = page.unsaved();
  if (names.isEmpty()) return {};
  return {"the text of " + names.join(", "), "Ops of one's own are kept by Save on their page."};
}

PageParts makeOwnOps(Workspace& work, QWidget* parent) {
  auto* page = new OwnOpsPage(work.theme(), work.ownOps(), parent);
  QObject::connect(page, &OwnOpsPage::saved, &work,
                   [&work](const QString& folder) { emit work.noticed("Saved in " + folder); });
  QObject::connect(work.ownOps(), &OwnOpController::listed, &work, [&work] {
    const auto count = static_cast<qint64>(work.ownOps()->entries().size());
    emit work.subtitleChanged("own_ops", count > 0 ? format::counted(count, "op") : QString());
  });
  return {.body = page, .source = work.session(), .unsaved = [page] { return unsavedOps(*page); }};
}

}  // namespace

Page ownOpsPage() { return {"own_ops", "&Own ops", Qt::BottomDockWidgetArea, {}, makeOwnOps}; }

}  // namespace orrery::ui
