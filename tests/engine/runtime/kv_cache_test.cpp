#include "engine/runtime/kv_cache.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <set>

namespace orrery::runtime {
namespace {

std::vector<StateLayout> layouts(std::initializer_list<uint64_t> hashes) {
  std::vector<StateLayout> states;
  for (const uint64_t hash : hashes) states.push_back({hash, compile::StateForm::per_token(2, 16)});
  return states;
}

std::unique_ptr<KvCache> cache_of(std::initializer_list<uint64_t> hashes, int64_t pages) {
  auto cache = KvCache::create(layouts(hashes), DType::f16, pages);
  EXPECT_TRUE(cache.ok());
  return std::move(cache).value();
}

bool adopts(KvCache& cache, const std::vector<StateLayout>& states) {
  const auto adopted = cache.adopt(states);
  EXPECT_TRUE(adopted.ok());
  return adopted.ok() && adopted.value();
}

/// A sequence that holds `tokens` tokens.
KvPages filled(KvCache& cache, int64_t tokens) {
  KvPages sequence;
  EXPECT_TRUE(cache.reserve(sequence, tokens).ok());
  cache.written(sequence, tokens);
  return sequence;
}

TEST(KvCache, PagesOfAReleasedSequenceAreUsedAgain) {
  auto cache = cache_of({1, 2}, 4);
  KvPages first = filled(*cache, 4 * KvCache::kPageTokens);
  const std::set<int32_t> pages(first.pages.begin(), first.pages.end());
  EXPECT_EQ(pages.size(), 4U);
  EXPECT_EQ(cache->pages_in_use(), 4);
  cache->release(first);
  EXPECT_EQ(cache->pages_in_use(), 0);
  const KvPages second = filled(*cache, 4 * KvCache::kPageTokens);
  EXPECT_EQ(std::set<int32_t>(second.pages.begin(), second.pages.end()), pages);
}

TEST(KvCache, FullIsAnErrorThatLeavesTheSequenceAsItWas) {
  auto cache = cache_of({1}, 3);
  KvPages a = filled(*cache, 2 * KvCache::kPageTokens), b = filled(*cache, 1);
  const auto grown = cache->reserve(b, 3 * KvCache::kPageTokens);
  ASSERT_FALSE(grown.ok());
  EXPECT_EQ(grown.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(b.pages.size(), 1U);
  EXPECT_EQ(cache->valid_tokens(b), 1);
  cache->release(a);
  EXPECT_TRUE(cache->reserve(b, 3 * KvCache::kPageTokens).ok());
}

TEST(KvCache, StatesOfOnePageDoNotOverlapAndAreWritable) {
  auto cache = cache_of({1, 2, 3}, 40000);
  KvPages sequence = filled(*cache, 40000LL * KvCache::kPageTokens / 100);
  const size_t bytes = kernels::kv_page_bytes(DType::f16, KvCache::kPageTokens, 2, 16);
  for (size_t i = 0; i < 3; ++i)
    for (const int32_t page : sequence.pages) {
      const kernels::PagedKv& kv = cache->states()[i];
      std::memset(kv.base + static_cast<size_t>(page) * kv.page_stride, static_cast<int>(i + 1), bytes);
    }
  for (size_t i = 0; i < 3; ++i)
    for (const int32_t page : sequence.pages) {
      const kernels::PagedKv& kv = cache->states()[i];
      const std::byte* at = kv.base + static_cast<size_t>(page) * kv.page_stride;
      EXPECT_EQ(at[0], std::byte(i + 1));
      EXPECT_EQ(at[bytes - 1], std::byte(i + 1));
    }
}

TEST(KvCache, AnEditKeepsWhatItsHashesKeep) {
  auto cache = cache_of({1, 2, 3}, 8);
  KvPages sequence = filled(*cache, 50);
  EXPECT_TRUE(cache->would_keep(layouts({1, 2}), sequence)) << "the last layer bypassed";
  EXPECT_FALSE(cache->would_keep(layouts({1, 30}), sequence)) << "the second layer bypassed";
  ASSERT_TRUE(adopts(*cache, layouts({1, 2})));
  EXPECT_EQ(cache->valid_tokens(sequence), 50);
  ASSERT_TRUE(cache->reserve(sequence, 60).ok());
  cache->written(sequence, 60);
  ASSERT_TRUE(adopts(*cache, layouts({1, 2, 3})));
  EXPECT_EQ(cache->valid_tokens(sequence), 50) << "the third layer saw only the first 50 tokens";
  ASSERT_TRUE(adopts(*cache, layouts({1, 30})));
  EXPECT_EQ(cache->valid_tokens(sequence), 0);
  EXPECT_FALSE(adopts(*cache, layouts({1, 2, 3, 4}))) << "more states than a page holds";
}

TEST(KvCache, TruncatedTokensDoNotComeBack) {
  auto cache = cache_of({1, 2}, 8);
  KvPages sequence = filled(*cache, 50);
  cache->truncate(sequence, 20);
  EXPECT_EQ(cache->valid_tokens(sequence), 20);
  EXPECT_EQ(sequence.pages.size(), 1U);
  ASSERT_TRUE(adopts(*cache, layouts({1})));
  ASSERT_TRUE(cache->reserve(sequence, 40).ok());
  cache->written(sequence, 40);
  EXPECT_EQ(cache->valid_tokens(sequence), 40);
  ASSERT_TRUE(adopts(*cache, layouts({1, 2})));
  EXPECT_EQ(cache->valid_tokens(sequence), 20) << "the second state saw no more";
}

TEST(KvCache, ASequenceOfAnotherCacheHoldsNothing) {
  auto before = cache_of({1}, 8), after = cache_of({1}, 8);
  KvPages sequence = filled(*before, 40);
  EXPECT_EQ(after->valid_tokens(sequence), 0);
  ASSERT_TRUE(after->reserve(sequence, 10).ok());
  EXPECT_EQ(after->pages_in_use(), 1);
}

TEST(KvCache, MemoryIsCommittedAsItIsUsed) {
  auto cache = cache_of({1, 2}, 1 << 20);
  EXPECT_EQ(cache->bytes_committed(), 0U);
  KvPages sequence = filled(*cache, 1);
  EXPECT_GT(cache->bytes_committed(), 0U);
  EXPECT_LE(cache->bytes_committed(), size_t{16} << 20);
}

TEST(KvCache, TheSparePageIsNoTexts) {
  auto cache = cache_of({1, 2}, 4);
  EXPECT_FALSE(cache->spare_page()) << "nothing was committed yet";
  KvPages sequence = filled(*cache, 2 * KvCache::kPageTokens);
  const auto spare = cache->spare_page();
  ASSERT_TRUE(spare);
  EXPECT_EQ(cache->spare_page(), spare) << "one is enough";
  EXPECT_EQ(cache->pages_in_use(), 2);
  ASSERT_TRUE(cache->reserve(sequence, 3 * KvCache::kPageTokens).ok());
  EXPECT_THAT(sequence.pages, testing::Not(testing::Contains(*spare)));
  cache->release(sequence);
  sequence = filled(*cache, 3 * KvCache::kPageTokens);
  EXPECT_THAT(sequence.pages, testing::Not(testing::Contains(*spare)));
}

TEST(KvCache, TheSparePageGoesToATextThatFindsNone) {
  auto cache = cache_of({1}, 3);
  KvPages sequence = filled(*cache, KvCache::kPageTokens);
  ASSERT_TRUE(cache->spare_page());
  ASSERT_TRUE(cache->reserve(sequence, 3 * KvCache::kPageTokens).ok()) << "the limit is all texts'";
  EXPECT_EQ(cache->pages_in_use(), 3);
  EXPECT_FALSE(cache->spare_page()) << "none is left";
  KvPages other;
  EXPECT_FALSE(cache->reserve(other, 1).ok());
  cache->release(sequence);
  EXPECT_TRUE(cache->spare_page());
}

std::vector<int32_t> counting(int64_t count, int32_t from = 0) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

/// A sequence that read `tokens`, which others may share.
KvPages read_by(KvCache& cache, const std::vector<int32_t>& tokens) {
  KvPages sequence;
  const auto count = static_cast<int64_t>(tokens.size());
  cache.share(sequence, tokens);
  EXPECT_TRUE(cache.reserve(sequence, count).ok());
  cache.written(sequence, count, tokens);
  return sequence;
}

/// How many of these tokens a new sequence would find.
int64_t found(KvCache& cache, const std::vector<int32_t>& tokens) {
  KvPages sequence;
  cache.share(sequence, tokens);
  const int64_t valid = cache.valid_tokens(sequence);
  cache.release(sequence);
  return valid;
}

TEST(KvCache, WhatAnEndedSequenceHeldIsThereForTheNextThatBeginsAlike) {
  auto cache = cache_of({1, 2}, 16);
  KvPages ended = read_by(*cache, counting(70));
  const std::vector<int32_t> pages = ended.pages;
  cache->release(ended);
  EXPECT_EQ(cache->pages_in_use(), 0) << "kept is not in use";
  EXPECT_EQ(found(*cache, counting(40, 5)), 0) << "begins otherwise";
  KvPages next;
  cache->share(next, counting(100));
  EXPECT_EQ(cache->valid_tokens(next), 64) << "whole pages";
  EXPECT_EQ(next.pages, std::vector<int32_t>(pages.begin(), pages.begin() + 2));
  EXPECT_EQ(cache->pages_in_use(), 2);
}

TEST(KvCache, APageIsTheSameOnlyAfterTheSameTokens) {
  auto cache = cache_of({1}, 16);
  std::vector<int32_t> one = counting(32), other = counting(32, 500);
  const std::vector<int32_t> middle = counting(32, 100);
  one.insert(one.end(), middle.begin(), middle.end());
  other.insert(other.end(), middle.begin(), middle.end());
  const KvPages first = read_by(*cache, one), second = read_by(*cache, other);
  EXPECT_EQ(cache->pages_in_use(), 4);
  KvPages again;
  cache->share(again, other);
  EXPECT_EQ(again.pages, second.pages);
}

TEST(KvCache, ALivingSequenceIsSharedAsFarAsItHasRead) {
  auto cache = cache_of({1}, 16);
  KvPages writing = read_by(*cache, counting(40));
  EXPECT_EQ(found(*cache, counting(96)), 32);
  ASSERT_TRUE(cache->reserve(writing, 70).ok());
  cache->written(writing, 70, counting(70));
  EXPECT_EQ(found(*cache, counting(96)), 64);
  KvPages alone;
  ASSERT_TRUE(cache->reserve(alone, 64).ok());
  cache->written(alone, 64);
  cache->release(alone);
  EXPECT_EQ(cache->pages_in_use(), 3) << "what is read for nobody else is not kept";
}

TEST(KvCache, APageThatAnotherHoldsIsGivenUpNotWrittenAnew) {
  auto cache = cache_of({1}, 16);
  KvPages first = read_by(*cache, counting(96)), second = read_by(*cache, counting(64));
  EXPECT_EQ(second.pages[1], first.pages[1]);
  cache->truncate(second, 40);
  EXPECT_EQ(cache->valid_tokens(second), 32) << "the half page is read again into a page of its own";
  ASSERT_TRUE(cache->reserve(second, 64).ok());
  EXPECT_EQ(second.pages[0], first.pages[0]);
  EXPECT_NE(second.pages[1], first.pages[1]);
  cache->release(second);
  cache->truncate(first, 40);
  EXPECT_EQ(cache->valid_tokens(first), 40) << "now it is the only one";
  EXPECT_EQ(found(*cache, counting(96)), 32) << "and may write into the page";
}

TEST(KvCache, WhatIsKeptGivesWayWhenTheCacheIsFull) {
  auto cache = cache_of({1}, 8);
  for (int32_t text = 0; text < 3; ++text) {
    KvPages ended = read_by(*cache, counting(64, 1000 * text));
    cache->release(ended);
  }
  EXPECT_EQ(found(*cache, counting(64, 2000)), 64);
  EXPECT_EQ(found(*cache, counting(64)), 0) << "a quarter of the cache at most";
  const KvPages all = filled(*cache, 8 * KvCache::kPageTokens);
  EXPECT_EQ(cache->pages_in_use(), 8);
  EXPECT_EQ(found(*cache, counting(64, 2000)), 0);
}

TEST(KvCache, WhatWasUsedLeastRecentlyGoesFirstAndTheEndOfATextBeforeItsBeginning) {
  auto cache = cache_of({1}, 16);
  KvPages old = read_by(*cache, counting(96)), recent = read_by(*cache, counting(64, 1000));
  cache->release(old);
  cache->release(recent);
  EXPECT_EQ(found(*cache, counting(96)), 64) << "five pages ended, four are kept";
  EXPECT_EQ(found(*cache, counting(64, 1000)), 64);
  KvPages third = read_by(*cache, counting(64, 2000));
  cache->release(third);
  EXPECT_EQ(found(*cache, counting(64)), 0) << "was looked at before the other";
  EXPECT_EQ(found(*cache, counting(64, 1000)), 64);
}

TEST(KvCache, WhatIsKeptIsWorthNothingAfterAnEditOfItsStates) {
  auto cache = cache_of({1, 2}, 16);
  KvPages ended = read_by(*cache, counting(64));
  cache->release(ended);
  ASSERT_TRUE(adopts(*cache, layouts({1, 20})));
  EXPECT_EQ(found(*cache, counting(64)), 0);
  KvPages again = read_by(*cache, counting(64));
  EXPECT_EQ(found(*cache, counting(64)), 64) << "the page that holds the new numbers is found";
  cache->release(again);
  EXPECT_EQ(filled(*cache, 16 * KvCache::kPageTokens).pages.size(), 16U) << "no page is lost";
}

/// States that keep records, of 100 numbers each.
std::vector<StateLayout> records(std::initializer_list<uint64_t> hashes) {
  std::vector<StateLayout> states;
  for (const uint64_t hash : hashes) states.push_back({hash, compile::StateForm::record(100)});
  return states;
}

std::unique_ptr<KvCache> records_of(std::initializer_list<uint64_t> hashes, int64_t pages = 16) {
  auto cache = KvCache::create(records(hashes), DType::f16, pages);
  EXPECT_TRUE(cache.ok());
  return std::move(cache).value();
}

TEST(KvCacheRecords, AreThereAtTheLengthLastWrittenAndAtTheEndsOfPages) {
  auto cache = records_of({1});
  KvPages sequence = filled(*cache, 70);
  EXPECT_EQ(cache->valid_tokens(sequence), 70);
  EXPECT_EQ(cache->valid_tokens(sequence, 69), 64) << "the record is after token 70";
  EXPECT_EQ(cache->valid_tokens(sequence, 64), 64);
  EXPECT_EQ(cache->valid_tokens(sequence, 63), 32);
  EXPECT_EQ(cache->valid_tokens(sequence, 31), 0);
}

TEST(KvCacheRecords, ArePagesOfFloat32ThatDoNotOverlap) {
  auto cache = KvCache::create(std::vector<StateLayout>{{1, compile::StateForm::record(100)},
                                                        {2, compile::StateForm::per_token(2, 16)},
                                                        {3, compile::StateForm::record(7)}},
                               DType::q8_0, 8);
  ASSERT_FALSE(cache.ok()) << "heads of 16 are no blocks";
  EXPECT_THAT(cache.error().to_string(), testing::HasSubstr("2 heads of 16"));
  cache = KvCache::create(std::vector<StateLayout>{{1, compile::StateForm::record(100)},
                                                   {2, compile::StateForm::per_token(2, 16)},
                                                   {3, compile::StateForm::record(7)}},
                          DType::f16, 8);
  ASSERT_TRUE(cache.ok());
  const size_t bytes[] = {400, 2 * 32 * 2 * 16 * 2, 28};
  std::set<size_t> offsets;
  for (size_t i = 0; i < 3; ++i) {
    const kernels::PagedKv& state = (*cache)->states()[i];
    EXPECT_EQ(state.dtype, i == 1 ? DType::f16 : DType::f32);
    const auto offset = static_cast<size_t>(state.base - (*cache)->states()[0].base);
    EXPECT_LE(offset + bytes[i], state.page_stride);
    for (const size_t before : offsets) EXPECT_GE(offset, before + 28);
    offsets.insert(offset);
  }
  EXPECT_EQ(offsets.size(), 3U);
}

TEST(KvCacheRecords, ATruncatedTextGoesOnFromTheBeginningOfThePage) {
  auto cache = records_of({1});
  KvPages sequence = filled(*cache, 70);
  cache->truncate(sequence, 70);
  EXPECT_EQ(cache->valid_tokens(sequence), 70) << "nothing was cut off";
  cache->truncate(sequence, 66);
  EXPECT_EQ(cache->valid_tokens(sequence), 64);
  cache->truncate(sequence, 64);
  EXPECT_EQ(cache->valid_tokens(sequence), 64);
  cache->truncate(sequence, 33);
  EXPECT_EQ(cache->valid_tokens(sequence), 32);
}

TEST(KvCacheRecords, BesideKeysAndValuesAllGoOnFromOneToken) {
  auto cache = KvCache::create(std::vector<StateLayout>{{1, compile::StateForm::per_token(2, 16)},
                                                        {2, compile::StateForm::record(100)}},
                               DType::f16, 8);
  ASSERT_TRUE(cache.ok());
  KvPages sequence = filled(**cache, 50);
  (*cache)->truncate(sequence, 45);
  EXPECT_EQ((*cache)->valid_tokens(sequence), 32) << "keys are there, the record is not";
}

TEST(KvCacheRecords, AStepThatFailsLeavesThoseOfThePageBefore) {
  auto cache = records_of({1});
  KvPages sequence = filled(*cache, 40);
  ASSERT_TRUE(cache->reserve(sequence, 80).ok());
  cache->writing(sequence, 40, 45);
  EXPECT_EQ(cache->valid_tokens(sequence), 32) << "what the page holds is not known";
  cache->written(sequence, 45);
  EXPECT_EQ(cache->valid_tokens(sequence), 45);
}

TEST(KvCacheRecords, APageThatIsWrittenIsFoundOnlyWhenItIsFull) {
  auto cache = records_of({1});
  const std::vector<int32_t> text = counting(64);
  KvPages sequence = read_by(*cache, text);
  EXPECT_EQ(found(*cache, text), 64);
  ASSERT_TRUE(cache->reserve(sequence, 64).ok());  // the last token once more
  ASSERT_EQ(cache->valid_tokens(sequence, 63), 32);
  cache->writing(sequence, 32, 40);
  cache->written(sequence, 40, text);
  EXPECT_EQ(found(*cache, text), 32) << "the record of the second page is after token 40";
  cache->writing(sequence, 40, 64);
  cache->written(sequence, 64, text);
  EXPECT_EQ(found(*cache, text), 64);
}

/// States that keep summaries, of 100 numbers each.
std::unique_ptr<KvCache> summaries_of(std::initializer_list<uint64_t> hashes, int64_t pages = 64) {
  std::vector<StateLayout> states;
  for (const uint64_t hash : hashes) states.push_back({hash, compile::StateForm::summary(100)});
  auto cache = KvCache::create(states, DType::f16, pages);
  EXPECT_TRUE(cache.ok());
  return std::move(cache).value();
}

/// The sequence reads on to `to` tokens of a text that others may share.
kernels::RecordUse read_on(KvCache& cache, KvPages& sequence, int64_t to) {
  EXPECT_TRUE(cache.reserve(sequence, to).ok());
  const int64_t from = cache.valid_tokens(sequence, to - 1);
  const kernels::RecordUse use = cache.writing(sequence, from, to);
  cache.written(sequence, to, counting(to));
  return use;
}

TEST(KvCacheSummaries, AreThereWhereTheTextIsAndWhereACopyWasLeft) {
  auto cache = summaries_of({1, 2});
  KvPages sequence;
  const kernels::RecordUse use = read_on(*cache, sequence, 70);
  EXPECT_EQ(use.before, -1);
  EXPECT_EQ(use.middle_tokens, 64);
  EXPECT_NE(use.middle, use.after);
  EXPECT_EQ(cache->valid_tokens(sequence), 70);
  EXPECT_EQ(cache->valid_tokens(sequence, 69), 64);
  EXPECT_EQ(cache->valid_tokens(sequence, 63), 0);
  const kernels::RecordUse next = read_on(*cache, sequence, 71);
  EXPECT_EQ(next.before, use.after) << "goes on in place";
  EXPECT_EQ(next.after, use.after);
  EXPECT_EQ(next.middle, -1);
  cache->truncate(sequence, 68);
  EXPECT_EQ(cache->valid_tokens(sequence), 64);
  const kernels::RecordUse again = read_on(*cache, sequence, 80);
  EXPECT_EQ(again.before, use.middle);
  EXPECT_EQ(again.after, use.after) << "the copy stays";
}

TEST(KvCacheSummaries, ATextHasFewAndGivesThemBack) {
  auto cache = summaries_of({1});
  for (int i = 0; i < 3; ++i) {
    KvPages sequence;
    for (int64_t tokens = 50; tokens < 1900; tokens += 50) read_on(*cache, sequence, tokens);
    for (int64_t tokens = 1851; tokens < 1900; ++tokens) read_on(*cache, sequence, tokens);
    EXPECT_LE(cache->summaries_committed(), 3 + i * KvCache::kLeft);
    const int64_t half = cache->valid_tokens(sequence, 1700);
    EXPECT_GE(half, 1900 / 4) << "one is left on the way";
    cache->release(sequence);
    EXPECT_EQ(sequence.record, -1);
  }
}

TEST(KvCacheSummaries, AStepThatFailsLeavesWhatWasCopied) {
  auto cache = summaries_of({1});
  KvPages sequence;
  read_on(*cache, sequence, 40);
  ASSERT_TRUE(cache->reserve(sequence, 80).ok());
  cache->writing(sequence, 40, 80);
  EXPECT_EQ(cache->valid_tokens(sequence), 32);
  cache->written(sequence, 80);
  EXPECT_EQ(cache->valid_tokens(sequence), 80);
  EXPECT_EQ(cache->valid_tokens(sequence, 79), 64);
}

TEST(KvCacheSummaries, OthersBeginWithTheCopyAndWriteTheirOwn) {
  auto cache = summaries_of({1});
  KvPages first, second;
  const kernels::RecordUse use = read_on(*cache, first, 100);
  cache->share(second, counting(120));
  EXPECT_EQ(cache->valid_tokens(second), 96);
  const kernels::RecordUse next = read_on(*cache, second, 120);
  EXPECT_EQ(next.before, use.middle);
  EXPECT_NE(next.after, use.after);
  EXPECT_EQ(cache->valid_tokens(first), 100);
  EXPECT_EQ(cache->valid_tokens(first, 99), 96) << "what another reads is not taken away";
  cache->release(first);
  cache->release(second);
  EXPECT_EQ(found(*cache, counting(100)), 96) << "kept for the next";
}

TEST(KvCacheSummaries, WhatAnotherVersionWroteIsNotTakenForItsOwn) {
  auto cache = summaries_of({1, 2});
  KvPages sequence;
  read_on(*cache, sequence, 100);
  const auto states = [](uint64_t second) {
    return std::vector<StateLayout>{{1, compile::StateForm::summary(100)},
                                    {second, compile::StateForm::summary(100)}};
  };
  ASSERT_TRUE(adopts(*cache, states(7)));
  EXPECT_EQ(cache->valid_tokens(sequence), 0);
  read_on(*cache, sequence, 40);
  EXPECT_EQ(cache->valid_tokens(sequence), 40);
  read_on(*cache, sequence, 99);
  EXPECT_EQ(cache->valid_tokens(sequence, 98), 96);
  ASSERT_TRUE(adopts(*cache, states(2)));
  EXPECT_EQ(cache->valid_tokens(sequence), 0);
}

TEST(KvCacheRecords, TwoSequencesNeverWriteIntoOnePage) {
  auto cache = records_of({1});
  const std::vector<int32_t> text = counting(70);
  KvPages first = read_by(*cache, text), second = read_by(*cache, text);
  for (size_t page = 0; page < 2; ++page) EXPECT_EQ(first.pages[page], second.pages[page]);
  ASSERT_TRUE(adopts(*cache, records({10})));  // another version: both read again
  ASSERT_TRUE(cache->reserve(first, 70).ok());
  ASSERT_TRUE(cache->reserve(second, 70).ok());
  for (size_t page = 0; page < 3; ++page) EXPECT_NE(first.pages[page], second.pages[page]);
  EXPECT_EQ(cache->pages_in_use(), 6);
}

TEST(KvCacheRecords, TheLastTokenOfASharedTextIsReadIntoAPageOfItsOwn) {
  auto cache = records_of({1});
  const std::vector<int32_t> text = counting(64);
  KvPages first = read_by(*cache, text);
  const std::vector<int32_t> pages = first.pages;
  KvPages second;
  cache->share(second, text);
  ASSERT_TRUE(cache->reserve(second, 64).ok());
  EXPECT_EQ(cache->valid_tokens(second, 63), 32);
  EXPECT_EQ(second.pages[0], pages[0]);
  EXPECT_NE(second.pages[1], pages[1]);
  EXPECT_EQ(first.pages, pages);
}

TEST(KvCacheRecords, AnEditAndItsUndoKeepThem) {
  auto cache = records_of({1, 2});
  KvPages sequence = filled(*cache, 50);
  ASSERT_TRUE(adopts(*cache, records({1})));  // the second layer bypassed
  EXPECT_EQ(cache->valid_tokens(sequence), 50);
  ASSERT_TRUE(cache->reserve(sequence, 60).ok());
  cache->writing(sequence, 50, 60);
  cache->written(sequence, 60);
  EXPECT_EQ(cache->kept_tokens(records({1, 2}), sequence), 32) << "50 there, 60 here: the page's beginning";
  ASSERT_TRUE(adopts(*cache, records({1, 2})));
  EXPECT_EQ(cache->valid_tokens(sequence), 32);
}

}  // namespace
}  // namespace orrery::runtime
