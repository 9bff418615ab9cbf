#include "ui/lab/page.h"

#include <QFileInfo>

#include "ui/frame/workspace.h"
#include "ui/lab/lab_page.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

CommandList labCommands(Workspace& work, LabPage* page) {
  return {{.id = "lab.start",
           .text = "&Kernels",
           .menu = Menu::run,
           .group = 2,
           .title = "Kernel lab: run, or stop",
           .run =
               [&work, page] {
                 emit work.pageAsked("lab");
                 page->startOrStop();
               },
           .enabled = [page] { return page->labs()->refusal().isEmpty(); }},
          {.id = "lab.row",
           .text = "Kernel's chosen &row",
           .menu = Menu::run,
           .group = 2,
           .keys = {"Shift+F5"},
           .title = "Kernel lab: run the chosen row alone",
           .run = [page] { page->runChosen(); },
           .enabled = [&work, page] { return page->isVisible() && page->canRunChosen(); }}};
}

PageParts makeLab(Workspace& work, QWidget* parent) {
  auto* page = new LabPage(work.theme(), work.labs(), parent);
  QObject::connect(page, &LabPage::saved, &work, [&work](const QString& path) {
    emit work.noticed("Saved " + QFileInfo(path).fileName());
  });
  QObject::connect(page, &LabPage::saveFailed, &work, &Workspace::failed);
  QObject::connect(page, &LabPage::choiceChanged, &work, &Workspace::changed);
  QObject::connect(work.labs(), &LabController::listed, &work, [&work] {
    const auto count = static_cast<qint64>(work.labs()->kernels().size());
    emit work.subtitleChanged("lab", format::counted(count, "kernel"));
  });
  QObject::connect(&work, &Workspace::devicesListed, page, [&work, page](const Devices& devices) {
    if (!devices.empty()) page->setDevices(devices, work.options().device);
  });
  return {
      .body = page, .corner = page->corner(), .source = work.session(), .commands = labCommands(work, page)};
}

}  // namespace

Page labPage() { return {"lab", "&Kernels", Qt::BottomDockWidgetArea, {}, makeLab}; }

}  // namespace orrery::ui
