#include "engine/runtime/executor.h"

#include "engine/runtime/host_steps.h"

namespace orrery::runtime {

Result<void> Executor::run(std::shared_ptr<const compile::Plan> plan, StepBatch& batch,
                           std::span<const kernels::PagedKv> states, Profiler* profiler) {
  const Result<void> done = plan->cards.empty() ? run_here(*plan, batch, states, profiler)
                                                : cards_->run(std::move(plan), batch, states, profiler);
  bytes_.store(arena_.size() + workspace_.size() + cards_->bytes(), std::memory_order_relaxed);
  unsettled_.store(cards_->unsettled_steps(), std::memory_order_relaxed);
  return done;
}

Result<void> Executor::run_here(const compile::Plan& plan, StepBatch& batch,
                                std::span<const kernels::PagedKv> states, Profiler* profiler) {
  ORRERY_TRY(grow(arena_, plan.host_arena_bytes));
  ORRERY_TRY(grow(workspace_, plan.host_workspace_bytes));
  context_ = {};
  batch.fill(context_);
  ORRERY_TRY(StepBatch::check_sizes(plan, context_));
  ORRERY_TRY(batch.fill_given(plan, context_));
  context_.states = states;
  context_.arena = arena_.data();
  context_.workspace = workspace_.data();
  context_.team = &team_;
  const bool measured = profiler && profiler->enabled();
  if (measured) times_.resize(plan.steps.size());
  run_host_steps(plan, {0, plan.steps.size(), {}, {}}, context_, measured ? times_.data() : nullptr);
  if (measured) profiler->record(plan, batch.phase(), context_, times_);
  return {};
}

const void* Executor::output(const compile::Plan& plan, size_t index) const {
  if (!plan.cards.empty()) return cards_->output(plan, index);
  if (index >= plan.output_slots.size()) return nullptr;
  return context_.address(plan.output_slots[index].slot);
}

}  // namespace orrery::runtime
