// Makes scenes and layouts on a thread of its own. A new request stops the one under way; the answer to a
// stopped one never comes. Answers arrive on the thread of the receiver.
#pragma once

#include <QObject>
#include <QThread>
#include <functional>
#include <stop_token>
#include <string>
#include <unordered_set>

#include "ui/graph/arrangement.h"
#include "ui/graph/geometry.h"

namespace orrery::ui {

struct LayoutRequest {
  graph::GraphVersion graph;                // makes a new scene; or
  std::shared_ptr<const SceneGraph> scene;  // lays out this one again
  Bindings bindings;
  std::unordered_set<std::string> open;
  bool choose = false;  // opens what a person wants to see first, instead of `open`
  std::shared_ptr<const Arrangement> arrangement;
  Drawing
      before;  // what is drawn of the version before an edit, which stays where it is; empty: another model
  PagePlan plan;
};

struct LayoutReply {
  Drawing drawing;
  std::unordered_set<std::string> open;
  std::shared_ptr<const Arrangement> arrangement;  // as it is after the edit
  PagePlan plan;                                   // with the pages as they are now
  double milliseconds = 0;
};

class LayoutWorker {
 public:
  /// `receive` runs on the thread of `receiver`.
  LayoutWorker(QObject* receiver, const TextWidths& widths, std::function<void(LayoutReply)> receive);
  ~LayoutWorker();  // stops and waits
  LayoutWorker(const LayoutWorker&) = delete;
  LayoutWorker& operator=(const LayoutWorker&) = delete;

  void request(LayoutRequest request);
  void cancel();
  bool busy() const { return pending_; }

 private:
  void deliver(uint64_t generation, LayoutReply reply);

  QObject* receiver_;
  std::function<void(LayoutReply)> receive_;
  QThread thread_;
  QObject* inThread_;  // lives in the thread; deleted with it
  std::stop_source stop_;
  uint64_t generation_ = 0;
  bool pending_ = false;
  std::shared_ptr<Hierarchy> hierarchy_;  // touched in the thread only
};

/// Small groups open, of a run of layers the first one with all that is in it.
std::unordered_set<std::string> firstOpen(const SceneGraph& scene);

}  // namespace orrery::ui
