// What the models of the library will take in memory, measured on a thread of its own and kept. Lives on the
// GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <optional>

#include "engine/base/worker.h"
#include "ui/session/services.h"

namespace orrery::ui {

using DemandPtr = std::shared_ptr<const api::MemoryDemand>;

/// How a model fits on the devices of this machine, one estimate each.
using Fits = std::vector<api::DeviceMemory>;
/// The best of them; none when no device can run it.
std::optional<api::Fit> bestFit(const Fits& fits);

class MemoryEstimates : public QObject {
  Q_OBJECT
 public:
  explicit MemoryEstimates(Services services, QObject* parent = nullptr);
  ~MemoryEstimates() override;

  /// As list_devices() told; the free memory is that of then.
  void setDevices(std::vector<api::DeviceEntry> devices);
  const std::vector<api::DeviceEntry>& devices() const { return devices_; }
  /// Tells `measured`, or `failed` with the reason; once per model.
  void measure(const api::OpenOptions& options);
  /// Null until it was measured.
  DemandPtr demand(const std::string& model, const std::string& adapter) const;
  /// On every device; empty until it was measured.
  Fits fits(const std::string& model, const std::string& adapter, int64_t context,
            const std::string& kvType) const;

 signals:
  void measured(const QString& model, const QString& adapter);
  void failed(const QString& model, const QString& adapter, const QString& reason);
  void devicesChanged();

 private:
  using Key = std::pair<std::string, std::string>;  // model, adapter
  void take(const Key& key, const Result<api::MemoryDemand>& demand);

  Services services_;
  std::vector<api::DeviceEntry> devices_;
  std::map<Key, DemandPtr> demands_;  // null while it is being measured
  std::unique_ptr<Worker> worker_;    // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
