// What must hold of every trace file that the program writes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace orrery::test {

/// The spans of one thread, in the order of the file; times in nanoseconds as a reader finds them, who
/// multiplies the format's microseconds and cuts off.
struct TraceThread {
  struct Span {
    std::string name;
    int64_t begin, end;
    nlohmann::json args;
  };
  std::string device;  // of its process
  std::vector<Span> spans;
};

/// By device and kind: "cpu steps", "cuda:0 nodes"; of several sessions on a device the last.
using TraceThreads = std::map<std::string, TraceThread>;

inline int64_t nanoseconds(const nlohmann::json& microseconds) {
  return static_cast<int64_t>(microseconds.get<double>() * 1000);
}

/// Checks that every event has what its phase asks for, that time rises through the file, that processes and
/// threads are named, and that the spans of a thread do not overlap.
inline TraceThreads read_trace(const nlohmann::json& file) {
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  TraceThreads result;
  double before = 0;
  for (const auto& event : file.at("traceEvents")) {
    const std::string phase = event.at("ph"), name = event.at("name");
    const std::pair<int, int> place{event.at("pid"), event.at("tid")};
    if (phase == "M") {
      if (name == "process_name") processes[place.first] = event.at("args").at("name");
      if (name == "thread_name") {
        const std::string title = event.at("args").at("name");
        threads[place] = processes.at(place.first) + " " + title.substr(0, title.find(':'));
      }
      continue;
    }
    EXPECT_GE(event.at("ts").get<double>(), before) << event;
    before = event.at("ts").get<double>();
    if (phase != "X") continue;
    TraceThread& thread = result[threads.at(place)];
    thread.device = processes.at(place.first);
    const int64_t begin = nanoseconds(event.at("ts")), length = nanoseconds(event.at("dur"));
    EXPECT_GE(length, 0) << event;
    EXPECT_GE(begin, thread.spans.empty() ? 0 : thread.spans.back().end) << event;
    thread.spans.push_back({name, begin, begin + length, event.at("args")});
  }
  return result;
}

/// Every node lies in a step, and those of a step take no longer than the step.
inline void expect_nodes_in_steps(const TraceThread& nodes, const TraceThread& steps) {
  size_t step = 0;
  int64_t busy = 0;
  for (const auto& node : nodes.spans) {
    while (step < steps.spans.size() && steps.spans[step].end < node.end) ++step, busy = 0;
    ASSERT_LT(step, steps.spans.size()) << node.name << " lies after all steps";
    EXPECT_GE(node.begin, steps.spans[step].begin) << node.name << " lies in no step";
    busy += node.end - node.begin;
    EXPECT_LE(busy, steps.spans[step].end - steps.spans[step].begin);
  }
}

/// Nanoseconds.
inline int64_t longest(const TraceThread& thread) {
  int64_t most = 0;
  for (const auto& span : thread.spans) most = std::max(most, span.end - span.begin);
  return most;
}

}  // namespace orrery::test
