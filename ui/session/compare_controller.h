// Runs a comparison beside the window: opens the two sides, runs the same text through both, and tells what
// comes as values, in order, on the GUI thread. The sides are sessions of their own and stay open for the
// next comparison with the same settings.
#pragma once

#include <QObject>
#include <QTimer>
#include <array>
#include <memory>

#include "ui/session/comparison.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

class CompareController : public QObject {
  Q_OBJECT
 public:
  struct Setup {
    SideLooks sides;
    api::OpenOptions a, b;
    api::CompareRequest request;
  };
  explicit CompareController(Services services, QObject* parent = nullptr);
  ~CompareController() override;

  void run(const Setup& setup);
  void stop();
  bool running() const { return running_; }
  /// What the sides are of the run under way, else of the last one.
  const SideLooks& sides() const { return looks_; }
  const Services& services() const { return services_; }
  /// Closes the sides: their memory is given back.
  void release();
  /// Reads what the card of the side on a device says of itself; nothing without one.
  void pollDevice();
  /// The side on a device that is open; null: none.
  SessionPtr onDevice() const { return onDevice_.lock(); }
  const std::vector<api::DeviceVitals>& vitals() const { return vitals_; }

 signals:
  void started();
  void stageChanged(const QString& words);
  /// A side is open; `words` say on what: "2 threads, fused", "NVIDIA H200, fused".
  void sideOpened(orrery::api::Side side, const QString& words);
  void prefilled(orrery::api::Side side, const orrery::api::PrefillEvent& event);
  void tokensArrived(orrery::api::Side side, const orrery::ui::TokenBatch& tokens);
  void finished(const orrery::ui::ComparePtr& result);
  void failed(const orrery::ui::UiError& error);
  void ended();  // after finished, failed and stopped alike

 private:
  struct Open {
    api::OpenOptions options;
    SessionPtr session;
  };
  /// What the job thread keeps between runs.
  struct Sides {
    Open a, b;
  };
  using Feeds = std::array<std::shared_ptr<RunFeed>, 2>;

  Result<api::CompareResult> work(quint64 generation, const Setup& setup, Sides& sides, const Feeds& feeds,
                                  std::stop_token stop);
  Result<void> openSide(quint64 generation, api::Side side, const api::OpenOptions& options, Open& open,
                        std::stop_token stop);
  void finish(quint64 generation, const Result<api::CompareResult>& result);
  void drain();
  void post(std::function<void()> call);

  Services services_;
  bool running_ = false;
  SideLooks looks_;
  quint64 generation_ = 0;
  std::shared_ptr<Sides> sides_;
  Feeds feeds_;
  QTimer feedTimer_;
  std::stop_source stop_{std::nostopstate};
  std::weak_ptr<api::Session> onDevice_;
  std::vector<api::DeviceVitals> vitals_;
  bool vitalsPending_ = false;
  // Last: joined before what their jobs use is gone. The second reads vitals while the first runs.
  std::unique_ptr<Worker> worker_, watch_;
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::api::Side)
Q_DECLARE_METATYPE(orrery::ui::ComparePtr)
Q_DECLARE_METATYPE(orrery::ui::Comparison)
