#include "ui/placement/place_menu.h"

#include "ui/placement/menu_edits.h"
#include "ui/placement/scope_words.h"
#include "ui/session/model_title.h"

namespace orrery::ui {
namespace {

const std::string kCpu(graph::kCpu), kFirstCard = "cuda:0";

/// The device that all of the nodes are asked to run on: empty for the model's own, nothing when they differ.
std::optional<std::string> deviceAskedOf(const graph::Graph& model, const QString& scopes) {
  std::optional<std::string> asked;
  for (const NodeId id : nodesIn(model, scopes)) {
    const std::string device(graph::device_of(model.node(id)));
    if (asked && *asked != device) return std::nullopt;
    asked = device;
  }
  return asked;
}

}  // namespace

void PlaceMenu::setDevices(std::vector<api::DeviceEntry> devices, const QString& refusal) {
  devices_ = std::move(devices);
  refusal_ = refusal;
}

void PlaceMenu::fill(QMenu* menu, const api::Session& session, const QString& scopes) {
  const graph::GraphVersion model = session.model_graph();
  const std::optional<std::string> asked = model ? deviceAskedOf(*model, scopes) : std::nullopt;
  const std::string& home = session.options().device;
  menu->setToolTipsVisible(true);
  addDevice(menu, scopes, kCpu, {}, {}, asked == kCpu);
  bool card = false;
  for (const api::DeviceEntry& entry : devices_) {
    if (entry.device == kCpu) continue;
    QString refusal = QString::fromStdString(entry.refusal);
    if (refusal.isEmpty() && home != kCpu && home != entry.device)
      refusal = "the model runs on " + deviceTitle(home) + ", and uses one card at most";
    addDevice(menu, scopes, entry.device, QString::fromStdString(entry.name), refusal, asked == entry.device);
    card = true;
  }
  if (!card) addDevice(menu, scopes, kFirstCard, {}, refusal_, asked == kFirstCard);
  menu->addSeparator();
  QAction* own = menu->addAction("As the model (" + deviceTitle(home) + ")", this,
                                 [this, scopes] { emit chosen(scopes, "home"); });
  carry(own, {editOf("place", scopes, "home")});
  own->setCheckable(true);
  own->setChecked(asked && asked->empty());
  own->setEnabled(!asked || !asked->empty());
}

void PlaceMenu::addDevice(QMenu* menu, const QString& scopes, const std::string& device, const QString& note,
                          const QString& refusal, bool checked) {
  constexpr int kLongest = 64;  // characters of a reason; the tool tip has the rest
  QString words = deviceTitle(device);
  if (!refusal.isEmpty()) {
    words += ": " + (refusal.size() > kLongest ? refusal.left(kLongest - 1) + QChar(0x2026) : refusal);
  } else if (!note.isEmpty()) {
    words += "   " + note;
  }
  QAction* action = menu->addAction(
      words, this, [this, scopes, device] { emit chosen(scopes, QString::fromStdString(device)); });
  carry(action, {editOf("place", scopes, QString::fromStdString(device))});
  action->setCheckable(true);
  action->setChecked(checked);
  action->setEnabled(refusal.isEmpty());
  action->setToolTip(refusal.isEmpty() ? note : refusal);
}

}  // namespace orrery::ui
