// Finds how the model that is talked to differs from another: another file, or itself as it was opened. Both
// are sessions of their own on a thread of their own, so that the chat goes on.
#pragma once

#include <QObject>
#include <memory>
#include <optional>

#include "ui/session/session_controller.h"

namespace orrery::ui {

/// A is the other one, B the model that is talked to, as it was when it was asked.
struct Differences {
  QString other;         // "as opened", "model.gguf"
  bool original = true;  // it is the model as it was opened
  graph::GraphVersion a, b;
  api::GraphDifference graph;
  std::optional<api::WeightDistances> weights;
  std::optional<api::SideTimes> times;
  QString unmeasured;  // why weights or times are missing; empty: nothing that was asked for is
};
using DifferencesPtr = std::shared_ptr<const Differences>;

class DiffController : public QObject {
  Q_OBJECT
 public:
  explicit DiffController(SessionController* session, QObject* parent = nullptr);
  ~DiffController() override;

  /// Whether the model that is open can be compared; else why not.
  QString refusal() const;
  /// `path` empty: with the model as it was opened. `timed`: both are run as well.
  void start(const QString& path, bool timed);
  void stop();
  bool running() const { return running_; }
  /// Null: nothing was found yet.
  const DifferencesPtr& found() const { return found_; }

 signals:
  /// It runs, or has come to its end, or another model is open.
  void changed();
  void stageChanged(const QString& words, double share);
  void failed(const orrery::ui::UiError& error);

 private:
  struct Request {
    SessionPtr session;
    QString path;
    bool timed = false;
  };
  static Result<DifferencesPtr> find(const Request& request, const Services& services,
                                     const ProgressCallback& progress, const std::stop_token& stop);
  void finish(const Result<DifferencesPtr>& result);
  void forget();
  void post(quint64 generation, std::function<void()> call);

  SessionController* session_;
  SessionPtr model_;  // that was asked about
  DifferencesPtr found_;
  bool running_ = false;
  quint64 generation_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
