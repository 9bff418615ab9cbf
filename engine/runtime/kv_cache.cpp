#include "engine/runtime/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace orrery::runtime {
namespace {

constexpr size_t kSlabBytes = size_t{8} << 20;
constexpr size_t kKeptShare = 4;                   // of the limit, for what no sequence holds any more
constexpr size_t kSummaryBytes = size_t{8} << 30;  // of all texts together, at most
constexpr size_t kMostSummaries = 512;
constexpr size_t kMostResting = 4;  // summaries that are kept where no sequence holds their page

using Kind = compile::StateForm::Kind;

uint64_t next_id() {
  static std::atomic<uint64_t> counter{0};
  return ++counter;
}

bool same_geometry(const StateLayout& a, const StateLayout& b) { return a.form == b.form; }

/// Where the page begins that the token lies in.
int64_t page_begin(int64_t token) { return token - token % KvCache::kPageTokens; }

/// The slot of each state: those with its hash first, then free ones of its geometry, if it can be where
/// `lies_there` says that it need not move. Nothing when they do not suffice.
template <class Slots, class LiesThere>
std::optional<std::vector<size_t>> match(const Slots& slots, std::span<const StateLayout> states,
                                         const LiesThere& lies_there) {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> result(states.size(), kNone);
  std::vector<bool> taken(slots.size(), false);
  const auto assign = [&](size_t state, auto&& fits) {
    for (size_t slot = 0; slot < slots.size() && result[state] == kNone; ++slot)
      if (!taken[slot] && same_geometry(slots[slot].layout, states[state]) && fits(slot)) {
        result[state] = slot;
        taken[slot] = true;
      }
  };
  for (size_t i = 0; i < states.size(); ++i)
    assign(i, [&](size_t slot) { return slots[slot].layout.hash == states[i].hash; });
  for (size_t i = 0; i < states.size(); ++i)
    assign(i, [&](size_t slot) { return lies_there(slot, states[i]); });
  for (size_t i = 0; i < states.size(); ++i) {
    assign(i, [](size_t) { return true; });
    if (result[i] == kNone) return std::nullopt;
  }
  return result;
}

}  // namespace

size_t KvCache::slot_bytes(DType dtype, const compile::StateForm& form) {
  return (form.page_bytes(dtype) + 255) / 256 * 256;
}

Result<std::unique_ptr<KvCache>> KvCache::create(std::span<const StateLayout> states, DType dtype,
                                                 int64_t max_pages, const ModelDevices& devices) {
  std::unique_ptr<KvCache> cache(new KvCache);
  cache->id_ = next_id();
  cache->dtype_ = dtype;
  cache->max_pages_ = std::max<int64_t>(max_pages, 1);
  std::vector<size_t> slots;
  std::vector<KvBanks::Wanted> wanted, summaries;
  for (const StateLayout& state : states) {
    const size_t in_page = slot_bytes(dtype, state.form), summary = state.form.summary_bytes();
    const size_t bytes = std::max(in_page, summary);
    if (bytes == 0 || bytes > (size_t{1} << 32))
      return Error{ErrorCode::unsupported,
                   fmt::format("A state of {} cannot be kept as {}", state.form.words(),
                               name_of(state.form.kind == Kind::per_token ? dtype : DType::f32)),
                   "KV cache", "choose another --kv-type"};
    slots.push_back(cache->slots_.size());
    cache->slots_.push_back({state, 1});
    wanted.push_back({in_page, devices.memory_of(state.device)});
    summaries.push_back({summary, devices.memory_of(state.device)});
  }
  ORRERY_ASSIGN(cache->banks_, KvBanks::create(wanted, cache->max_pages_));
  size_t bytes = 0;
  for (const KvBanks::Wanted& summary : summaries) bytes += summary.bytes;
  const auto most = std::clamp<size_t>(kSummaryBytes / std::max<size_t>(bytes, 1), 1, kMostSummaries);
  cache->max_summaries_ = std::min(cache->max_pages_, static_cast<int64_t>(most));
  ORRERY_ASSIGN(cache->summary_banks_, KvBanks::create(summaries, cache->max_summaries_));
  cache->bind(states, slots);
  return cache;
}

void KvCache::bind(std::span<const StateLayout> states, std::span<const size_t> slots) {
  bound_slots_.assign(slots.begin(), slots.end());
  bound_.clear();
  for (size_t i = 0; i < states.size(); ++i) {
    Slot& slot = slots_[slots[i]];
    if (slot.layout.hash != states[i].hash) {
      slot.layout.hash = states[i].hash;
      ++slot.epoch;
    }
    const compile::StateForm& form = slot.layout.form;
    const KvBanks& banks = form.is_summary() ? summary_banks_ : banks_;
    bound_.push_back({banks.base(slots[i]), banks.page_stride(slots[i]),
                      form.kind == Kind::per_token ? dtype_ : DType::f32, kPageTokens, form.kv_heads,
                      form.head_dim});
  }
}

