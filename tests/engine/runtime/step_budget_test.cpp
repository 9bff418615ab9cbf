// On machines made up for it, whose steps take what a formula says: no clock is asked.
#include "engine/runtime/step_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace orrery::runtime {
namespace {

/// What a step takes that brings so many replies' tokens and so many of prompts.
using Machine = std::function<double(int64_t replies, int64_t prompt)>;

struct Reading {
  int64_t steps = 0;
  double ms = 0, longest = 0;  // of the steps after the first three
};

/// Reads a prompt beside replies that have been written for a while.
Reading read(StepBudget& budget, const Machine& machine, int64_t replies, int64_t tokens) {
  for (int i = 0; i < 8; ++i) budget.record(replies, 0, machine(replies, 0));
  Reading reading;
  while (tokens > 0) {
    const int64_t chunk = std::min(budget.prompt_tokens(budget.usual_ms()), tokens);
    const double ms = machine(replies, chunk);
    budget.record(replies, chunk, ms);
    tokens -= chunk;
    reading.ms += ms;
    if (++reading.steps > 3) reading.longest = std::max(reading.longest, ms);
  }
  return reading;
}

double in_blocks(int64_t tokens, int64_t block) {
  return static_cast<double>((tokens + block - 1) / block * block);
}

TEST(StepBudget, ALongPromptMakesNoStepLongerThanTwiceTheUsualOne) {
  const std::vector<std::pair<const char*, Machine>> machines = {
      {"each token takes its time",
       [](int64_t replies, int64_t prompt) {
         return 3 + 0.1 * static_cast<double>(replies) + 0.45 * static_cast<double>(prompt);
       }},
      {"reading the weights hides some tokens",
       [](int64_t replies, int64_t prompt) {
         return std::max(40.0, 0.5 * static_cast<double>(replies + prompt));
       }},
      {"rows are taken eight at a time",
       [](int64_t replies, int64_t prompt) { return 5 + 0.3 * in_blocks(replies + prompt, 8); }},
      {"a prompt costs something at all",
       [](int64_t, int64_t prompt) { return prompt > 0 ? 8 + 0.02 * static_cast<double>(prompt) : 6; }},
  };
  for (const auto& [name, machine] : machines)
    for (const int64_t replies : {1, 4, 32}) {
      StepBudget budget;
      const Reading reading = read(budget, machine, replies, 8000);
      const double usual = machine(replies, 0);
      EXPECT_LE(reading.longest, StepBudget::kLongestStep * usual) << name << ", " << replies;
      // Three quarters of the room is used, less what growing into it and the steps without prompts take.
      const double room = usual * (StepBudget::kLongestStep - 1);
      int64_t most = 1;
      while (machine(replies, 2 * most) - usual <= room) most *= 2;
      EXPECT_LE(reading.steps, 4 * 8000 / most + 16) << name << ", " << replies;
    }
}

TEST(StepBudget, AStepThatSomethingElseDelayedDoesNotCount) {
  std::mt19937 random(3);
  const auto steady = [](int64_t, int64_t prompt) { return 10 + 0.5 * static_cast<double>(prompt); };
  StepBudget quiet, disturbed;
  read(quiet, steady, 1, 4000);
  read(
      disturbed,
      [&](int64_t replies, int64_t prompt) {
        return steady(replies, prompt) * (random() % 10 == 0 ? 8.0 : 1.0);
      },
      1, 4000);
  EXPECT_EQ(disturbed.prompt_tokens(disturbed.usual_ms()), quiet.prompt_tokens(quiet.usual_ms()));
}

TEST(StepBudget, FollowsAMachineThatBecomesSlower) {
  StepBudget budget;
  const auto at = [](double speed) {
    return [speed](int64_t, int64_t prompt) { return 10 + static_cast<double>(prompt) / speed; };
  };
  read(budget, at(16), 1, 8000);
  EXPECT_EQ(budget.prompt_tokens(budget.usual_ms()), 120) << "three quarters of ten milliseconds";
  read(budget, at(4), 1, 8000);
  EXPECT_LE(budget.prompt_tokens(budget.usual_ms()), 30) << "at a fourth of one each";
  EXPECT_GE(budget.prompt_tokens(budget.usual_ms()), 16);
}

TEST(StepBudget, NowAndThenAStepWithoutPromptsTellsWhatIsUsual) {
  StepBudget budget;
  for (int64_t i = 0; i < StepBudget::kMostMixed; ++i) {
    EXPECT_FALSE(budget.wants_usual()) << i;
    budget.record(1, 16, 20);
  }
  EXPECT_TRUE(budget.wants_usual());
  budget.record(1, 0, 12);
  EXPECT_EQ(budget.usual_ms(), 12);
  EXPECT_FALSE(budget.wants_usual());
}

}  // namespace
}  // namespace orrery::runtime
