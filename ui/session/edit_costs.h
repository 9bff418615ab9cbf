// What each edit of the history costs alone, and all of them together: measured one after another against the
// model as it was opened, on a thread of their own, while nothing else runs. What was measured is kept as
// long as it is asked for under the same conditions. Lives on the GUI thread.
#pragma once

#include <QObject>
#include <QPointer>
#include <map>
#include <memory>
#include <optional>

#include "ui/session/original.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

struct EditCost {
  std::string name = {};  // of the step
  std::vector<edit::Edit> edits = {};
  bool total = false;  // all that are in force, together
  bool measuring = false;
  std::optional<api::MeasuredChange> change = {};  // none: not yet, or refused
  std::optional<Error> refusal = {};               // alone it cannot be made, or measured
};

/// The steps in force with what each of them does, oldest first; of a step that made all anew each edit.
std::vector<EditCost> costsOf(const api::History& history);

class EditCosts : public QObject {
  Q_OBJECT
 public:
  explicit EditCosts(QObject* parent = nullptr);
  ~EditCosts() override;

  /// Whose edits are measured.
  void setSource(SessionController* source);
  /// Nothing is measured while nobody looks.
  void setActive(bool active);
  /// That both read; empty: one of the program's own.
  void setText(const QString& text);
  const QString& text() const { return text_; }
  /// In the order of the steps; the total is last. None: nothing was edited.
  const std::vector<EditCost>& costs() const { return costs_; }
  bool measuring() const { return running_; }

 signals:
  void changed();

 private:
  using Key = std::string;  // the edits as words
  struct Measured {
    std::optional<api::MeasuredChange> change;
    std::optional<Error> refusal;
  };
  void refresh();
  void forget();
  void measureNext();
  void take(quint64 job, const Key& key, const Result<api::MeasuredChange>& result);

  QPointer<SessionController> source_;
  bool active_ = false, running_ = false;
  QString text_;
  std::vector<EditCost> costs_;
  std::map<Key, Measured> measured_;  // under the conditions below
  std::weak_ptr<api::Session> session_;
  bool fusion_ = true;
  std::set<std::string> disabledPasses_;
  quint64 job_ = 0;
  Key runningKey_;
  std::stop_source stop_{std::nostopstate};
  std::shared_ptr<KeptOriginal> original_;  // of the worker
  std::unique_ptr<Worker> worker_;          // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
