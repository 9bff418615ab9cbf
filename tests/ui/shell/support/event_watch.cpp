#include "support/event_watch.h"

#include <QElapsedTimer>
#include <QMetaEnum>
#include <algorithm>
#include <cstdio>
#include <ctime>

namespace orrery::ui::testing {
namespace {

constexpr size_t kKept = 8;

double threadMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

std::string nameOf(const QObject& object) {
  const std::string name = object.objectName().toStdString();
  return object.metaObject()->className() + (name.empty() ? "" : " " + name);
}

std::string typeOf(const QEvent& event) {
  const char* name = QMetaEnum::fromType<QEvent::Type>().valueToKey(event.type());
  return name ? name : "event " + std::to_string(event.type());
}

class Stopwatch {
 public:
  Stopwatch() : cpu_(threadMilliseconds()) { wall_.start(); }
  double cpu() const { return threadMilliseconds() - cpu_; }
  double wall() const { return static_cast<double>(wall_.nsecsElapsed()) * 1e-6; }

 private:
  double cpu_;
  QElapsedTimer wall_;
};

}  // namespace

WatchedApplication* WatchedApplication::instance() {
  return static_cast<WatchedApplication*>(QCoreApplication::instance());
}

void WatchedApplication::watch() {
  watching_ = true;
  longest_.clear();
}

void WatchedApplication::keep(EventTime time) {
  const auto at = std::find_if(longest_.begin(), longest_.end(),
                               [&](const EventTime& other) { return other.cpuMs < time.cpuMs; });
  longest_.insert(at, std::move(time));
  if (longest_.size() > kKept) longest_.pop_back();
}

void WatchedApplication::during(const std::string& name, const std::function<void()>& act) {
  const Stopwatch clock;
  ++depth_;
  act();
  --depth_;
  keep({name, "called", clock.cpu(), clock.wall()});
}

bool WatchedApplication::notify(QObject* receiver, QEvent* event) {
  if (!watching_ || depth_ > 0) return QApplication::notify(receiver, event);
  EventTime time{nameOf(*receiver), typeOf(*event)};  // both may be gone afterwards
  const Stopwatch clock;
  ++depth_;
  const bool handled = QApplication::notify(receiver, event);
  --depth_;
  time.cpuMs = clock.cpu();
  time.wallMs = clock.wall();
  keep(std::move(time));
  return handled;
}

std::string told(const std::vector<EventTime>& times) {
  std::string lines;
  for (const EventTime& time : times) {
    char line[64];
    std::snprintf(line, sizeof line, "%6.1f ms of the processor, %6.1f ms: ", time.cpuMs, time.wallMs);
    lines += line + time.receiver + ", " + time.event + "\n";
  }
  return lines;
}

}  // namespace orrery::ui::testing
