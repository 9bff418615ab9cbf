// Ops of one's own beside the window: compiled while they are written, tried in a process of their own, added
// to the registry and taken out of it, on a thread of its own. Reports come as values on the GUI thread.
#pragma once

#include <QObject>
#include <memory>

#include "engine/base/worker.h"
#include "ui/session/services.h"
#include "ui/session/ui_error.h"

namespace orrery::ui {

using SourceFiles = std::vector<custom::SourceFile>;

enum class OwnOpStep { compile, verify, add };

class OwnOpController : public QObject {
  Q_OBJECT
 public:
  explicit OwnOpController(const Services& services, QObject* parent = nullptr);
  ~OwnOpController() override;

  /// Why none can be made; empty: they can.
  QString refusal() const;
  /// Puts those that were added before into the registry and lists them, once.
  void look();
  const std::vector<api::OwnOpEntry>& entries() const { return entries_; }

  /// A newer step takes the place of the one that goes on. Answered by reported(), or by failed() where it
  /// could not be tried.
  void begin(OwnOpStep step, const SourceFiles& files);
  void stop();
  bool running() const { return running_; }
  /// "Trying it on the CPU"; empty: nothing runs.
  const QString& stage() const { return stage_; }
  void remove(const QString& name);
  /// Answered by opened().
  void open(const QStringList& paths);

 signals:
  void listed();
  /// The registry has other ops.
  void opsChanged();
  /// A step began, came to another stage, or to its end.
  void changed();
  void reported(orrery::ui::OwnOpStep step, const orrery::ui::SourceFiles& files,
                const orrery::api::OwnOpReport& report);
  void opened(const orrery::ui::SourceFiles& files, const QString& folder);
  void removed(const QString& name);
  void failed(const orrery::ui::UiError& error);

 private:
  void post(quint64 generation, std::function<void()> call);
  void finish(OwnOpStep step, const SourceFiles& files, const Result<api::OwnOpReport>& result);
  void takeList(std::vector<api::OwnOpEntry> entries);

  OwnOpCalls calls_;
  std::vector<api::OwnOpEntry> entries_;
  QString stage_;
  bool looked_ = false, running_ = false;
  quint64 generation_ = 0, look_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
