// How many prompt tokens a step may bring beside replies that are being written, so that none of them waits
// for its next token longer than twice its usual step. It learns from the steps that ran: what a step takes
// that writes only, and how much longer each prompt token made it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::runtime {

/// The median of the last few values: one that another process delayed does not count.
class RecentMedian {
 public:
  static constexpr size_t kValues = 7;
  void add(double value);
  double value() const;  // 0 while it is empty
  bool empty() const { return count_ == 0; }

 private:
  std::array<double, kValues> values_ = {};
  size_t count_ = 0;  // that were added
};

class StepBudget {
 public:
  static constexpr double kLongestStep = 2;   // of usual ones
  static constexpr int64_t kFirstChunk = 16;  // tokens, while nothing is known
  /// So many steps with prompts follow each other; then one without tells what is usual now.
  static constexpr int64_t kMostMixed = 32;

  /// Of the steps that brought nothing but replies' tokens; 0: not known.
  double usual_ms() const { return usual_.value(); }
  /// Prompt tokens of the next step beside replies whose usual step takes `usual_ms`.
  int64_t prompt_tokens(double usual_ms) const;
  /// It is time for a step without prompts.
  bool wants_usual() const { return mixed_ >= kMostMixed; }
  /// A step that brought a token of each of `replies` and `prompt` tokens of other texts.
  void record(int64_t replies, int64_t prompt, double ms);

 private:
  double token_ms() const;

  RecentMedian usual_, token_ms_;
  double last_token_ms_ = 0;
  double alone_token_ms_ = 0;    // of prompts that were read without replies beside them
  bool delayed_ = false;         // the step before took so long that something else must have delayed it
  int64_t reach_ = kFirstChunk;  // prompt tokens of a step that tells of a little more
  int64_t mixed_ = 0;            // steps in a row
};

}  // namespace orrery::runtime
