#include "ui/session/own_ops_first.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace orrery::ui {
namespace {

/// Closed until it is opened, once.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    wake_.notify_all();
  }
  bool isOpen() {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  /// False: a stop was asked for.
  bool wait(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    return wake_.wait(lock, std::move(stop), [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool open_ = false;
};

}  // namespace

Services afterOwnOps(Services services) {
  if (!services.ownOps.join || !services.open) return services;
  const auto gate = std::make_shared<Gate>();
  services.ownOps.join = [gate, join = std::move(services.ownOps.join)](const Watch& watch) {
    struct Opening {
      Gate& gate;
      ~Opening() { gate.open(); }
    } const opening{*gate};
    return join(watch);
  };
  services.open = [gate, open = std::move(services.open)](const api::OpenOptions& options,
                                                          const ProgressCallback& progress,
                                                          std::stop_token stop) -> Result<SessionPtr> {
    if (!gate->isOpen() && progress) progress("Waiting for ops of one's own", 0, 0);
    if (!gate->wait(stop)) return Error{ErrorCode::cancelled, "Stopped", "", ""};
    return open(options, progress, std::move(stop));
  };
  return services;
}

}  // namespace orrery::ui
