#include "engine/compile/segments.h"

#include <algorithm>
#include <iterator>

namespace orrery::compile {

/// Segments of other devices, in their order.
std::vector<size_t> Segmenter::awaited_by(kernels::DeviceId side, const std::vector<Access>& accesses) const {
  std::vector<bool> found(segments_.size(), false);
  for (const Access& access : accesses) {
    const auto memory = touched_.find(access.memory);
    if (memory == touched_.end()) continue;
    for (const auto& [device, touches] : memory->second)
      for (size_t i = 0; device != side && i < touches.size(); ++i)
        if ((access.writes || touches[i].written) && touches[i].begin < access.end &&
            access.begin < touches[i].end)
          found[touches[i].segment] = true;
  }
  std::vector<size_t> awaited;
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i]) awaited.push_back(i);
  return awaited;
}

Segmenter::Open* Segmenter::last_of(kernels::DeviceId side) {
  const auto last = last_.find(side);
  return last == last_.end() ? nullptr : &segments_[last->second];
}

/// What others wait for already, the device's own segment before it among them, need not be waited for again.
size_t Segmenter::begin_segment(kernels::DeviceId side, std::vector<size_t> awaited) {
  const size_t index = segments_.size();
  std::vector<bool> before(index, false);
  const auto follow = [&](size_t segment) {
    const std::vector<bool>& further = segments_[segment].before;
    for (size_t i = 0; i < further.size(); ++i)
      if (further[i]) before[i] = true;
  };
  for (const size_t segment : awaited) follow(segment);
  if (const auto last = last_.find(side); last != last_.end()) {
    follow(last->second);
    before[last->second] = true;
  }
  std::erase_if(awaited, [&](size_t segment) { return before[segment]; });
  for (const size_t segment : awaited) {
    before[segment] = true;
    segments_[segment].awaited = true;
  }
  segments_.push_back({side, {}, std::move(awaited), std::move(before)});
  last_[side] = index;
  return index;
}

void Segmenter::add(Step step, kernels::DeviceId side, std::vector<Access> accesses) {
  std::vector<size_t> awaited = awaited_by(side, accesses);
  const Open* last = last_of(side);
  const bool joins = last && !last->awaited && std::ranges::all_of(awaited, [&](size_t segment) {
                       return segment < last->before.size() && last->before[segment];
                     });
  const size_t segment = joins ? last_[side] : begin_segment(side, std::move(awaited));
  segments_[segment].steps.push_back(std::move(step));
  for (const Access& access : accesses)
    touched_[access.memory][side].push_back({access.begin, access.end, access.writes, segment});
}

void Segmenter::finish(std::vector<Step>& steps, std::vector<Segment>& segments) {
  for (Open& open : segments_) {
    segments.push_back({steps.size(), steps.size() + open.steps.size(), open.device, std::move(open.after)});
    std::ranges::move(open.steps, std::back_inserter(steps));
  }
  segments_.clear();
  last_.clear();
  touched_.clear();
}

}  // namespace orrery::compile
