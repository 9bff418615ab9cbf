// Which tokens of a text the drawn model's answer follows from, computed beside what the model runs, on a
// thread of its own. One question at a time; its answer stays until the next one, or another model is drawn.
#pragma once

#include <QObject>
#include <memory>
#include <optional>

#include "ui/session/session_controller.h"

namespace orrery::ui {

class AttributionController : public QObject {
  Q_OBJECT
 public:
  explicit AttributionController(SessionController* source, QObject* parent = nullptr);
  ~AttributionController() override;

  /// Of another model: what was known of the one before is forgotten.
  void setSource(SessionController* source);
  SessionController* source() const { return source_; }
  /// Whether it is offered at all.
  bool offered() const;
  /// Why the drawn model cannot be asked; empty: it can.
  QString refusal() const;

  void start(const api::AttributionRequest& request);
  void stop();
  bool running() const { return running_; }
  /// What is being done, while it runs.
  const QString& stage() const { return stage_; }

  /// None yet, or the last question was refused.
  const std::optional<api::Attribution>& result() const { return result_; }
  /// What the result is of, or the failure.
  const api::AttributionRequest& request() const { return request_; }
  /// The graph is another one than the result was computed with.
  bool edited() const { return edited_; }
  /// Why the last question has no result.
  const std::optional<UiError>& failure() const { return failure_; }

 signals:
  /// It runs or has ended, another model is drawn, or its graph has changed.
  void changed();
  void staged();

 private:
  void finish(Result<api::Attribution> result);
  void forget();
  void post(quint64 generation, std::function<void()> call);

  SessionController* source_;
  SessionPtr model_;  // that was asked
  api::AttributionRequest request_;
  std::optional<api::Attribution> result_;
  std::optional<UiError> failure_;
  QString stage_;
  bool running_ = false, edited_ = false;
  quint64 generation_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
