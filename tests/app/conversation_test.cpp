// A conversation over stdin, as a person types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

const Words kChat = {"chat", "smollm2", "--temperature", "0", "--max-tokens", "8"};

TEST(Conversation, CommandsAndReplies) {
  const Outcome outcome =
      run(kChat, "/help\n/nope\nHow many days are in a week?\n/stats\n/new\n/stats\n/quit\nnever read\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("week"));
  EXPECT_THAT(outcome.err, HasSubstr("/stats"));
  EXPECT_THAT(outcome.err, HasSubstr("no command /nope"));
  EXPECT_THAT(outcome.err, HasSubstr("2 messages, "));
  EXPECT_THAT(outcome.err, HasSubstr("0 messages, 0 tokens"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);  // one reply, nothing after /quit
}

TEST(Conversation, EndOfInputLeaves) {
  const Outcome outcome = run(kChat, "Hello");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(outcome.out.empty());
}

TEST(Conversation, TheSecondMessageKnowsTheFirst) {
  const Words words = {"chat", "smollm2", "--temperature", "0", "--max-tokens", "16", "--quiet"};
  const Outcome both = run(words, "My name is Ada.\nWhat did I say?\n");
  const Outcome alone = run(words, "What did I say?\n");
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_FALSE(both.out.ends_with(alone.out)) << both.out;
}

}  // namespace
}  // namespace orrery::cli::test
