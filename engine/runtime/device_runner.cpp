#include "engine/runtime/device_runner.h"

namespace orrery::runtime {

DeviceRunner::DeviceRunner(weights::DevicePtr device)
    : device_(std::move(device)), epoch_(device_->epoch()), staged_(device_) {}

void DeviceRunner::follow_epoch() {
  epoch_ = device_->epoch();
  marks_ = std::make_shared<LaidOutStep::Marks>();
  ends_.clear();
  arena_ = {};
  workspace_ = {};
  way_ = {};
  staged_.forget();
}

void DeviceRunner::require_epoch(uint64_t epoch) const {
  if (device_->epoch() != epoch || device_->epoch() != epoch_)
    throw kernels::DeviceError(kernels::DeviceError::Kind::lost,
                               device_->facts().name + " was started anew while a step ran on it",
                               device_->id());
}

bool DeviceRunner::has_room(const compile::CardUse& use, const ops::StepContext& here, size_t way) const {
  return runtime::has_room(arena_, use.arena_bytes) && runtime::has_room(workspace_, use.workspace_bytes) &&
         staged_.has_room(here) && (way == 0 || runtime::has_room(way_, way));
}

Result<void> DeviceRunner::stage(const compile::CardUse& use, const ops::StepContext& here, size_t way,
                                 LaidOutStep::Card& card) {
  ORRERY_TRY(grow(arena_, use.arena_bytes, device_));
  ORRERY_TRY(grow(workspace_, use.workspace_bytes, device_));
  ORRERY_TRY(staged_.stage(here));
  if (way > 0) grow(way_, way, device_);
  card.context = staged_.there();
  card.context.choices = here.choices;
  card.context.states = here.states;
  card.context.arena = arena_.data();
  card.context.workspace = workspace_.data();
  card.context.team = nullptr;
  card.inputs = staged_.copy();
  card.way = way_.data();
  return {};
}

std::shared_ptr<const LaidOutStep::Marks> DeviceRunner::marks(size_t count) {
  if (marks_->size() >= count) return marks_;
  auto more = std::make_shared<LaidOutStep::Marks>(*marks_);  // what is being captured keeps the others
  while (more->size() < count) more->push_back(device_->make_mark());
  return marks_ = std::move(more);
}

void DeviceRunner::mark_end(size_t segment) {
  if (ends_.size() <= segment) ends_.resize(segment + 1);
  if (!ends_[segment]) ends_[segment] = device_->make_mark();
  device_->record(*ends_[segment]);
}

}  // namespace orrery::runtime
