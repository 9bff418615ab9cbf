// What edits would do, asked while they are only considered. The latest question is the one that is answered:
// those before it are stopped. Whether the graph takes the edits at all is told first, by a thread of its
// own, so that it is known at once while a preview is prepared. Lives on the GUI thread.
#pragma once

#include <QObject>
#include <memory>

#include "engine/base/worker.h"
#include "ui/session/services.h"
#include "ui/session/ui_error.h"

namespace orrery::ui {

using PreviewPtr = std::shared_ptr<const api::Preview>;

class EditPreviews : public QObject {
  Q_OBJECT
 public:
  explicit EditPreviews(const Services& services, QObject* parent = nullptr);
  ~EditPreviews() override;

  void ask(const SessionPtr& session, const std::vector<edit::Edit>& edits);
  void forget();
  /// That were asked about last; none: nothing is considered.
  const std::vector<edit::Edit>& edits() const { return edits_; }
  bool asking() const { return asking_; }
  /// Of edits(); null while it is being asked for.
  PreviewPtr preview() const { return preview_; }

 signals:
  void asked();
  void answered(const orrery::ui::PreviewPtr& preview);
  void failed(const orrery::ui::UiError& error);
  void forgotten();

 private:
  /// Calls `take` on the GUI thread, unless another question was asked meanwhile.
  void post(quint64 question, std::function<void()> take);
  void prepare(quint64 question, const SessionPtr& session);
  void answer(Result<api::Preview> preview);

  RecipeCalls calls_;
  std::vector<edit::Edit> edits_;
  PreviewPtr preview_;
  bool asking_ = false;
  quint64 question_ = 0;
  std::stop_source stop_{std::nostopstate};
  // Last, so that both are joined before anything that their jobs use is gone.
  std::unique_ptr<Worker> checks_, previews_;
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::PreviewPtr)
