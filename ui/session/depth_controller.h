// What a token and its context take after texts of rising length, measured beside the chat on a thread of its
// own: of the model as it is, and beside it as it was opened, or with Fastmax in place of its softmax. Points
// come as values, in order, on the GUI thread.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <memory>
#include <optional>

#include "engine/api/depths.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

/// What stands beside the model as it is.
enum class DepthBeside { nothing, opened, fastmax };

struct DepthCurve {
  QString name;  // "as it was opened"
  std::vector<api::BenchResult::Depth> points;
};

/// Seconds of reading on from one depth to another, by how the stretches before became slower; 0: there was
/// none.
double secondsToRead(const std::vector<api::BenchResult::Depth>& points, int64_t from, int64_t to);

class DepthController : public QObject {
  Q_OBJECT
 public:
  explicit DepthController(SessionController* session, QObject* parent = nullptr);
  ~DepthController() override;

  /// Whether the model that is open can be measured; else why not.
  QString refusal() const;
  /// Whether that can stand beside the model; else why not.
  QString refusal(DepthBeside beside) const;
  /// What tells most: an edited model beside itself as it was opened, a softmax beside Fastmax.
  DepthBeside telling() const;

  /// What is going to be measured: its demand is asked for. Rising.
  void choose(const std::vector<int64_t>& depths, DepthBeside beside);
  /// Of what is chosen; none: it is being asked for, or refused.
  const std::optional<api::DepthsDemand>& demand() const { return demand_; }
  const QString& demandRefusal() const { return demandRefusal_; }
  /// The curves of what is chosen, the first one first.
  QStringList names() const;

  void start();
  void stop();
  bool running() const { return running_; }
  bool stopped() const { return stopped_; }

  /// What is shown: the run that is under way, or ran last.
  const std::vector<int64_t>& depths() const { return depths_; }
  const std::vector<DepthCurve>& curves() const { return curves_; }
  bool complete() const;
  /// Where it is; nothing while nothing runs.
  const std::optional<api::DepthProgress>& progress() const { return progress_; }
  /// Of the tokens that all sides read, 0 to 1.
  double share() const;
  /// 0: nothing tells it yet.
  double secondsLeft() const;
  /// The model is not as it was measured.
  bool edited() const;

 signals:
  /// Another run, or none, is shown; or it began or ended.
  void changed();
  /// Points were added; ten times a second at most.
  void advanced();
  void demandChanged();
  void failed(const orrery::ui::UiError& error);

 private:
  api::DepthsRequest requestOf(const std::vector<int64_t>& depths, DepthBeside beside) const;
  void ask();
  void forget();
  void finish(const Result<void>& result);
  void post(quint64 generation, std::function<void()> call);
  void tellSoon();

  SessionController* session_;
  // Chosen.
  std::vector<int64_t> chosenDepths_;
  DepthBeside beside_ = DepthBeside::nothing;
  std::optional<api::DepthsDemand> demand_;
  QString demandRefusal_;
  QTimer asking_;  // once what is chosen stays
  quint64 question_ = 0;
  std::stop_source asked_{std::nostopstate};
  // Shown.
  SessionPtr model_;
  std::vector<edit::Edit> recipe_;  // of the model when it was measured
  std::vector<int64_t> depths_;
  std::vector<DepthCurve> curves_;
  std::optional<api::DepthProgress> progress_;
  bool running_ = false, stopped_ = false;
  QElapsedTimer stretch_;  // since it began to be read
  QTimer telling_;
  quint64 generation_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
