#include "engine/custom/trial/card_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/custom/card_call.h"
#include "engine/custom/trial/cpu_trial.h"
#include "engine/custom/trial/measured.h"
#include "engine/custom/trial/report.h"
#include "kernels/device_module.h"

namespace orrery::custom::trial {
namespace {

constexpr size_t kMargin = 256;  // bytes on both sides of an operand, which must stay as they are
constexpr std::byte kUntouched{0xA5};

/// An operand on the card.
class OnCard {
 public:
  OnCard(kernels::Device& device, const Bytes& bytes)
      : device_(device),
        size_(bytes.size()),
        memory_(static_cast<std::byte*>(device.allocate(size_ + 2 * kMargin))) {
    Bytes all(size_ + 2 * kMargin, kUntouched);
    std::ranges::copy(bytes, all.begin() + kMargin);
    device.upload(memory_, all.data(), all.size());
  }
  ~OnCard() { device_.release(memory_); }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  void* data() const { return memory_ + kMargin; }
  void clear() {
    const Bytes all(size_ + 2 * kMargin, kUntouched);
    device_.upload(memory_, all.data(), all.size());
  }

  /// What it holds now. A write into the margins is an error that names `name`.
  Bytes read(const std::string& name) const {
    Bytes all(size_ + 2 * kMargin);
    device_.download(all.data(), memory_, all.size());
    for (size_t i = 0; i < kMargin; ++i) {
      if (all[kMargin - 1 - i] != kUntouched)
        fail(fmt::format("On the card it writes outside its operands: before the beginning of {}", name));
      if (all[kMargin + size_ + i] != kUntouched)
        fail(fmt::format("On the card it writes outside its operands: after the end of {}", name));
    }
    return {all.begin() + kMargin, all.end() - kMargin};
  }

 private:
  kernels::Device& device_;
  size_t size_;
  std::byte* memory_;
};

/// A call whose operands lie on the card.
struct Operands {
  Operands(const Body& body, const Case& one, kernels::Device& device) : call(one.call) {
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      inputs.push_back(std::make_unique<OnCard>(device, one.inputs[i]));
      call.inputs[i].data = call.inputs[i].rank < 0 ? nullptr : inputs.back()->data();
    }
    for (size_t o = 0; o < body.outputs().size(); ++o) {
      outputs.push_back(std::make_unique<OnCard>(device, Bytes(bytes_of(call.outputs[o]), kUntouched)));
      call.outputs[o].data = outputs.back()->data();
    }
  }
  void clear() {
    for (const auto& output : outputs) output->clear();
  }

  orrery_call call;
  std::vector<std::unique_ptr<OnCard>> inputs, outputs;
};

class Comparing {
 public:
  Comparing(const Body& body, const kernels::ProgramImage* image, kernels::Device& device)
      : body_(body), image_(image), device_(device) {}

  /// The largest difference, of the largest number of its output.
  double compare(const Case& one) {
    tell("at", fmt::format("run of {} on the card, with {}", body_.name(), one.words));
    std::vector<Bytes> inputs = one.inputs;
    const std::vector<Bytes> expected = outputs_of(body_, one.call, inputs);
    Operands operands(body_, one, device_);
    const std::vector<Bytes> found = run(operands, one), again = run(operands, one);
    for (size_t o = 0; o < found.size(); ++o)
      if (found[o] != again[o])
        fail(fmt::format("On the card {} has other numbers each time, with {}", body_.outputs()[o],
                         one.words));
    const Difference difference =
        difference_of(body_, one.call, expected, found, "on the card", "on the CPU");
    const double us = median_us([&](int calls) {
      for (int i = 0; i < calls; ++i)
        call_card(body_, image_, operands.call, {nullptr, nullptr, device_.stream()});
      device_.wait();
    });
    tell_case(body_, one, device_.facts().name, "the CPU body", difference, us);
    if (difference.over()) fail(fmt::format("Card and CPU differ: {}, with {}", difference.where, one.words));
    return difference.most;
  }

 private:
  /// From outputs that hold what no op writes.
  std::vector<Bytes> run(Operands& operands, const Case& one) {
    operands.clear();
    call_card(body_, image_, operands.call, {nullptr, nullptr, device_.stream()});
    device_.wait();
    for (size_t i = 0; i < operands.inputs.size(); ++i)
      if (operands.inputs[i]->read(body_.inputs()[i].name) != one.inputs[i])
        fail(fmt::format("On the card it writes into its input {}", body_.inputs()[i].name));
    std::vector<Bytes> made;
    for (size_t o = 0; o < operands.outputs.size(); ++o)
      made.push_back(operands.outputs[o]->read(body_.outputs()[o]));
    return made;
  }

  const Body& body_;
  const kernels::ProgramImage* image_;
  kernels::Device& device_;
};

}  // namespace

void try_on_card(const std::shared_ptr<const Library>& library, const kernels::ProgramImage* image,
                 int card) {
  tell("at", "opening the card");
  std::string reason;
  const kernels::DeviceModule* module = kernels::cuda_module(reason);
  if (!module || module->count(reason) <= card) fail(reason.empty() ? "There is no such card" : reason);
  const auto device = module->open(card);
  const Body forward(library, false), backward(library, true);
  const std::vector<Case> cases = cases_of(forward);
  if (std::string refused = card_refusal(forward, image, device->facts().machine); !refused.empty())
    fail(refused);
  double most = 0;
  for (const Case& one : cases) most = std::max(most, Comparing(forward, image, *device).compare(one));
  tell("ok", fmt::format("{} sizes on {}: differ from the CPU by {:.1e} of the largest number", cases.size(),
                         device->facts().name, most));
  if (!library->has_backward() || !card_refusal(backward, image, device->facts().machine).empty()) return;
  most = 0;
  for (const Case& one : cases)
    if (const auto gradients = backward_case(forward, backward, one))
      most = std::max(most, Comparing(backward, image, *device).compare(*gradients));
  tell("ok", fmt::format("gradients on {}: differ from the CPU by {:.1e} of the largest number",
                         device->facts().name, most));
}

}  // namespace orrery::custom::trial
