#include "ui/latency/page.h"

#include <QFileInfo>

#include "ui/frame/workspace.h"
#include "ui/latency/latency_page.h"
#include "ui/session/compare_controller.h"
#include "ui/session/second_device.h"

namespace orrery::ui {
namespace {

/// Both sides' curves, of a comparison or of a message that runs on two devices.
template <class Pair>
void followPair(Pair* pair, LatencyPage* page) {
  QObject::connect(pair, &Pair::prefilled, page, [page](api::Side side, const api::PrefillEvent& event) {
    page->addToPair(side == api::Side::b, event);
  });
  QObject::connect(pair, &Pair::tokensArrived, page, [page](api::Side side, const TokenBatch& tokens) {
    page->addToPair(side == api::Side::b, tokens);
  });
}

void tellExports(Workspace& work, LatencyPage* page) {
  QObject::connect(page, &LatencyPage::exported, &work, [&work](const QString& path) {
    emit work.noticed("Saved " + QFileInfo(path).fileName());
  });
  QObject::connect(
      page, &LatencyPage::exportFailed, &work, [&work](const QString& path, const QString& reason) {
        emit work.failed(describeError(
            "Could not save " + QFileInfo(path).fileName(),
            {ErrorCode::io, reason.toStdString(), path.toStdString(), "choose another folder or name"}));
      });
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new LatencyPage(work.theme(), {work.session(), work.classifier()}, parent);
  tellExports(work, page);
  followPair(work.comparison(), page);
  followPair(work.both(), page);
  QObject::connect(work.comparison(), &CompareController::started, page,
                   [&work, page] { page->beginPair(work.comparison()->sides()); });
  QObject::connect(work.both(), &SecondDevice::began, page, &LatencyPage::beginPair);
  QObject::connect(&work, &Workspace::sourceChanged, page, &LatencyPage::setSource);
  QObject::connect(&work, &Workspace::ticked, page, [&work, page] { page->setDevices(devicesInUse(work)); });
  QObject::connect(&work, &Workspace::phaseChanged, page, [&work] {
    const SessionPtr session = work.drawn()->session();
    const bool texts = session && session->info().task != api::Task::generate;
    emit work.subtitleChanged("latency", texts ? "per text" : "per token");
  });
  return {.body = page, .corner = page->corner(), .middle = page->legend()};
}

}  // namespace

Page latencyPage() { return {"latency", "Latency", Qt::BottomDockWidgetArea, {779, 0}, make}; }

}  // namespace orrery::ui
