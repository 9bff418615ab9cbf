#include "ui/frame/device_in_use.h"

#include "ui/frame/workspace.h"
#include "ui/session/compare_controller.h"
#include "ui/session/model_title.h"
#include "ui/session/second_device.h"

namespace orrery::ui {
namespace {

DeviceLine lineOf(const SessionPtr& session, const api::DeviceVitals& vitals) {
  return {deviceTitle(session->options().device), QString::fromStdString(session->limits().cpu), vitals};
}

}  // namespace

DeviceLine deviceInUse(const Workspace& work) {
  for (const SessionController* source : {work.session(), work.both()->second()})
    if (const SessionPtr session = source->session(); session && session->options().device != "cpu")
      return lineOf(session, source->vitals().device);
  const CompareController& comparison = *work.comparison();
  const SessionPtr compared = comparison.running() ? comparison.onDevice() : nullptr;
  return compared ? lineOf(compared, comparison.vitals()) : DeviceLine{};
}

DeviceLine deviceShown(const Workspace& work) {
  if (work.drawn() == work.session()) return deviceInUse(work);
  const SessionPtr session = work.classifier()->session();
  return session->options().device == "cpu" ? DeviceLine{}
                                            : lineOf(session, work.classifier()->vitals().device);
}

}  // namespace orrery::ui
