#include "engine/runtime/device_runner.h"

namespace orrery::runtime {

DeviceRunner::DeviceRunner(weights::DevicePtr device)
    : device_(std::move(device)), epoch_(device_->epoch()), staged_(device_) {}

bool DeviceRunner::follow_epoch() {
  if (epoch_ == device_->epoch()) return false;
  epoch_ = device_->epoch();
  marks_.clear();
  ends_.clear();
  arena_ = {};
  workspace_ = {};
  way_ = {};
  staged_.forget();
  return true;
}

void DeviceRunner::require_epoch(uint64_t epoch) const {
  if (device_->epoch() != epoch || device_->epoch() != epoch_)
    throw kernels::DeviceError(kernels::DeviceError::Kind::lost,
                               device_->facts().name + " was started anew while a step ran on it",
                               device_->id());
}

Result<void> DeviceRunner::stage(const compile::CardUse& use, StepBatch& batch,
                                 std::span<const kernels::PagedKv> states, kernels::Sample::Choice* choices) {
  ORRERY_TRY(grow(arena_, use.arena_bytes, device_));
  ORRERY_TRY(grow(workspace_, use.workspace_bytes, device_));
  ORRERY_TRY(staged_.stage(batch));
  context_ = staged_.there();
  context_.choices = choices;
  context_.states = states;
  context_.arena = arena_.data();
  context_.workspace = workspace_.data();
  return {};
}

std::vector<const void*> DeviceRunner::addresses() const {
  return {arena_.data(), workspace_.data(), way_.data(), staged_.source(), staged_.target()};
}

void DeviceRunner::copy(const compile::Transfer& transfer, const ops::StepContext& from,
                        const ops::StepContext& to, const weights::DevicePtr& other) {
  auto* dst = to.data<std::byte>(transfer.dst);
  const void* src = from.address(transfer.src);
  const size_t bytes = transfer.bytes(context_);
  if (!other) return device_->copy(dst, src, bytes);
  if (device_->reaches(*other)) return device_->copy_from(*other, dst, src, bytes);
  device_->copy_from(*other, way_.data(), src, bytes);
  device_->copy(dst, way_.data(), bytes);
}

void DeviceRunner::make_marks(size_t count) {
  while (marks_.size() < count) marks_.push_back(device_->make_mark());
}

void DeviceRunner::mark_end(size_t segment) {
  if (ends_.size() <= segment) ends_.resize(segment + 1);
  if (!ends_[segment]) ends_[segment] = device_->make_mark();
  device_->record(*ends_[segment]);
}

}  // namespace orrery::runtime
