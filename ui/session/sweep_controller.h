// Runs sweeps beside the chat: one edit at a time over all places of the model that is talked to, on a thread
// of its own. Rows come as values, in order, on the GUI thread. Those of the types that were swept are kept
// while the model is open, and mixes are made of them.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <memory>
#include <optional>

#include "engine/api/mix.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

class SweepController : public QObject {
  Q_OBJECT
 public:
  explicit SweepController(SessionController* session, QObject* parent = nullptr);
  ~SweepController() override;

  /// Whether the model that is open can be swept; else why not.
  QString refusal() const;
  void start(const api::SweepRequest& request);
  /// From where the sweep that is shown was stopped.
  void resume();
  void stop();
  bool running() const { return running_; }
  bool canResume() const;

  /// What is shown: the sweep that runs, or ran last.
  const api::Sweep& sweep() const { return sweep_; }
  /// All of its places, in the order of the graph: the first ones have rows.
  const std::vector<api::SweepPlace>& places() const { return places_; }
  /// A row takes so long, by those of this run; 0: none was measured yet.
  double secondsEach() const;
  /// What was swept before and is shown beside; null: nothing.
  const api::Sweep* other() const;

  /// What mixes are made of; nothing before a type was swept.
  std::optional<api::MixTable> mixTable() const;
  /// The model is not as it was swept: what was measured holds no more for what would be made now.
  bool edited() const;
  /// What the edits cost together, over the text of the sweeps.
  void measureMix(const std::vector<edit::Edit>& edits);
  bool measuring() const { return measuring_; }

 signals:
  /// Another sweep, or none, is shown.
  void changed();
  /// Rows were added, or what runs has come to its end; ten times a second at most.
  void advanced();
  void failed(const orrery::ui::UiError& error);
  void mixMeasured(const std::vector<orrery::edit::Edit>& edits, double distance);

 private:
  void run(api::Sweep begun);
  void finish(const Result<api::Sweep>& result);
  void keep();
  void forget();
  void post(quint64 generation, std::function<void()> call);

  SessionController* session_;
  SessionPtr model_;  // whose rows these are
  api::Sweep sweep_;
  std::vector<api::SweepPlace> places_;
  std::vector<api::Sweep> kept_;  // each of another request, the newest last
  bool running_ = false, measuring_ = false;
  size_t rowsBefore_ = 0;  // this run
  QTimer telling_;         // of rows
  QElapsedTimer since_;
  double seconds_ = 0;  // of the rows of this run
  quint64 generation_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