std::vector<int32_t> KvCache::used_pages() const {
  std::vector<bool> used(static_cast<size_t>(pages_committed()), true);
  for (const int32_t page : free_) used[static_cast<size_t>(page)] = false;
  std::vector<int32_t> pages;
  for (size_t page = 0; page < used.size(); ++page)
    if (used[page]) pages.push_back(static_cast<int32_t>(page));
  return pages;
}

Result<bool> KvCache::adopt(std::span<const StateLayout> states, const ModelDevices& devices) {
  const auto slots = match(slots_, states, [&](size_t slot, const StateLayout& state) {
    return banks_.device(slot) == devices.memory_of(state.device);
  });
  if (!slots) return false;
  std::vector<KvBanks::Move> moves;
  for (size_t i = 0; i < states.size(); ++i) {
    const size_t slot = (*slots)[i];
    if (weights::DevicePtr to = devices.memory_of(states[i].device); banks_.device(slot) != to)
      moves.push_back({slot, std::move(to), slots_[slot].layout.hash == states[i].hash});
  }
  if (!moves.empty()) {
    // Of each slot one of the two is empty, so that neither failure leaves half of one behind.
    std::vector<int32_t> summaries(static_cast<size_t>(summaries_committed()));
    std::iota(summaries.begin(), summaries.end(), 0);
    std::vector<KvBanks::Move> back = moves;
    for (KvBanks::Move& move : back) move.to = summary_banks_.device(move.slot);
    ORRERY_TRY(summary_banks_.move(moves, summaries));
    if (auto moved = banks_.move(moves, used_pages()); !moved.ok()) {
      ORRERY_TRY(summary_banks_.move(back, summaries));
      return std::move(moved).error();
    }
  }
  bind(states, *slots);
  return true;
}

int64_t KvCache::kept_tokens(std::span<const StateLayout> states, const KvPages& sequence) const {
  if (sequence.cache != id_) return 0;
  const auto slots = match(slots_, states, [](size_t, const StateLayout&) { return true; });
  if (!slots) return 0;
  const auto kept_in = [&](size_t slot) {
    const auto state = static_cast<size_t>(std::ranges::find(*slots, slot) - slots->begin());
    return slots_[slot].layout.hash == states[state].hash ? valid_in(slot, sequence) : 0;
  };
  return common_tokens(sequence, *slots, static_cast<int64_t>(sequence.pages.size()) * kPageTokens, kept_in);
}

int64_t KvCache::valid_in(size_t slot, const KvPages& sequence) const {
  if (sequence.cache != id_ || slot >= sequence.valid.size()) return 0;
  return sequence.valid[slot].epoch == slots_[slot].epoch ? sequence.valid[slot].tokens : 0;
}

/// The most tokens after which all of the slots can go on.
template <class ValidIn>
int64_t KvCache::common_tokens(const KvPages& sequence, std::span<const size_t> slots, int64_t most,
                               const ValidIn& valid_in) const {
  int64_t tokens = most;
  for (const size_t slot : slots) tokens = std::min(tokens, valid_in(slot));
  const auto any = [&](Kind kind) {
    return std::ranges::any_of(slots, [&](size_t slot) { return slots_[slot].layout.form.kind == kind; });
  };
  const auto there = [&](int64_t length) {
    return length % kPageTokens == 0 || std::ranges::all_of(slots, [&](size_t slot) {
             return !slots_[slot].layout.form.is_record() || valid_in(slot) == length;
           });
  };
  if (!any(Kind::summary)) return there(tokens) ? tokens : page_begin(tokens);
  if (sequence.recorded <= tokens && there(sequence.recorded))
    return std::max(sequence.recorded, summarised_tokens(sequence, tokens));
  return summarised_tokens(sequence, tokens);
}

/// The end of the last page before `most` at which a summary was left.
int64_t KvCache::summarised_tokens(const KvPages& sequence, int64_t most) const {
  int64_t pages = most / kPageTokens;
  while (pages > 0 && summary_of(sequence.pages[static_cast<size_t>(pages - 1)]) < 0) --pages;
  return pages * kPageTokens;
}

int64_t KvCache::valid_tokens(const KvPages& sequence, int64_t most) const {
  if (sequence.cache != id_) return 0;
  most = std::min(most, static_cast<int64_t>(sequence.pages.size()) * kPageTokens);
  return common_tokens(sequence, bound_slots_, most, [&](size_t slot) { return valid_in(slot, sequence); });
}

