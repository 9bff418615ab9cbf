#include "ui/values/page.h"

#include <QFileInfo>

#include "ui/frame/workspace.h"
#include "ui/values/values_page.h"

namespace orrery::ui {
namespace {

/// The edits of the graph are asked about as any.
Unsaved unsaved(const Workspace& work) {
  if (!work.graphs()->unsaved()) return {};
  return {"what the inputs are given", "The graph's file keeps what was typed: save the graph."};
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new ValuesPage(work.theme(), work.graphs(), parent);
  QObject::connect(&work, &Workspace::nodeChosen, page, [&work, page](NodeId node, bool fused) {
    if (!fused && work.drawn() == work.session()) page->showNode(node);
  });
  QObject::connect(page, &ValuesPage::pathAsked, &work, &Workspace::pathAsked);
  QObject::connect(page, &ValuesPage::saved, &work, [&work](const QString& path) {
    emit work.noticed("Saved " + QFileInfo(path).fileName());
  });
  QObject::connect(page, &ValuesPage::failed, &work, &Workspace::failed);
  return {.body = page, .source = work.session(), .unsaved = [&work] { return unsaved(work); }};
}

}  // namespace

Page valuesPage() { return {"values", "&Values", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
