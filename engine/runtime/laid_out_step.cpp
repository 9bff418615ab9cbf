#include "engine/runtime/laid_out_step.h"

namespace orrery::runtime {
namespace {

using kernels::DeviceId;

/// FNV-1a over words.
class AddressHash {
 public:
  AddressHash& add(const void* address) { return add(reinterpret_cast<uintptr_t>(address)); }
  AddressHash& add(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001B3U;
    return *this;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325U;
};

/// Ends the capture that this thread began, whatever happens.
class Capture {
 public:
  explicit Capture(kernels::Device& device) : device_(device) { device.begin_capture(); }
  ~Capture() {
    if (ended_) return;
    try {
      static_cast<void>(device_.end_capture());
    } catch (const std::exception&) {
      // Another failure is on its way.
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::unique_ptr<kernels::DeviceGraph> end() {
    ended_ = true;
    return device_.end_capture();
  }

 private:
  kernels::Device& device_;
  bool ended_ = false;
};

}  // namespace

void LaidOutStep::divide(std::shared_ptr<const compile::Plan> of) {
  plan = std::move(of);
  cards.clear();
  first_mark.assign(plan->segments.size(), 0);
  for (const compile::CardUse& use : plan->cards) {
    Card& card = cards[use.card->id()];
    card.device = use.card;
    card.epoch = use.epoch;
  }
  std::map<DeviceId, size_t> marks;
  for (size_t i = 0; i < plan->segments.size(); ++i) {
    const compile::Segment& segment = plan->segments[i];
    if (segment.device.is_cpu()) continue;
    cards.at(segment.device).segments.push_back(i);
    first_mark[i] = marks[segment.device];
    marks[segment.device] += segment.end - segment.begin + 1;
  }
}

StepKey LaidOutStep::key(bool measured) const {
  AddressHash addresses;
  addresses.add(here.arena).add(here.choices);
  for (const auto& [id, card] : cards)
    addresses.add(card.context.arena)
        .add(card.context.workspace)
        .add(card.way)
        .add(card.inputs.src)
        .add(card.inputs.dst);
  for (const kernels::PagedKv& state : here.states) addresses.add(state.base).add(state.page_stride);
  const ops::StepContext& there = cards.begin()->second.context;
  return {plan->id,      addresses.value(), there.tokens,     there.sequences,
          there.outputs, there.max_pages,   there.max_length, measured};
}

void LaidOutStep::copy(const compile::Transfer& transfer, const Card& card) const {
  auto* dst = context_of(transfer.to).data<std::byte>(transfer.dst);
  const void* src = context_of(transfer.from).address(transfer.src);
  const size_t bytes = transfer.bytes(card.context);
  if (transfer.from.is_cpu() || transfer.to.is_cpu()) return card.device->copy(dst, src, bytes);
  const kernels::Device& other = *cards.at(transfer.from).device;
  if (card.device->reaches(other)) return card.device->copy_from(other, dst, src, bytes);
  card.device->copy_from(other, card.way, src, bytes);
  card.device->copy(dst, card.way, bytes);
}

void LaidOutStep::issue(size_t segment, bool measured) {
  const compile::Segment& own = plan->segments[segment];
  Card& card = cards.at(own.device);
  kernels::Device& device = *card.device;
  card.context.stream = device.stream();
  if (card.segments.front() == segment) device.copy(card.inputs.dst, card.inputs.src, card.inputs.bytes);
  size_t mark = first_mark[segment];
  if (measured) device.record(*(*card.marks)[mark]);
  for (size_t i = own.begin; i < own.end; ++i) {
    const compile::Step& step = plan->steps[i];
    if (step.transfer)
      copy(*step.transfer, card);
    else
      step.run(card.context);
    if (measured) device.record(*(*card.marks)[++mark]);
  }
}

LaidOutStep::Graphs LaidOutStep::capture(bool measured) {
  Graphs graphs(plan->segments.size());
  for (size_t i = 0; i < plan->segments.size(); ++i) {
    if (plan->segments[i].device.is_cpu()) continue;
    const Card& card = cards.at(plan->segments[i].device);
    Capture capture(*card.device);
    if (card.device->epoch() != card.epoch)
      throw kernels::DeviceError(kernels::DeviceError::Kind::lost, "The device was restarted",
                                 card.device->id());
    issue(i, measured);
    graphs[i] = capture.end();
  }
  return graphs;
}

}  // namespace orrery::runtime