bool KvCache::binds(Kind kind) const {
  return std::ranges::any_of(bound_slots_,
                             [&](size_t slot) { return slots_[slot].layout.form.kind == kind; });
}

Result<void> KvCache::commit_slab() {
  const int64_t done = pages_committed();
  const auto slab = static_cast<int64_t>(kSlabBytes / std::clamp<size_t>(banks_.page_bytes(), 1, kSlabBytes));
  const int64_t next = std::min(done + slab, max_pages_);
  ORRERY_TRY(banks_.commit(next));
  holders_.resize(static_cast<size_t>(next));
  summary_of_.resize(static_cast<size_t>(next), -1);
  for (int64_t page = next - 1; page >= done; --page) free_.push_back(static_cast<int32_t>(page));
  committed_.store(next, std::memory_order_relaxed);
  return {};
}

/// A free one, or new memory up to the limit; then what was kept gives way, and the spare one at last.
Result<int32_t> KvCache::take_page() {
  if (free_.empty() && pages_committed() < max_pages_) ORRERY_TRY(commit_slab());
  while (free_.empty() && forget_oldest()) {
  }
  if (free_.empty() && spare_) free_.push_back(*std::exchange(spare_, std::nullopt));
  if (free_.empty())
    return Error{
        ErrorCode::out_of_memory,
        fmt::format("The KV cache is full: all {} pages of {} tokens are in use", max_pages_, kPageTokens),
        "KV cache", "end another chat, shorten this one, or open the model with a larger --context"};
  const int32_t page = free_.back();
  free_.pop_back();
  hold_page(page);
  return page;
}

std::optional<int32_t> KvCache::spare_page() {
  if (!spare_ && (!free_.empty() || forget_oldest())) {
    spare_ = free_.back();
    free_.pop_back();
  }
  return spare_;
}

void KvCache::free_page(int32_t page) {
  drop_summary(page);
  free_.push_back(page);
}

/// The number of a summary that nobody holds: a free one, or new memory up to the limit; then what no
/// sequence holds gives way.
Result<int32_t> KvCache::take_summary() {
  const int64_t done = summaries_committed();
  if (free_summaries_.empty() && done < max_summaries_ && summary_banks_.commit(done + 1).ok()) {
    summaries_committed_.store(done + 1, std::memory_order_relaxed);
    free_summaries_.push_back(static_cast<int32_t>(done));
  }
  if (free_summaries_.empty() && !resting_.empty()) drop_summary(resting_.front());
  if (free_summaries_.empty())
    return Error{
        ErrorCode::out_of_memory,
        fmt::format("There is no room for another text: {} of {} are summarised", done, max_summaries_),
        "KV cache", "end another chat"};
  const int32_t number = free_summaries_.back();
  free_summaries_.pop_back();
  return number;
}

void KvCache::drop_summary(int32_t page) {
  const int32_t number = std::exchange(summary_of(page), -1);
  if (number < 0) return;
  free_summaries_.push_back(number);
  std::erase(resting_, page);
}

void KvCache::give_back_summary(KvPages& sequence) {
  if (const int32_t number = std::exchange(sequence.record, -1); number >= 0)
    free_summaries_.push_back(number);
  sequence.recorded = 0;
}

void KvCache::hold_page(int32_t page) {
  if (holders(page)++ > 0) return;
  in_use_.fetch_add(1, std::memory_order_relaxed);
  known_.held(page);
  std::erase(resting_, page);
}

void KvCache::drop_page(int32_t page) {
  if (--holders(page) > 0) return;
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  if (!known_.knows(page)) return free_page(page);
  known_.unheld(page);
  if (summary_of(page) >= 0) resting_.push_back(page);
  if (resting_.size() > kMostResting) drop_summary(resting_.front());
  while (known_.unheld_pages() > static_cast<size_t>(max_pages_) / kKeptShare) forget_oldest();
}

bool KvCache::forget_oldest() {
  const auto oldest = known_.take_oldest();
  if (oldest) free_page(*oldest);
  return oldest.has_value();
}

/// Records will be written from token `first` on, where a page begins: no other sequence may hold these
/// pages, or find them.
void KvCache::own_pages(KvPages& sequence, int64_t first) {
  const auto written = std::span(sequence.pages).subspan(static_cast<size_t>(first / kPageTokens));
  if (std::ranges::any_of(written, [&](int32_t page) { return holders(page) > 1; }))
    return truncate(sequence, first);
  for (const int32_t page : written) {
    known_.forget(page);
    drop_summary(page);
  }
}

