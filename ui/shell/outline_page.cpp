#include "ui/shell/outline_page.h"

#include "ui/frame/workspace.h"
#include "ui/shell/outline_panel.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) { return {.body = new OutlinePanel(work.theme(), parent)}; }

}  // namespace

Page outlinePage() { return {"outline", "Outline", Qt::LeftDockWidgetArea, {272, 448}, make}; }

}  // namespace orrery::ui
