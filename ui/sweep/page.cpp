#include "ui/sweep/page.h"

#include <QFileInfo>

#include "ui/frame/workspace.h"
#include "ui/session/sweep_controller.h"
#include "ui/sweep/sweep_page.h"

namespace orrery::ui {
namespace {

/// What is chosen in graph and outline, by its path in the model graph.
void followChoice(Workspace& work, SweepPage* page) {
  QObject::connect(&work, &Workspace::nodeChosen, page, [&work, page](NodeId node, bool fused) {
    if (const QString path = work.pathInModel(node, fused); !path.isEmpty()) page->showChoice(path);
  });
  QObject::connect(&work, &Workspace::scopeChosen, page,
                   [page](const QString& scope) { page->showChoice(scope); });
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new SweepPage(work.theme(), work.session(), work.sweeps(), parent);
  followChoice(work, page);
  QObject::connect(page, &SweepPage::pathAsked, &work, &Workspace::pathAsked);
  QObject::connect(page, &SweepPage::valuesChanged, &work, &Workspace::scopesMeasured);
  QObject::connect(page, &SweepPage::editsAsked, &work,
                   [&work](const std::vector<edit::Edit>& edits, const QString& name) {
                     emit work.drawAsked(work.session());
                     work.editByHand(edits, name);
                   });
  QObject::connect(page, &SweepPage::recipeAsked, &work, [&work](std::vector<edit::Edit> edits) {
    std::vector<edit::Edit> recipe = work.session()->recipe();  // upon which the sweeps were measured
    recipe.insert(recipe.end(), edits.begin(), edits.end());
    emit work.drawAsked(work.session());
    emit work.recipeSaveAsked(recipe);
  });
  QObject::connect(page, &SweepPage::saved, &work, [&work](const QString& path) {
    emit work.noticed("Saved " + QFileInfo(path).fileName());
  });
  QObject::connect(page, &SweepPage::saveFailed, &work, &Workspace::failed);
  QObject::connect(&work, &Workspace::devicesListed, page,
                   [page](const Devices& devices) { page->setDevices(devices); });
  CommandList commands{
      {.id = "sweep.start",
       .text = "&Sweep",
       .menu = Menu::run,
       .group = 2,
       .title = "Sweep: start, or stop",
       .run =
           [&work, page] {
             emit work.pageAsked("sweep");
             page->startOrStop();
           },
       .enabled = [page] { return page->sweeps()->running() || page->sweeps()->refusal().isEmpty(); }}};
  return {.body = page, .corner = page->corner(), .source = work.session(), .commands = std::move(commands)};
}

}  // namespace

Page sweepPage() { return {"sweep", "S&weep", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
