#include "ui/depth/page.h"

#include <QFileInfo>

#include "ui/depth/depth_page.h"
#include "ui/depth/depth_words.h"
#include "ui/frame/workspace.h"

namespace orrery::ui {
namespace {

CommandList depthCommands(Workspace& work, DepthPage* page) {
  return {{.id = "depth.start",
           .text = "&Depths",
           .menu = Menu::run,
           .group = 2,
           .title = "Depth: measure time and memory over the length of the text, or stop",
           .run =
               [&work, page] {
                 emit work.pageAsked("depth");
                 page->startOrStop();
               },
           .enabled = [page] { return page->depths()->running() || page->depths()->refusal().isEmpty(); }},
          {.id = "depth.fastmax",
           .text = "&Fastmax over depth",
           .menu = Menu::run,
           .group = 2,
           .title = "Depth: the model beside itself with Fastmax",
           .run =
               [&work, page] {
                 page->chooseBeside(DepthBeside::fastmax);
                 emit work.pageAsked("depth");
               },
           .enabled =
               [page] {
                 return !page->depths()->running() && page->depths()->refusal().isEmpty() &&
                        page->depths()->refusal(DepthBeside::fastmax).isEmpty();
               }}};
}

PageParts makeDepth(Workspace& work, QWidget* parent) {
  auto* page = new DepthPage(work.theme(), work.session(), work.depths(), parent);
  page->setDepths(work.settings().depths);
  QObject::connect(&work, &Workspace::settingsAsked, page, [&work, page] {
    const QString words = page->depthWords();
    work.settings().depths = words == kFirstDepths ? QString() : words;
  });
  QObject::connect(page, &DepthPage::saved, &work, [&work](const QString& path) {
    emit work.noticed("Saved " + QFileInfo(path).fileName());
  });
  QObject::connect(page, &DepthPage::saveFailed, &work, &Workspace::failed);
  return {.body = page,
          .corner = page->corner(),
          .source = work.session(),
          .commands = depthCommands(work, page)};
}

}  // namespace

Page depthPage() { return {"depth", "&Depth", Qt::BottomDockWidgetArea, {}, makeDepth}; }

}  // namespace orrery::ui
