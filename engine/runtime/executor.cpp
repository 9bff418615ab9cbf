#include "engine/runtime/executor.h"

#include "engine/runtime/host_steps.h"

namespace orrery::runtime {

Executor::Executor(kernels::ThreadTeam& team, const weights::DevicePtr& card)
    : team_(team), card_(card ? std::make_unique<DeviceRunner>(card, team) : nullptr) {}

Result<void> Executor::run(const compile::Plan& plan, StepBatch& batch,
                           std::span<const kernels::PagedKv> states, Profiler* profiler) {
  if (plan.options.device && !card_)
    return Error{ErrorCode::internal, "The plan needs a card, and its scheduler has none", "", "try again"};
  const Result<void> done = plan.options.device ? card_->run(plan, batch, states, profiler)
                                                : run_here(plan, batch, states, profiler);
  bytes_.store(arena_.size() + workspace_.size() + (card_ ? card_->bytes() : 0), std::memory_order_relaxed);
  if (card_) unsettled_.store(card_->unsettled_steps(), std::memory_order_relaxed);
  return done;
}

Result<void> Executor::run_here(const compile::Plan& plan, StepBatch& batch,
                                std::span<const kernels::PagedKv> states, Profiler* profiler) {
  ORRERY_TRY(grow(arena_, plan.host_arena_bytes));
  ORRERY_TRY(grow(workspace_, plan.host_workspace_bytes));
  context_ = {};
  batch.fill(context_);
  context_.states = states;
  context_.arena = arena_.data();
  context_.workspace = workspace_.data();
  context_.team = &team_;
  const bool measured = profiler && profiler->enabled();
  if (measured) times_.resize(plan.steps.size() + 1);
  run_host_steps(plan, {0, plan.steps.size()}, context_, measured ? times_.data() : nullptr);
  if (measured) profiler->record(plan, batch.phase(), context_, times_);
  return {};
}

const float* Executor::output(const compile::Plan& plan, size_t index) const {
  if (plan.options.device) return card_ ? card_->output(plan, index) : nullptr;
  if (index >= plan.output_slots.size()) return nullptr;
  return static_cast<const float*>(context_.address(plan.output_slots[index].slot));
}

}  // namespace orrery::runtime
