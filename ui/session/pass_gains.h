// The passes of the drawn model: what each did, whether it is on, and what it is worth, measured on request
// one after another on a thread of its own while nothing else runs. Lives on the GUI thread.
#pragma once

#include <QObject>
#include <QPointer>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "ui/session/session_controller.h"

namespace orrery::ui {

/// A pass as it is shown.
struct PassRow {
  api::PassReport report;
  bool on = true;       // as it was asked for last
  bool locked = false;  // it is left out with all that fuse
  bool measuring = false, waits = false;
  std::optional<api::PassGain> gain = {};
  bool otherwise = false;             // the gain was measured while other passes were on
  std::optional<Error> refusal = {};  // why it could not be measured
};

class PassGains : public QObject {
  Q_OBJECT
 public:
  explicit PassGains(QObject* parent = nullptr);
  ~PassGains() override;

  /// Whose passes they are.
  void setSource(SessionController* source);
  /// What the passes did is not asked while nobody looks; what was to be measured is.
  void setActive(bool active);
  /// In the order they run; none: no model, or one whose passes cannot be looked at (refusal()).
  const std::vector<PassRow>& rows() const { return rows_; }
  QString refusal() const { return refusal_; }
  /// On or off, beside those that were switched before, also while that is being prepared.
  void switchPass(const std::string& pass, bool on);
  /// Again, where it was measured before.
  void measure(const std::string& pass);
  void measureAll();  // those that find something
  void stop();
  bool measuring() const { return running_ || !waiting_.empty(); }
  /// Of the pass that is measured now, 0 to 1.
  double done() const { return done_; }

 signals:
  void changed();
  /// The person asked for these to be left out.
  void switched(const std::set<std::string>& disabled);

 private:
  using Names = std::set<std::string>;
  struct Measured {
    std::optional<api::PassGain> gain;
    std::optional<Error> refusal;
    Names others;  // that were left out
  };
  void refresh();
  void ask();
  void show();
  void measureNext();
  void pause();
  void take(quint64 job, const std::string& pass, const Names& others, const Result<api::PassGain>& gain);
  Names leftOut() const;

  QPointer<SessionController> source_;
  bool active_ = false, running_ = false;
  double done_ = 0;
  std::weak_ptr<api::Session> session_;
  graph::GraphVersion model_;  // that the gains are of
  std::vector<api::PassReport> reports_;
  api::SessionStatePtr reported_;  // that they are of; null: not asked yet
  std::vector<PassRow> rows_;
  QString refusal_;
  std::optional<Names> asked_;  // to be left out, until it is so
  std::map<std::string, Measured> measured_;
  std::deque<std::string> waiting_;
  std::string current_;
  quint64 job_ = 0, report_ = 0;
  std::stop_source stop_{std::nostopstate};
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
