// The file that write_trace() makes of given spans, by the word.
#include <gmock/gmock.h>

#include "engine/api/trace.h"
#include "tests/support/trace_checks.h"

namespace orrery::api {
namespace {

using Kind = TraceTrack::Kind;
using nlohmann::json;
using ::testing::ElementsAre;

/// Two steps on a device; in the first a node on it, a transfer on the CPU, and a node there.
Trace mixed() {
  Trace trace;
  trace.title = "Tiny on cuda:0";
  trace.tracks = {{"cuda:0", Kind::steps}, {"cuda:0", Kind::nodes}, {"cpu", Kind::nodes}};
  trace.names = {{"decode", "", ""},
                 {"layers.0.up", "linear", "cuda.matvec"},
                 {"layers.1.transfer", "transfer", "transfer.to_host"},
                 {"layers.1.\"odd\"\xff", "linear", "cpu.avx2"}};
  trace.spans = {{0, 0, 5'000'001'000, 5'000'003'001, 2, 2, 10, 20},
                 {1, 1, 5'000'001'001, 5'000'001'502, 2, 2, 1002, 501},
                 {2, 2, 5'000'001'502, 5'000'001'602, 2, 2, 100, 0},
                 {2, 3, 5'000'001'602, 5'000'001'602, 2, 2, 8, 9},
                 {0, 0, 5'000'004'001, 5'000'005'001, 1, 1, 0, 0}};
  trace.flows = {{1, 2}};
  return trace;
}

json written(const std::vector<Trace>& traces) { return json::parse(write_trace(traces)); }

std::vector<json> events_of(const json& file, std::string_view phase) {
  std::vector<json> events;
  for (const json& event : file["traceEvents"])
    if (event["ph"] == phase) events.push_back(event);
  return events;
}

TEST(TraceFile, ASpanIsACompleteEventWithItsRates) {
  const json file = written({mixed()});
  const json node = events_of(file, "X").at(1);
  EXPECT_EQ(node["name"], "layers.0.up");
  EXPECT_EQ(node["cat"], "nodes");
  EXPECT_NEAR(node["ts"].get<double>(), 0.001, 1.5e-4);
  EXPECT_DOUBLE_EQ(node["dur"].get<double>(), 0.501);
  EXPECT_EQ(node["args"], json({{"tokens", 2},
                                {"sequences", 2},
                                {"op", "linear"},
                                {"kernel", "cuda.matvec"},
                                {"bytes", 1002},
                                {"flops", 501},
                                {"GB/s", 2.0},
                                {"GFLOP/s", 1.0}}));
  EXPECT_EQ(file["otherData"]["origin_ns"], "5000001000");
  EXPECT_EQ(file["otherData"]["clock"], "CLOCK_MONOTONIC");
}

TEST(TraceFile, DevicesAreProcessesAndTracksAreThreads) {
  const json file = written({mixed()});
  const auto threads = orrery::test::read_trace(file);
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads.at("cuda:0 steps").spans.size(), 2U);
  EXPECT_EQ(threads.at("cuda:0 nodes").spans.size(), 1U);
  EXPECT_EQ(threads.at("cpu nodes").spans.size(), 2U);
  EXPECT_EQ(threads.at("cpu nodes").spans[1].name, "layers.1.\"odd\"\xEF\xBF\xBD") << "not UTF-8: replaced";
}

TEST(TraceFile, TheVeryNanosecondIsFoundByReadersThatCutOff) {
  Trace trace;
  trace.title = "x";
  trace.tracks = {{"cpu", Kind::steps}};
  trace.names = {{"decode", "", ""}};
  std::vector<int64_t> begins;
  for (int64_t ns = 0; ns < 3000; ++ns) {
    begins.push_back(ns * 1'000'003);
    trace.spans.push_back({0, 0, begins.back() + 77, begins.back() + 78, 1, 1, 0, 0});
  }
  const auto events = events_of(written({trace}), "X");
  ASSERT_EQ(events.size(), begins.size());
  for (size_t i = 0; i < begins.size(); ++i) ASSERT_EQ(orrery::test::nanoseconds(events[i]["ts"]), begins[i]);
}

TEST(TraceFile, AnArrowLeadsFromDeviceToDevice) {
  const json file = written({mixed(), mixed()});
  const auto leaves = events_of(file, "s"), arrives = events_of(file, "f"), spans = events_of(file, "X");
  ASSERT_EQ(leaves.size(), 2U);
  ASSERT_EQ(arrives.size(), 2U);
  EXPECT_NE(leaves[0]["id"], leaves[1]["id"]);
  EXPECT_EQ(leaves[0]["id"], arrives[0]["id"]);
  EXPECT_EQ(arrives[0]["bp"], "e");
  const auto holds = [](const json& span, const json& end) {
    return span["tid"] == end["tid"] && span["ts"] < end["ts"] &&
           end["ts"] < span["ts"].get<double>() + span["dur"].get<double>();
  };
  const auto name_at = [&](const json& end) {
    for (const json& span : spans)
      if (holds(span, end)) return span["name"].get<std::string>();
    return std::string("no span");
  };
  EXPECT_EQ(name_at(leaves[0]), "layers.0.up");
  EXPECT_EQ(name_at(arrives[0]), "layers.1.transfer");
}

TEST(TraceFile, TheRateIsThatOfTheStepAndEndsInAPause) {
  Trace trace = mixed();
  trace.spans.push_back({0, 0, 5'000'009'001, 5'000'010'001, 1, 1, 0, 0});
  std::vector<double> rates;
  for (const json& event : events_of(written({trace}), "C")) {
    EXPECT_EQ(event["name"], "decode");
    rates.push_back(event["args"]["tokens/s"]);
  }
  EXPECT_THAT(rates, ElementsAre(999'500.2, 1e6, 0, 1e6, 0));
}

TEST(TraceFile, SessionsLieOnOneAxis) {
  Trace later = mixed();
  later.title = "Tiny on cpu";
  later.tracks = {{"cpu", Kind::steps}, {"cpu", Kind::host}, {"cpu", Kind::nodes}};
  for (TraceSpan& span : later.spans) span.begin_ns += 500, span.end_ns += 500;
  later.forgotten_steps = 7;
  const json file = written({later, mixed()});
  const auto threads = orrery::test::read_trace(file);
  EXPECT_EQ(threads.at("cuda:0 steps").spans[0].begin, 0);
  EXPECT_EQ(threads.at("cpu steps").spans[0].begin, 500);
  EXPECT_EQ(file["otherData"]["forgotten_steps"], "7");
}

TEST(TraceFile, NothingRanIsAFileToo) {
  EXPECT_TRUE(written({})["traceEvents"].empty());
  EXPECT_TRUE(written({Trace{}})["traceEvents"].empty());
}

}  // namespace
}  // namespace orrery::api
