// "Run on": the devices that nodes can be placed on. One for the window, which makes the edit; pages ask it
// for the menu of what is chosen.
#pragma once

#include <QMenu>
#include <QObject>

#include "engine/api/session.h"

namespace orrery::ui {

class PlaceMenu : public QObject {
  Q_OBJECT

 public:
  explicit PlaceMenu(QObject* parent = nullptr) : QObject(parent) {}

  /// The devices of this machine; `refusal`: why there is no card among them, when there is none.
  void setDevices(std::vector<api::DeviceEntry> devices, const QString& refusal);
  /// Puts the choices into an empty menu. `scopes`: of the model graph, as an edit names them.
  void fill(QMenu* menu, const api::Session& session, const QString& scopes);

 signals:
  /// `device`: "cpu", "cuda:0", or "home": as the model.
  void chosen(const QString& scopes, const QString& device);

 private:
  void addDevice(QMenu* menu, const QString& scopes, const std::string& device, const QString& note,
                 const QString& refusal, bool checked);

  std::vector<api::DeviceEntry> devices_;
  QString refusal_;
};

}  // namespace orrery::ui
