// Paged storage of the states of one model.
//
// One page holds kPageTokens tokens of every state (layer): [slot 0][slot 1]..., keys and values laid out as
// kernels/attention.h says, so that one page table serves all layers. A state that keeps a record
// (kernels/scan.h) has one in each page, as it was after the page's last token that was read. Summaries
// (kernels/fastmax_scan.h) are too large for that: they lie in numbered places of their own. A sequence has
// one, which moves on with it, and leaves a copy now and then at the end of a page, which then is a place to
// come back to as it is with records: for its own text, and for others that share the page. The address range
// is reserved once, for the limit; memory is committed in slabs as pages are first used, and pages that a
// sequence gives back are used again. Each slot lies where its state's nodes run, in the program's memory or
// a card's (kv_banks.h), under the same page numbers; it moves with what it holds when an adopted version
// places it elsewhere.
//
// Pages are shared by sequences that begin alike: a full page whose tokens, and all before them, are the same
// holds the same numbers. Nobody writes other tokens into a page that another holds: whoever forgets half of
// one gives it up. Full pages are found by what they hold (prefix_store.h); those that no sequence holds any
// more are kept for the next that begins so, until they are needed.
//
// A slot belongs to a feed hash (graph.feed_hash of the state's last value). Each sequence knows for each
// slot up to which token it is valid; so after an edit a state whose feed did not change keeps what it holds,
// and the others are read again. Keys and values are then there at every length below; a record only at that
// length and at the ends of full pages. While a step writes a record in the middle of a page it is nowhere in
// that page, so a page that records are written in is its sequence's own. Used by the scheduler's thread
// only, but for the counters, which any thread may read.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/compile/states.h"
#include "engine/runtime/devices.h"
#include "engine/runtime/kv_banks.h"
#include "engine/runtime/prefix_store.h"
#include "kernels/attention.h"
#include "kernels/fastmax_scan.h"

namespace orrery::runtime {

/// One state of a graph version. Equal hashes hold equal numbers for equal tokens.
struct StateLayout {
  uint64_t hash = 0;
  compile::StateForm form;
  std::optional<kernels::DeviceId> device = {};  // where it lies; none: at home
};

class KvCache {
 public:
  static constexpr int64_t kPageTokens = compile::kPageTokens;
  /// Copies of its summaries that a text leaves behind at most: the latest, and one before it.
  static constexpr int64_t kLeft = compile::StateForm::kSummaries - 1;
  /// A text that grows token by token leaves one each time that it has so many more: a multiple of
  /// kPageTokens.
  static constexpr int64_t kLeaveEvery = 256;
  /// Of one state in a page, with its alignment; 0 where it cannot be kept with keys and values as `dtype`,
  /// and of a summary.
  static size_t slot_bytes(DType dtype, const compile::StateForm& form);

  /// `max_pages` bounds what sequences can hold together. Reserves addresses, commits nothing.
  static Result<std::unique_ptr<KvCache>> create(std::span<const StateLayout> states, DType dtype,
                                                 int64_t max_pages, const ModelDevices& devices = {});

  /// Binds the states of another graph version to slots: equal hashes keep theirs, the others take slots that
  /// are not needed, and slots that lie elsewhere than their state move, with what they hold. False when they
  /// do not fit (more states, another geometry): a new cache is needed. out_of_memory leaves all as it was.
  /// Throws DeviceError.
  Result<bool> adopt(std::span<const StateLayout> states, const ModelDevices& devices = {});
  /// How many tokens of the sequence every one of these states would hold after `adopt`.
  int64_t kept_tokens(std::span<const StateLayout> states, const KvPages& sequence) const;
  /// Whether `adopt` would keep every token of the sequence.
  bool would_keep(std::span<const StateLayout> states, const KvPages& sequence) const {
    return kept_tokens(states, sequence) >= valid_tokens(sequence);
  }

  /// False once a card that holds some of it was renewed: what it held there is gone.
  bool alive() const { return banks_.alive() && summary_banks_.alive(); }

  /// The states of the adopted version, by state index.
  const std::vector<kernels::PagedKv>& states() const { return bound_; }

