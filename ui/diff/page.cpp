#include "ui/diff/page.h"

#include <QFileInfo>

#include "ui/diff/diff_page.h"
#include "ui/frame/workspace.h"

namespace orrery::ui {
namespace {

/// What is chosen in graph and outline, by its path in the model graph.
void followGraph(Workspace& work, DiffPage* page) {
  QObject::connect(&work, &Workspace::nodeChosen, page, [&work, page](NodeId node, bool fused) {
    if (const QString path = work.pathInModel(node, fused); !path.isEmpty()) page->showChoice(path);
  });
}

PageParts makeDiff(Workspace& work, QWidget* parent) {
  auto* page = new DiffPage(work.theme(), work.session(), work.diffs(), parent);
  followGraph(work, page);
  QObject::connect(page, &DiffPage::pathAsked, &work, &Workspace::pathAsked);
  QObject::connect(page, &DiffPage::valuesChanged, &work, &Workspace::scopesMeasured);
  QObject::connect(page, &DiffPage::saved, &work, [&work](const QString& path) {
    emit work.noticed("Saved " + QFileInfo(path).fileName());
  });
  QObject::connect(page, &DiffPage::saveFailed, &work, &Workspace::failed);
  QObject::connect(work.diffs(), &DiffController::changed, &work, &Workspace::changed);  // of the commands
  const auto anyRow = [page] { return page->rows()->rowCount({}) > 0; };
  CommandList commands{{.id = "diff.start",
                        .text = "Di&ff",
                        .menu = Menu::run,
                        .group = 2,
                        .title = "Diff: start, or stop",
                        .run =
                            [&work, page] {
                              emit work.pageAsked("diff");
                              page->startOrStop();
                            },
                        .enabled = [page] { return page->startButton()->isEnabled(); }},
                       {.id = "diff.next",
                        .text = "&Next difference",
                        .menu = Menu::graph,
                        .group = 8,
                        .keys = {"F8"},
                        .run = [page] { page->step(1); },
                        .enabled = anyRow},
                       {.id = "diff.previous",
                        .text = "&Previous difference",
                        .menu = Menu::graph,
                        .group = 8,
                        .keys = {"Shift+F8"},
                        .run = [page] { page->step(-1); },
                        .enabled = anyRow}};
  return {.body = page, .corner = page->corner(), .source = work.session(), .commands = std::move(commands)};
}

}  // namespace

Page diffPage() { return {"diff", "Di&ff", Qt::BottomDockWidgetArea, {}, makeDiff}; }

}  // namespace orrery::ui
