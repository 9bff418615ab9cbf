// A step of a plan that needs cards as it was laid out: addresses and extents, no value of it. Its work is
// given to the cards from here, or captured, also on another thread while other steps run.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/runtime/staged_step.h"

namespace orrery::runtime {

/// What captured work was made for; anything else needs another capture.
struct StepKey {
  uint64_t plan = 0;       // its id
  uint64_t addresses = 0;  // of all memory that the work touches, hashed
  int64_t tokens = 0, sequences = 0, outputs = 0, max_pages = 0, max_length = 0;
  bool measured = false;  // a mark is set around every node
  auto operator<=>(const StepKey&) const = default;
};

struct LaidOutStep {
  using Marks = std::vector<std::shared_ptr<kernels::DeviceMark>>;
  using Graphs = std::vector<std::unique_ptr<kernels::DeviceGraph>>;  // by segment; null: the program's

  /// What one card has of it.
  struct Card {
    weights::DevicePtr device;
    uint64_t epoch = 0;        // when the plan was compiled
    ops::StepContext context;  // the step as its kernels see it
    StagedStep::Copy inputs;
    std::byte* way = nullptr;            // page-locked: for values of cards that it does not reach
    std::shared_ptr<const Marks> marks;  // by number, if it is to be measured
    std::vector<size_t> segments;        // its own, in order
  };

  std::shared_ptr<const compile::Plan> plan;
  ops::StepContext here;  // the step as the program sees it
  std::map<kernels::DeviceId, Card> cards;
  std::vector<size_t> first_mark;  // by segment: the number of its first mark on its card

  /// Begins anew for a plan, with nothing laid out.
  void divide(std::shared_ptr<const compile::Plan> of);
  /// Marks that a card needs to be measured.
  size_t marks_of(const Card& card) const {
    return first_mark[card.segments.back()] + plan->steps.size() + 1;
  }
  const ops::StepContext& context_of(kernels::DeviceId device) const {
    return device.is_cpu() ? here : cards.at(device).context;
  }
  StepKey key(bool measured) const;

  /// Gives a card's segment to its stream, or to what this thread captures of it. Throws DeviceError.
  void issue(size_t segment, bool measured);
  /// Captures the segments of all cards. Throws DeviceError, `lost` where a card was renewed since the plan
  /// was compiled.
  Graphs capture(bool measured);

 private:
  void copy(const compile::Transfer& transfer, const Card& card) const;
};

}  // namespace orrery::runtime
