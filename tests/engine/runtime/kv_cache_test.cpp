#include "engine/runtime/kv_cache.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <set>

namespace orrery::runtime {
namespace {

std::vector<StateLayout> layouts(std::initializer_list<uint64_t> hashes) {
  std::vector<StateLayout> states;
  for (const uint64_t hash : hashes) states.push_back({hash, 2, 16});
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

std::vector<int32_t> counting(int64_t count, int32_t from = 0) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

TEST(KvCache, WhatAnEndedSequenceHeldIsThereForTheNextThatBeginsAlike) {
  auto cache = cache_of({1, 2}, 16);
  KvPages ended = filled(*cache, 70);
  const std::vector<int32_t> pages = ended.pages;
  cache->retire(ended, counting(70));
  EXPECT_EQ(cache->pages_in_use(), 0) << "kept is not in use";
  EXPECT_EQ(cache->kept_prefix(counting(10, 5)).tokens, 0) << "begins otherwise";
  const KvCache::Prefix prefix = cache->kept_prefix(counting(100));
  ASSERT_EQ(prefix.tokens, 64) << "whole pages";
  KvPages next;
  cache->share(next, *prefix.pages, prefix.tokens);
  EXPECT_EQ(cache->valid_tokens(next), 64);
  EXPECT_EQ(next.pages, std::vector<int32_t>(pages.begin(), pages.begin() + 2));
  EXPECT_EQ(cache->pages_in_use(), 2);
}

TEST(KvCache, APageThatAnotherHoldsIsGivenUpNotWrittenAnew) {
  auto cache = cache_of({1}, 16);
  KvPages first = filled(*cache, 96), second;
  cache->share(second, first, 64);
  cache->truncate(second, 40);
  EXPECT_EQ(cache->valid_tokens(second), 32) << "the half page is read again into a page of its own";
  ASSERT_TRUE(cache->reserve(second, 64).ok());
  EXPECT_EQ(second.pages[0], first.pages[0]);
  EXPECT_NE(second.pages[1], first.pages[1]);
  cache->release(second);
  cache->truncate(first, 40);
  EXPECT_EQ(cache->valid_tokens(first), 40) << "now it is the only one";
}

TEST(KvCache, WhatIsKeptGivesWayWhenTheCacheIsFull) {
  auto cache = cache_of({1}, 8);
  for (int32_t text = 0; text < 3; ++text) {
    KvPages ended = filled(*cache, 64);
    cache->retire(ended, counting(64, 1000 * text));
  }
  EXPECT_EQ(cache->kept_prefix(counting(64, 2000)).tokens, 64);
  EXPECT_EQ(cache->kept_prefix(counting(64)).tokens, 0) << "a quarter of the cache at most";
  const KvPages all = filled(*cache, 8 * KvCache::kPageTokens);
  EXPECT_EQ(cache->pages_in_use(), 8);
  EXPECT_EQ(cache->kept_prefix(counting(64, 2000)).tokens, 0);
}

TEST(KvCache, WhatIsKeptIsWorthNothingAfterAnEditOfItsStates) {
  auto cache = cache_of({1, 2}, 16);
  KvPages ended = filled(*cache, 64);
  cache->retire(ended, counting(64));
  ASSERT_TRUE(adopts(*cache, layouts({1, 20})));
  EXPECT_EQ(cache->kept_prefix(counting(64)).tokens, 0);
}

}  // namespace
}  // namespace orrery::runtime
