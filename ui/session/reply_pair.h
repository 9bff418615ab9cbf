// The same prompt twice: by the model as it was opened, then by what was made of it, with the likeliest
// tokens throughout. The chat and its context are left alone. Lives on the GUI thread.
#pragma once

#include <QObject>
#include <QTimer>
#include <array>
#include <memory>

#include "engine/base/worker.h"
#include "ui/session/original.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

class ReplyPair : public QObject {
  Q_OBJECT
 public:
  enum class Side : uint8_t { before, after };
  explicit ReplyPair(QObject* parent = nullptr);
  ~ReplyPair() override;

  void run(const SessionPtr& session, const QString& prompt);
  /// Both end with what they have.
  void stop();
  bool running() const { return running_; }
  /// Stops, and gives the memory of the original back.
  void forget();

 signals:
  void began();
  void tokensArrived(orrery::ui::ReplyPair::Side side, const orrery::ui::TokenBatch& tokens);
  void finished(orrery::ui::ReplyPair::Side side, const orrery::api::ChatResult& result);
  void failed(const orrery::ui::UiError& error);
  void ended();

 private:
  using Feeds = std::array<std::shared_ptr<RunFeed>, 2>;
  /// Calls `take` on the GUI thread, unless another run has begun.
  void post(quint64 job, std::function<void()> take);
  void drain();
  void finish(const Result<void>& result);

  bool running_ = false;
  quint64 job_ = 0;
  Feeds feeds_;
  QTimer feedTimer_;
  std::stop_source stop_{std::nostopstate};
  std::shared_ptr<KeptOriginal> original_;  // of the worker
  std::unique_ptr<Worker> worker_;          // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
