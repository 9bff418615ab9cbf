// What sessions tell of their steps, on the CPU and on the test device, alone and beside each other.
#include <gmock/gmock.h>

#include <thread>

#include "tests/engine/api/test_models.h"
#include "tests/support/trace_checks.h"

namespace orrery::api {
namespace {

using orrery::test::TraceThread;
using orrery::test::TraceThreads;

std::shared_ptr<Session> traced(OpenOptions options, const std::string& device) {
  options.device = device;
  const auto session = open_or_fail(options);
  if (session) session->set_tracing(true);
  return session;
}

TraceThreads written(const std::vector<Trace>& traces) {
  return orrery::test::read_trace(nlohmann::json::parse(write_trace(traces)));
}

TEST(TraceTest, AReplyIsStepsOfNodesWithTheirCosts) {
  const auto session = traced(smollm2(), "cpu");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 6), {}, {}).ok());
  const TraceThreads threads = written({session->trace()});
  const TraceThread &steps = threads.at("cpu steps"), &nodes = threads.at("cpu nodes");
  ASSERT_EQ(steps.spans.size(), 6U);
  EXPECT_EQ(steps.spans[0].name, "prefill");
  EXPECT_EQ(steps.spans[5].name, "decode");
  orrery::test::expect_nodes_in_steps(nodes, steps);
  const size_t in_a_step = session->profile(Phase::decode)->fused.rows().size();
  EXPECT_EQ(nodes.spans.size(), 6 * in_a_step);
  double bytes = 0;
  const auto* first = &nodes.spans[nodes.spans.size() - in_a_step];
  for (size_t i = 0; i < in_a_step; ++i) bytes += first[i].args.value("bytes", 0.0);
  EXPECT_NEAR(bytes, steps.spans[5].args["bytes"], 1.0 * static_cast<double>(in_a_step)) << "rounded each";
  EXPECT_TRUE(session->fused_graph()->find_path(first->name).valid()) << first->name;
  EXPECT_EQ(first->args["op"], "embedding");
}

TEST(TraceTest, AnEncodedTextIsAStep) {
  const auto session = traced(sentiment(), "cpu");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->classify({"Good"}, {}, {}).ok());
  const TraceThreads threads = written({session->trace()});
  ASSERT_EQ(threads.at("cpu steps").spans.size(), 1U);
  EXPECT_EQ(threads.at("cpu steps").spans[0].name, "encode");
}

TEST(TraceTest, DevicesBesideEachOtherOverlapOnOneClock) {
  const auto cpu = traced(smollm2(), "cpu"), card = traced(smollm2(), "cuda:0");
  ASSERT_TRUE(cpu && card);
  const auto reply = [](Session& session) {
    EXPECT_TRUE(session.chat(raw_request("Once upon a time", 24), {}, {}).ok());
  };
  std::thread beside([&] { reply(*card); });
  reply(*cpu);
  beside.join();
  const TraceThreads threads = written({cpu->trace(), card->trace()});
  for (const char* device : {"cpu", "cuda:0"}) {
    const std::string name = device;
    ASSERT_EQ(threads.at(name + " steps").spans.size(), 24U) << name;
    orrery::test::expect_nodes_in_steps(threads.at(name + " nodes"), threads.at(name + " steps"));
    EXPECT_GT(orrery::test::longest(threads.at(name + " nodes")), 1000) << name;
  }
  const auto& host = threads.at("cuda:0 host").spans;
  ASSERT_GE(host.size(), 72U);
  const std::vector<std::string> last{host.end()[-3].name, host.end()[-2].name, host.end()[-1].name};
  EXPECT_EQ(last, (std::vector<std::string>{"stage", "launch", "wait"}));
  const auto &here = threads.at("cpu steps").spans, &there = threads.at("cuda:0 steps").spans;
  EXPECT_LT(here.front().begin, there.back().end);
  EXPECT_LT(there.front().begin, here.back().end);
}

TEST(TraceTest, OffItIsEmpty) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->chat(raw_request("Once", 2), {}, {}).ok());
  EXPECT_TRUE(session->trace().spans.empty());
}

}  // namespace
}  // namespace orrery::api