Result<void> KvCache::reserve(KvPages& sequence, int64_t tokens) {
  if (sequence.cache != id_) {
    sequence = {};
    sequence.cache = id_;
  }
  sequence.valid.resize(slots_.size());
  if (binds(Kind::record) || binds(Kind::summary))
    own_pages(sequence, page_begin(valid_tokens(sequence, std::max<int64_t>(tokens - 1, 0))));
  const bool begins = binds(Kind::summary) && sequence.record < 0;
  if (begins) {
    ORRERY_ASSIGN(sequence.record, take_summary());
  }
  const auto needed = static_cast<size_t>(pages_for(tokens));
  const size_t before = sequence.pages.size();
  while (sequence.pages.size() < needed) {
    Result<int32_t> page = take_page();
    if (page.ok()) {
      sequence.pages.push_back(*page);
      continue;
    }
    if (begins) give_back_summary(sequence);
    while (sequence.pages.size() > before) {
      drop_page(sequence.pages.back());
      sequence.pages.pop_back();
    }
    return std::move(page).error();
  }
  return {};
}

kernels::RecordUse KvCache::writing(KvPages& sequence, int64_t from, int64_t to) {
  if (sequence.cache != id_) return {};
  const int64_t first = page_begin(from);
  for (const size_t slot : bound_slots_)
    if (KvPages::Valid& valid = sequence.valid[slot]; slots_[slot].layout.form.is_record())
      valid.tokens = std::min(valid.tokens, first);
  if (!binds(Kind::summary)) return {};
  kernels::RecordUse use;
  if (from > 0)
    use.before = sequence.recorded == from
                     ? sequence.record
                     : summary_of(sequence.pages[static_cast<size_t>(from / kPageTokens - 1)]);
  use.after = sequence.record;
  leave_summary(sequence, from, to, use);
  sequence.recorded = 0;
  const int64_t known = use.middle >= 0 && use.middle_tokens == 0 ? from - 1 : from;  // should it fail
  // States that are not bound are not written, so that what is left of them is of other lengths.
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].layout.form.is_summary()) continue;
    const bool bound = std::ranges::find(bound_slots_, slot) != bound_slots_.end();
    int64_t& valid = sequence.valid[slot].tokens;
    valid = bound ? std::min(valid, known) : 0;
  }
  return use;
}

/// A copy at the end of the last page before the step's last token, which may have to be read again: that may
/// be where the step begins. Of a text that grows token by token one every kLeaveEvery. None where there is
/// no room.
void KvCache::leave_summary(KvPages& sequence, int64_t from, int64_t to, kernels::RecordUse& use) {
  const int64_t length = to - from > 1 ? page_begin(to - 1) : to % kLeaveEvery == 0 ? to : 0;
  if (length < std::max<int64_t>(from, 1)) return;
  int32_t& place = summary_of(sequence.pages[static_cast<size_t>(length / kPageTokens - 1)]);
  if (length == from && place >= 0) return;
  thin_summaries(sequence, from, length);
  if (place < 0) {
    const Result<int32_t> number = take_summary();
    if (!number.ok()) return;
    place = *number;
  }
  use.middle = place;
  use.middle_tokens = static_cast<int32_t>(length - from);
}

/// Makes room for one more, at `length`. A reply's own give way to one another, so that the end of its prompt
/// stays while it is written; of a prompt's the earlier stays for as long as it is behind a quarter of the
/// text. What others hold too, and what the step begins with, may be read in this step.
void KvCache::thin_summaries(const KvPages& sequence, int64_t from, int64_t length) {
  const bool grows = length % kLeaveEvery == 0 && length - from == 1;
  std::vector<int64_t> left;  // lengths
  int64_t count = 0;          // with that of the beginning
  for (int64_t end = kPageTokens; end <= static_cast<int64_t>(sequence.pages.size()) * kPageTokens;
       end += kPageTokens) {
    const int32_t page = sequence.pages[static_cast<size_t>(end / kPageTokens - 1)];
    if (summary_of(page) < 0 || holders(page) > 1) continue;
    ++count;
    if (end != from) left.push_back(end);
  }
  const auto first_is_worst = [&] {
    return grows ? left.back() % kLeaveEvery != 0 : 4 * left.front() < length;
  };
  for (; count >= kLeft && !left.empty(); --count) {
    const auto worst = first_is_worst() ? left.begin() : left.end() - 1;
    drop_summary(sequence.pages[static_cast<size_t>(*worst / kPageTokens - 1)]);
    left.erase(worst);
  }
}

