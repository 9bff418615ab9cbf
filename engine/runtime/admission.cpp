#include "engine/runtime/admission.h"

#include <algorithm>

namespace orrery::runtime {

Admission::Admission(Model& model, const std::vector<std::shared_ptr<Job>>& jobs) : model_(model) {
  for (const auto& job : jobs)
    if (job->sequence() && !job->finished()) (admitted(*job) ? admitted_ : waiting_).push_back(job.get());
  const auto older = [](const Job* a, const Job* b) { return a->number < b->number; };
  std::ranges::sort(admitted_, older);
  std::ranges::sort(waiting_, older);
}

void Admission::run() {
  go_on();
  if (!waiting_.empty()) let_in();
}

/// The youngest gives way until the older have what they need.
void Admission::go_on() {
  for (size_t i = 0; i < admitted_.size(); ++i) {
    Job& job = *admitted_[i];
    Result<void> pages = take_pages(job);
    while (!pages.ok() && i + 1 < admitted_.size()) {
      give_way();
      pages = take_pages(job);
    }
    if (pages.ok()) continue;
    if (i > 0) return give_way();
    return job.fail(std::move(pages).error());
  }
}

void Admission::let_in() {
  for (Job* job : waiting_) {
    Sequence& sequence = *job->sequence();
    if (sequence.job) continue;  // after the one before it on the same text
    if (!job->prepare()) continue;
    sequence.job = job;
    const bool room = fits(*job);
    Result<void> pages;
    if (room) pages = take_pages(*job);
    if (room && pages.ok()) {
      admitted_.push_back(job);
      continue;
    }
    sequence.job = nullptr;
    if (!admitted_.empty()) return;
    job->fail(std::move(pages).error());
  }
}

/// Whether its text has room beside those that are admitted, with a page for each of them to grow into: so
/// that nobody is let in to give way at once.
bool Admission::fits(Job& job) const {
  if (admitted_.empty()) return true;
  std::vector<bool> held(static_cast<size_t>(model_.kv()->max_pages()));
  int64_t pages = 0;
  const auto count = [&](Job& holder) {
    for (const int32_t page : holder.sequence()->kv.pages)
      if (!held[static_cast<size_t>(page)]) {
        held[static_cast<size_t>(page)] = true;
        ++pages;
      }
  };
  for (Job* other : admitted_) count(*other);
  count(job);
  const Sequence& text = *job.sequence();
  const int64_t missing = KvCache::pages_for(static_cast<int64_t>(text.tokens.size())) -
                          static_cast<int64_t>(text.kv.pages.size());
  return pages + missing + static_cast<int64_t>(admitted_.size()) <= model_.kv()->max_pages();
}

Result<void> Admission::take_pages(Job& job) {
  Result<void> pages = job.take_pages();
  while (!pages.ok() && take_from_idle()) pages = job.take_pages();
  return pages;
}

/// The text that was not worked on for the longest gives its pages back.
bool Admission::take_from_idle() {
  Sequence* oldest = nullptr;
  for (Sequence* sequence : model_.sequences())
    if (!sequence->job && !sequence->kv.pages.empty() && (!oldest || sequence->last_step < oldest->last_step))
      oldest = sequence;
  if (oldest) model_.kv()->release(oldest->kv);
  return oldest != nullptr;
}

void Admission::give_way() {
  Job& youngest = *admitted_.back();
  youngest.give_way();
  youngest.sequence()->job = nullptr;
  waiting_.insert(waiting_.begin(), &youngest);
  admitted_.pop_back();
}

}  // namespace orrery::runtime
