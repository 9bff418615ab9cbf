#include "ui/session/memory_estimates.h"

#include <algorithm>

namespace orrery::ui {

std::optional<api::Fit> bestFit(const Fits& fits) {
  std::optional<api::Fit> best;
  for (const api::DeviceMemory& memory : fits)
    if (memory.refusal.empty()) best = std::min(best.value_or(memory.fit), memory.fit);
  return best;
}

MemoryEstimates::MemoryEstimates(Services services, QObject* parent)
    : QObject(parent), services_(std::move(services)), worker_(std::make_unique<Worker>()) {}

MemoryEstimates::~MemoryEstimates() { worker_.reset(); }

void MemoryEstimates::setDevices(std::vector<api::DeviceEntry> devices) {
  devices_ = std::move(devices);
  emit devicesChanged();
}

void MemoryEstimates::measure(const api::OpenOptions& options) {
  const Key key{options.model, options.adapter};
  if (!services_.memoryDemand || !demands_.try_emplace(key, nullptr).second) return;
  worker_->post([this, key, options](std::stop_token) {
    auto demand = services_.memoryDemand(options);
    QMetaObject::invokeMethod(
        this, [this, key, demand = std::move(demand)] { take(key, demand); }, Qt::QueuedConnection);
  });
}

void MemoryEstimates::take(const Key& key, const Result<api::MemoryDemand>& demand) {
  const QString model = QString::fromStdString(key.first), adapter = QString::fromStdString(key.second);
  if (!demand.ok()) {
    demands_.erase(key);
    emit failed(model, adapter, QString::fromStdString(demand.error().to_string()));
    return;
  }
  demands_[key] = std::make_shared<const api::MemoryDemand>(*demand);
  emit measured(model, adapter);
}

DemandPtr MemoryEstimates::demand(const std::string& model, const std::string& adapter) const {
  const auto it = demands_.find({model, adapter});
  return it == demands_.end() ? nullptr : it->second;
}

Fits MemoryEstimates::fits(const std::string& model, const std::string& adapter, int64_t context,
                           const std::string& kvType) const {
  Fits fits;
  if (const DemandPtr known = demand(model, adapter))
    for (const api::DeviceEntry& device : devices_)
      fits.push_back(api::estimate_memory(*known, device, context, kvType));
  return fits;
}

}  // namespace orrery::ui
