// What the window does while every message runs on two devices: loading the second, both curves, both
// replies.
#include "ui/session/model_title.h"
#include "ui/shell/main_window.h"

namespace orrery::ui {
namespace {

DeviceLine lineOf(const SessionPtr& session, const api::DeviceVitals& vitals) {
  return {deviceTitle(session->options().device), QString::fromStdString(session->limits().cpu), vitals};
}

}  // namespace

void MainWindow::setupBothWiring() {
  setupSecondLoad();
  connect(both_, &SecondDevice::changed, this, [this] {
    nameDrawn();
    if (const SessionPtr second = both_->second()->session())
      second->set_profiling(do_.profiler->isChecked());
    refreshActions();
  });
  connect(both_, &SecondDevice::failed, this, &MainWindow::fail);
  connect(both_, &SecondDevice::began, this, [this](const SideLooks& sides) {
    latency_->beginPair(sides);
    compare_->beginLive(both_->devices());
  });
  connect(both_, &SecondDevice::prefilled, this, [this](api::Side side, const api::PrefillEvent& event) {
    latency_->addToPair(side == api::Side::b, event);
    compare_->card(side)->add(event);
  });
  connect(both_, &SecondDevice::tokensArrived, this, [this](api::Side side, const TokenBatch& tokens) {
    latency_->addToPair(side == api::Side::b, tokens);
    compare_->card(side)->add(tokens);
  });
  connect(both_, &SecondDevice::replyFinished, this, [this](api::Side side, const api::ChatResult& result) {
    compare_->card(side)->finish(result, result.prefill_ms + result.decode_ms);
  });
  connect(both_, &SecondDevice::measured, compare_, &ComparePage::setLive);
  connect(both_->second(), &SessionController::stateChanged, this, [this] {
    refreshActions();
    refreshStatus();
  });
}

void MainWindow::setupSecondLoad() {
  ProgressStrip* progress = graph_->progress();
  SessionController* second = both_->second();
  connect(second, &SessionController::loadStarted, this, [this, progress](const QString& name) {
    graph_->banner()->dismiss();
    progress->begin("Loading " + name + " on " + deviceTitle(both_->place()));
  });
  connect(second, &SessionController::loadProgress, progress, &ProgressStrip::setProgress);
  connect(second, &SessionController::loadEnded, progress, &QWidget::hide);
  connect(progress, &ProgressStrip::cancelled, this, [this, second] {
    if (second->loading()) both_->close();
  });
}

/// Of the model that is drawn.
void MainWindow::chooseDevice(const std::string& device) {
  if (graph_->source() == classifier_) return classifier_->moveTo(device);
  both_->close();
  options_.open.device = device;
  tools_->setDevice(device, false);
  session_->moveTo(device);
}

/// What the cards in use say of themselves, for the status line and the plot's foot.
void MainWindow::pollDevices() {
  for (SessionController* source : {session_, classifier_, both_->second()}) source->pollDevice();
  if (comparison_->running()) comparison_->pollDevice();
  latency_->setDevice(deviceInUse());
}

/// The device that a message or a comparison runs on now; none: all is on the CPU.
DeviceLine MainWindow::deviceInUse() const {
  for (const SessionController* source : {session_, both_->second()})
    if (const SessionPtr session = source->session(); session && session->options().device != "cpu")
      return lineOf(session, source->vitals().device);
  const SessionPtr compared = comparison_->running() ? comparison_->onDevice() : nullptr;
  return compared ? lineOf(compared, comparison_->vitals()) : DeviceLine{};
}

/// Of the model that is drawn.
DeviceLine MainWindow::deviceShown() const {
  if (graph_->source() == session_) return deviceInUse();
  const SessionPtr session = classifier_->session();
  return session->options().device == "cpu" ? DeviceLine{} : lineOf(session, classifier_->vitals().device);
}

}  // namespace orrery::ui
