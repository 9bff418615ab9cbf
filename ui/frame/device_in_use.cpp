#include "ui/frame/device_in_use.h"

#include <algorithm>

#include "ui/frame/workspace.h"
#include "ui/session/compare_controller.h"
#include "ui/session/model_title.h"
#include "ui/session/second_device.h"

namespace orrery::ui {
namespace {

void addLines(const std::vector<api::DeviceVitals>& cards, std::vector<DeviceLine>& lines) {
  for (const api::DeviceVitals& card : cards) {
    const auto same = [&](const DeviceLine& line) { return line.vitals.device == card.device; };
    if (std::none_of(lines.begin(), lines.end(), same))
      lines.push_back({deviceTitle(card.device), QString::fromStdString(card.name), card});
  }
}

}  // namespace

std::vector<DeviceLine> devicesInUse(const Workspace& work) {
  std::vector<DeviceLine> lines;
  for (const SessionController* source : {work.session(), work.both()->second()})
    if (source->session()) addLines(source->vitals().cards, lines);
  if (lines.empty() && work.comparison()->running()) addLines(work.comparison()->vitals(), lines);
  return lines;
}

std::vector<DeviceLine> devicesShown(const Workspace& work) {
  if (work.drawn() == work.session()) return devicesInUse(work);
  std::vector<DeviceLine> lines;
  addLines(work.classifier()->vitals().cards, lines);
  return lines;
}

}  // namespace orrery::ui
