// Every session that is opened through watching() keeps a trace of its last steps, which costs it next to
// nothing; save() writes those of all that are open now into one file, on a thread of its own.
#pragma once

#include <QObject>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/base/worker.h"
#include "ui/session/services.h"
#include "ui/session/ui_error.h"

namespace orrery::ui {

class TraceSaver : public QObject {
  Q_OBJECT
 public:
  explicit TraceSaver(QObject* parent = nullptr);
  ~TraceSaver() override;

  /// The same services; what they open is watched from then on, on whatever thread.
  Services watching(Services services);
  void save(const QString& path);

 signals:
  void saved(const QString& path);
  void failed(const orrery::ui::UiError& error);

 private:
  /// Outlives this where a session is still being opened.
  struct Opened {
    std::mutex mutex;
    std::vector<std::weak_ptr<api::Session>> sessions;
  };
  using Writer = std::function<std::string(const std::vector<api::Trace>&)>;

  static std::vector<api::Trace> traces(Opened& opened);
  static Result<void> write(Opened& opened, const Writer& writer, const QString& path);
  void finish(const QString& path, const Result<void>& result);

  std::shared_ptr<Opened> opened_;
  Writer writer_;
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone; made at the first save
};

}  // namespace orrery::ui
