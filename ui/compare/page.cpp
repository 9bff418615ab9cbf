#include "ui/compare/page.h"

#include "ui/compare/compare_page.h"
#include "ui/frame/workspace.h"
#include "ui/session/second_device.h"

namespace orrery::ui {
namespace {

/// The cards show what a message on two devices says and takes.
void followBoth(SecondDevice* both, ComparePage* page) {
  QObject::connect(both, &SecondDevice::began, page, [both, page] { page->beginLive(both->devices()); });
  QObject::connect(both, &SecondDevice::prefilled, page,
                   [page](api::Side side, const api::PrefillEvent& event) { page->card(side)->add(event); });
  QObject::connect(both, &SecondDevice::tokensArrived, page,
                   [page](api::Side side, const TokenBatch& tokens) { page->card(side)->add(tokens); });
  QObject::connect(both, &SecondDevice::replyFinished, page,
                   [page](api::Side side, const api::ChatResult& result) {
                     page->card(side)->finish(result, result.prefill_ms + result.decode_ms);
                   });
  QObject::connect(both, &SecondDevice::measured, page, &ComparePage::setLive);
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new ComparePage(work.theme(), work.session(), work.comparison(), parent);
  followBoth(work.both(), page);
  QObject::connect(page, &ComparePage::nodeAsked, &work, &Workspace::pathAsked);
  QObject::connect(page, &ComparePage::comparisonChanged, &work, &Workspace::compareAsked);
  QObject::connect(page, &ComparePage::partsChanged, &work, &Workspace::scopesMeasured);
  QObject::connect(work.comparison(), &CompareController::started, &work,
                   [&work] { emit work.drawAsked(work.session()); });
  QObject::connect(&work, &Workspace::devicesListed, page,
                   [page](const Devices& devices) { page->setDevices(devices); });
  return {.body = page, .source = work.session()};
}

}  // namespace

Page comparePage() { return {"compare", "Co&mpare", Qt::BottomDockWidgetArea, {}, make}; }

}  // namespace orrery::ui
