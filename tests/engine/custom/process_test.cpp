#include "engine/custom/process.h"

#include <gmock/gmock.h>
#include <signal.h>

namespace orrery::custom {
namespace {

ProcessEnd shell(const std::string& script, ProcessLimits limits = {}) {
  auto end = run_process({"/bin/sh", "-c", script}, limits, {});
  EXPECT_TRUE(end.ok());
  return end.ok() ? *end : ProcessEnd{};
}

TEST(Process, TellsWhatWasSaidAndHowItEnded) {
  const ProcessEnd end = shell("echo out; echo err >&2; echo report >&3; exit 7");
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(end.errors, "err\n");
  EXPECT_EQ(end.report, "report\n");
  EXPECT_FALSE(end.late);
}

TEST(Process, TellsTheSignal) {
  const ProcessEnd end = shell("kill -SEGV $$");
  EXPECT_FALSE(end.exit_code);
  EXPECT_EQ(end.signal, SIGSEGV);
}

TEST(Process, IsKilledWithAllThatItStarted) {
  using namespace std::chrono_literals;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(shell("sleep 30 & sleep 30", {.time = 200ms}).late);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Process, StopsWhenItIsAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  const auto end = run_process({"/bin/sleep", "30"}, {}, stop.get_token());
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::cancelled);
}

TEST(Process, KeepsNoMoreThanAskedForAndDrainsTheRest) {
  const ProcessEnd end = shell("head -c 3000000 /dev/zero", {.output_bytes = 1000});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_GE(end.output.size(), 1000U);
  EXPECT_LT(end.output.size(), 10000U);
}

TEST(Process, ThatIsNotThereIsRefused) {
  EXPECT_FALSE(run_process({"/no/such/program"}, {}, {}).ok());
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_NE(find_program("sh"), "");
}

}  // namespace
}  // namespace orrery::custom
