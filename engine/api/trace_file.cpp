#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/api/trace.h"

namespace orrery::api {
namespace {

constexpr int kFirstThread = 100;  // no process has that number: viewers would take it for a main thread
constexpr int kKinds = 3;
constexpr std::string_view kKindNames[kKinds] = {"steps", "nodes", "host"};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Nanoseconds as the format's microseconds.
std::string microseconds(int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

class TraceFile {
 public:
  explicit TraceFile(const std::vector<Trace>& traces) : traces_(traces) {
    place_tracks();
    for (const Trace& trace : traces_) {
      add_spans(trace);
      add_flows(trace);
      add_rates(trace);
    }
    // Where two begin together the longer comes first, for it holds the other.
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    if (!events_.empty()) origin_ = events_.front().begin;
  }

  std::string write() {
    put("{{\"traceEvents\":[\n");
    write_names();
    for (const Event& event : events_) write_event(event);
    put("\n],\"otherData\":{{\"clock\":\"CLOCK_MONOTONIC\",\"origin_ns\":\"{}\",\"forgotten_steps\":\"{}\"}}}"
        "}\n",
        origin_, forgotten_);
    return fmt::to_string(text_);
  }

 private:
  struct Place {
    int process, thread;
  };
  struct Event {
    enum class Kind : uint8_t { span, leaves, arrives, rate };
    Kind kind;
    int64_t begin, end;
    const Trace* trace;
    size_t span;      // where it is, or belongs to
    size_t flow = 0;  // leaves, arrives: the number of the arrow
    double rate = 0;  // tokens/s
  };

  void place_tracks() {
    for (const Trace& trace : traces_)
      for (const TraceTrack& track : trace.tracks) {
        const int process = processes_.emplace(track.device, processes_.size() + 1).first->second;
        places_.emplace(&track, Place{process, kFirstThread + static_cast<int>(places_.size())});
      }
  }

  void add_spans(const Trace& trace) {
    for (size_t i = 0; i < trace.spans.size(); ++i)
      events_.push_back({Event::Kind::span, trace.spans[i].begin_ns, trace.spans[i].end_ns, &trace, i});
    forgotten_ += trace.forgotten_steps;
  }

  /// An arrow's ends lie in the middle of their spans, where no other span begins.
  void add_flows(const Trace& trace) {
    const auto add = [&](Event::Kind kind, size_t span) {
      const int64_t middle = (trace.spans[span].begin_ns + trace.spans[span].end_ns) / 2;
      events_.push_back({kind, middle, middle, &trace, span, flows_});
    };
    for (const TraceFlow& flow : trace.flows) {
      ++flows_;
      add(Event::Kind::leaves, flow.from);
      add(Event::Kind::arrives, flow.to);
    }
  }

  /// The rate of each step, until another kind of step or a pause longer than the step ends it.
  void add_rates(const Trace& trace) {
    std::vector<size_t> steps;
    for (size_t i = 0; i < trace.spans.size(); ++i)
      if (trace.tracks[trace.spans[i].track].kind == TraceTrack::Kind::steps) steps.push_back(i);
    for (size_t i = 0; i < steps.size(); ++i) {
      const TraceSpan& step = trace.spans[steps[i]];
      const int64_t length = step.end_ns - step.begin_ns;
      if (length <= 0) continue;
      const double rate = static_cast<double>(step.tokens) * 1e9 / static_cast<double>(length);
      events_.push_back({Event::Kind::rate, step.begin_ns, step.begin_ns, &trace, steps[i], 0, rate});
      const TraceSpan* next = i + 1 < steps.size() ? &trace.spans[steps[i + 1]] : nullptr;
      if (!next || next->name != step.name || next->begin_ns - step.end_ns > length)
        events_.push_back({Event::Kind::rate, step.end_ns, step.end_ns, &trace, steps[i], 0, 0});
    }
  }

  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  /// What every event has; its arguments follow.
  void begin_event(std::string_view phase, const std::string& quoted_name, Place place) {
    put(R"({}{{"ph":"{}","name":{},"pid":{},"tid":{})", std::exchange(separator_, ",\n"), phase, quoted_name,
        place.process, place.thread);
  }
  /// The origin is a tenth of a nanosecond before the first span. Readers multiply by 1000 and cut off, which
  /// would make 1000 ns of 1.001 us, and spans that touch overlap; so they find the very nanosecond.
  void put_moment(int64_t ns) { put(",\"ts\":{}1", microseconds(ns - origin_)); }

  void write_name(std::string_view what, Place place, const std::string& name, int sort_index) {
    begin_event("M", fmt::format("\"{}_name\"", what), place);
    put(R"(,"args":{{"name":{}}}}})", quoted(name));
    begin_event("M", fmt::format("\"{}_sort_index\"", what), place);
    put(R"(,"args":{{"sort_index":{}}}}})", sort_index);
  }

  void write_names() {
    for (const auto& [device, process] : processes_) write_name("process", {process, 0}, device, process);
    int first = 0;
    for (const Trace& trace : traces_) {
      for (const TraceTrack& track : trace.tracks) {
        const int kind = static_cast<int>(track.kind);
        write_name("thread", places_.at(&track), fmt::format("{}: {}", kKindNames[kind], trace.title),
                   first + kind);
      }
      first += kKinds;
    }
  }

  void write_event(const Event& event) {
    const TraceSpan& span = event.trace->spans[event.span];
    const TraceTrack& track = event.trace->tracks[span.track];
    const TraceName& name = event.trace->names[span.name];
    const Place place = places_.at(&track);
    if (event.kind == Event::Kind::span) {
      begin_event("X", quoted(name.name), place);
      put_moment(span.begin_ns);
      put_span(span, name, kKindNames[static_cast<int>(track.kind)]);
    } else if (event.kind == Event::Kind::rate) {
      begin_event("C", quoted(name.name), place);
      put_moment(event.begin);
      put(R"(,"args":{{"tokens/s":{:.1f}}}}})", event.rate);
    } else {
      begin_event(event.kind == Event::Kind::leaves ? "s" : "f", "\"transfer\"", place);
      put_moment(event.begin);
      put(R"(,"cat":"transfer","id":{}{}}})", event.flow,
          event.kind == Event::Kind::arrives ? R"(,"bp":"e")" : "");
    }
  }

  void put_span(const TraceSpan& span, const TraceName& name, std::string_view category) {
    const int64_t length = span.end_ns - span.begin_ns;
    put(R"(,"dur":{},"cat":"{}","args":{{"tokens":{},"sequences":{})", microseconds(length), category,
        span.tokens, span.sequences);
    if (!name.op.empty()) put(R"(,"op":{},"kernel":{})", quoted(name.op), quoted(name.kernel));
    if (span.bytes > 0 || span.flops > 0) {
      put(R"(,"bytes":{:.0f},"flops":{:.0f})", span.bytes, span.flops);
      if (length > 0)
        put(R"(,"GB/s":{:.3f},"GFLOP/s":{:.3f})", span.bytes / static_cast<double>(length),
            span.flops / static_cast<double>(length));
    }
    put("}}}}");
  }

  const std::vector<Trace>& traces_;
  std::map<std::string, int> processes_;  // by device
  std::map<const TraceTrack*, Place> places_;
  std::vector<Event> events_;
  size_t flows_ = 0;
  uint64_t forgotten_ = 0;
  int64_t origin_ = 0;
  std::string_view separator_;
  fmt::memory_buffer text_;
};

}  // namespace

std::string write_trace(const std::vector<Trace>& traces) { return TraceFile(traces).write(); }

}  // namespace orrery::api