  /// Tokens of the sequence that every bound state holds, so that a step can go on after them; `most` at
  /// most.
  int64_t valid_tokens(const KvPages& sequence, int64_t most = std::numeric_limits<int64_t>::max()) const;
  /// Pages for `tokens` tokens, of which the next steps read those that are not valid, the last one in any
  /// case. Where they will write records, pages that others hold are given up, and its own are no longer
  /// found. out_of_memory takes no page.
  Result<void> reserve(KvPages& sequence, int64_t tokens);
  /// Tells that a step is about to write the bound states from token `from` to `to`: should it fail, records
  /// are those of the page before. Returns where the summaries lie that the step reads and writes, as
  /// `reserve` made sure of.
  kernels::RecordUse writing(KvPages& sequence, int64_t from, int64_t to);
  /// Tells that steps wrote the bound states up to token `to`. Other states keep what they hold of these
  /// tokens: whoever changes a token truncates there first. Full pages of `tokens`, the text as far as others
  /// may share it, can be found from now on.
  void written(KvPages& sequence, int64_t to, std::span<const int32_t> tokens = {});
  /// Forgets the tokens from `tokens` on, and gives back the pages after them. In the middle of a page,
  /// records are left as they were at its beginning.
  void truncate(KvPages& sequence, int64_t tokens);
  void release(KvPages& sequence) { truncate(sequence, 0); }

  /// Lets a sequence begin with what others have read of `tokens`, where that is more than it holds itself:
  /// whole pages.
  void share(KvPages& sequence, std::span<const int32_t> tokens);

  /// A page that no text holds, for rows that nobody reads (StepBatch::pad); what it holds is never read as a
  /// text's. Good until pages are taken the next time: it is the first to go when a text finds none. Nothing
  /// when there is none to spare.
  std::optional<int32_t> spare_page();

  uint64_t id() const { return id_; }
  int64_t max_pages() const { return max_pages_; }
  static int64_t pages_for(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }
  /// Held by sequences; those that are only kept, and the spare one, do not count.
  int64_t pages_in_use() const { return in_use_.load(std::memory_order_relaxed); }
  int64_t pages_committed() const { return committed_.load(std::memory_order_relaxed); }
  size_t bytes_committed() const {
    return static_cast<size_t>(pages_committed()) * banks_.page_bytes() +
           static_cast<size_t>(summaries_committed()) * summary_banks_.page_bytes();
  }
  /// Copies of all summaries of a text that there is memory for.
  int64_t summaries_committed() const { return summaries_committed_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    StateLayout layout;
    uint64_t epoch = 1;
  };
  KvCache() = default;
  Result<int32_t> take_page();
  Result<void> commit_slab();
  void hold_page(int32_t page);
  void drop_page(int32_t page);
  bool forget_oldest();
  int32_t& holders(int32_t page) { return holders_[static_cast<size_t>(page)]; }
  int32_t holders(int32_t page) const { return holders_[static_cast<size_t>(page)]; }
  bool is_current(const PrefixStore::Known& known) const;
  std::vector<uint64_t> epochs_of(const KvPages& sequence, int64_t tokens) const;
  void bind(std::span<const StateLayout> states, std::span<const size_t> slots);
  std::vector<int32_t> used_pages() const;
  int64_t valid_in(size_t slot, const KvPages& sequence) const;
  template <class ValidIn>
  int64_t common_tokens(const KvPages& sequence, std::span<const size_t> slots, int64_t most,
                        const ValidIn& valid_in) const;
  bool binds(compile::StateForm::Kind kind) const;
  void free_page(int32_t page);
  int32_t& summary_of(int32_t page) { return summary_of_[static_cast<size_t>(page)]; }
  int32_t summary_of(int32_t page) const { return summary_of_[static_cast<size_t>(page)]; }
  Result<int32_t> take_summary();
  void drop_summary(int32_t page);
  void give_back_summary(KvPages& sequence);
  int64_t summarised_tokens(const KvPages& sequence, int64_t most) const;
  void leave_summary(KvPages& sequence, int64_t from, int64_t to, kernels::RecordUse& use);
  void thin_summaries(const KvPages& sequence, int64_t from, int64_t length);
  void own_pages(KvPages& sequence, int64_t first);

  uint64_t id_ = 0;
  DType dtype_ = DType::f16;
  KvBanks banks_, summary_banks_;  // the latter's pages are the numbers of summaries
  int64_t max_pages_ = 0, max_summaries_ = 0;
  std::vector<Slot> slots_;
  std::vector<size_t> bound_slots_;  // by state index
  std::vector<kernels::PagedKv> bound_;
  std::vector<int32_t> free_;            // used last, first
  std::optional<int32_t> spare_;         // neither free nor held
  std::vector<int32_t> holders_;         // sequences, by page
  std::vector<int32_t> summary_of_;      // what is left at the end of each page; -1: nothing
  std::vector<int32_t> free_summaries_;  // numbers that nobody holds
  std::vector<int32_t> resting_;         // pages that no sequence holds and that have one, oldest first
  PrefixStore known_;
  std::atomic<int64_t> in_use_{0}, committed_{0}, summaries_committed_{0};
};

}  // namespace orrery::runtime
