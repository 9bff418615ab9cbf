#include "ui/session/trace_saver.h"

#include <QFileInfo>
#include <exception>

#include "ui/session/saved_file.h"

namespace orrery::ui {

TraceSaver::TraceSaver(QObject* parent) : QObject(parent), opened_(std::make_shared<Opened>()) {}

TraceSaver::~TraceSaver() { worker_.reset(); }

Services TraceSaver::watching(Services services) {
  writer_ = services.writeTrace;
  const auto keep = [opened = opened_](const SessionPtr& session) {
    session->set_tracing(true);
    const std::scoped_lock lock(opened->mutex);
    std::erase_if(opened->sessions, [](const auto& known) { return known.expired(); });
    opened->sessions.push_back(session);
  };
  services.open = [keep, open = std::move(services.open)](const api::OpenOptions& options,
                                                          const ProgressCallback& progress,
                                                          std::stop_token stop) -> Result<SessionPtr> {
    ORRERY_ASSIGN(SessionPtr session, open(options, progress, std::move(stop)));
    keep(session);
    return session;
  };
  services.resize = [keep, resize = std::move(services.resize)](
                        const api::Session& from, const api::OpenOptions& options) -> Result<SessionPtr> {
    ORRERY_ASSIGN(SessionPtr session, resize(from, options));
    keep(session);
    return session;
  };
  return services;
}

std::vector<api::Trace> TraceSaver::traces(Opened& opened) {
  std::vector<SessionPtr> sessions;
  {
    const std::scoped_lock lock(opened.mutex);
    for (const auto& known : opened.sessions)
      if (SessionPtr session = known.lock()) sessions.push_back(std::move(session));
  }
  std::vector<api::Trace> traces;
  for (const SessionPtr& session : sessions)
    if (api::Trace trace = session->trace(); !trace.spans.empty()) traces.push_back(std::move(trace));
  return traces;
}

Result<void> TraceSaver::write(Opened& opened, const Writer& writer, const QString& path) {
  try {
    const std::vector<api::Trace> found = traces(opened);
    if (found.empty())
      return Error{ErrorCode::not_found, "Nothing has run yet", "", "send a message, then save its trace"};
    return saveFile(path, QByteArray::fromStdString(writer(found)));
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, error.what(), path.toStdString(), "try again"};
  }
}

void TraceSaver::save(const QString& path) {
  if (!writer_) return;
  if (!worker_) worker_ = std::make_unique<Worker>();
  worker_->post([this, path, opened = opened_, writer = writer_](std::stop_token) {
    Result<void> result = write(*opened, writer, path);
    QMetaObject::invokeMethod(
        this, [this, path, result = std::move(result)] { finish(path, result); }, Qt::QueuedConnection);
  });
}

void TraceSaver::finish(const QString& path, const Result<void>& result) {
  if (result.ok()) {
    emit saved(path);
  } else {
    emit failed(describeError("Could not save " + QFileInfo(path).fileName(), result.error()));
  }
}

}  // namespace orrery::ui