void KvCache::written(KvPages& sequence, int64_t to, std::span<const int32_t> tokens) {
  if (sequence.cache != id_) return;
  const int64_t first = valid_tokens(sequence) / kPageTokens;
  for (const size_t slot : bound_slots_) sequence.valid[slot] = {slots_[slot].epoch, to};
  if (binds(Kind::summary)) sequence.recorded = to;
  const int64_t whole = std::min(to, static_cast<int64_t>(tokens.size())) / kPageTokens;
  std::vector<uint64_t>& hashes = sequence.hashes;
  for (int64_t page = std::min(first, static_cast<int64_t>(hashes.size())); page < whole; ++page) {
    const auto index = static_cast<size_t>(page);
    const auto held = tokens.subspan(index * kPageTokens, kPageTokens);
    const uint64_t before = page > 0 ? hashes[index - 1] : 0;
    if (index == hashes.size()) hashes.push_back(PrefixStore::hash_after(before, held));
    const auto freed = known_.add({sequence.pages[index],
                                   before,
                                   {held.begin(), held.end()},
                                   epochs_of(sequence, (page + 1) * kPageTokens)});
    if (freed) free_page(*freed);
  }
}

/// Of the slots that hold so many tokens.
std::vector<uint64_t> KvCache::epochs_of(const KvPages& sequence, int64_t tokens) const {
  std::vector<uint64_t> epochs;
  for (const KvPages::Valid& valid : sequence.valid)
    epochs.push_back(valid.tokens >= tokens ? valid.epoch : 0);
  return epochs;
}

/// Whether every bound state is there.
bool KvCache::is_current(const PrefixStore::Known& known) const {
  return std::ranges::all_of(bound_slots_,
                             [&](size_t slot) { return known.epochs[slot] == slots_[slot].epoch; });
}

void KvCache::truncate(KvPages& sequence, int64_t tokens) {
  if (sequence.cache != id_) {
    sequence = {};
    return;
  }
  if (tokens == 0) give_back_summary(sequence);
  // Of a page that others hold, the rest must not be written anew.
  if (const auto last = static_cast<size_t>(tokens / kPageTokens);
      tokens % kPageTokens != 0 && last < sequence.pages.size()) {
    if (holders(sequence.pages[last]) > 1)
      tokens -= tokens % kPageTokens;
    else {
      known_.forget(sequence.pages[last]);
      drop_summary(sequence.pages[last]);
    }
  }
  if (sequence.recorded > tokens) sequence.recorded = 0;
  const auto keep = static_cast<size_t>(pages_for(tokens));
  while (sequence.pages.size() > keep) {
    drop_page(sequence.pages.back());
    sequence.pages.pop_back();
  }
  const auto whole = static_cast<size_t>(tokens / kPageTokens);
  sequence.hashes.resize(std::min(sequence.hashes.size(), whole));
  for (size_t slot = 0; slot < sequence.valid.size(); ++slot) {
    int64_t& valid = sequence.valid[slot].tokens;
    if (valid > tokens) valid = slots_[slot].layout.form.is_record() ? page_begin(tokens) : tokens;
  }
}

void KvCache::share(KvPages& sequence, std::span<const int32_t> tokens) {
  KvPages begun;
  begun.cache = id_;
  begun.valid.resize(slots_.size());
  for (size_t slot = 0; slot < slots_.size(); ++slot) begun.valid[slot].epoch = slots_[slot].epoch;
  for (; static_cast<int64_t>(tokens.size()) >= kPageTokens; tokens = tokens.subspan(kPageTokens)) {
    const uint64_t before = begun.hashes.empty() ? 0 : begun.hashes.back();
    const auto held = tokens.first(kPageTokens);
    const PrefixStore::Known* known = known_.find(before, held);
    if (!known || !is_current(*known)) break;
    const auto there = static_cast<int64_t>(begun.pages.size()) * kPageTokens;
    for (size_t slot = 0; slot < slots_.size(); ++slot)
      if (begun.valid[slot].tokens == there && known->epochs[slot] == begun.valid[slot].epoch)
        begun.valid[slot].tokens += kPageTokens;
    begun.pages.push_back(known->page);
    begun.hashes.push_back(PrefixStore::hash_after(before, held));
  }
  const int64_t usable = valid_tokens(begun);
  if (usable <= valid_tokens(sequence)) return;
  begun.pages.resize(static_cast<size_t>(pages_for(usable)));
  begun.hashes.resize(begun.pages.size());
  for (KvPages::Valid& valid : begun.valid) valid.tokens = std::min(valid.tokens, usable);
  for (const int32_t page : begun.pages) hold_page(page);
  release(sequence);
  sequence = std::move(begun);
}

}  // namespace orrery::runtime
