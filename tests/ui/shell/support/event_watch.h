// How long the GUI thread is in one event, which is how long everything else that a person does waits.
#pragma once

#include <QApplication>
#include <functional>
#include <string>
#include <vector>

namespace orrery::ui::testing {

struct EventTime {
  std::string receiver, event;  // class and name, type
  double cpuMs = 0;             // of the GUI thread
  double wallMs = 0;            // with what other threads and programs took of its core meanwhile
};

class WatchedApplication : public QApplication {
 public:
  WatchedApplication(int& argc, char** argv) : QApplication(argc, argv) {}
  static WatchedApplication* instance();

  /// From now on the longest events are kept.
  void watch();
  /// Those since watch(), the one that took most of the processor first.
  std::vector<EventTime> longest() const { return longest_; }
  /// What a person's press would do, timed as one event.
  void during(const std::string& name, const std::function<void()>& act);
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  void keep(EventTime time);

  bool watching_ = false;
  int depth_ = 0;
  std::vector<EventTime> longest_;
};

/// One line each.
std::string told(const std::vector<EventTime>& times);

}  // namespace orrery::ui::testing
