// Slots of a KV cache on two devices. On the test module, whose device memory can be looked into.
#include "engine/runtime/kv_banks.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

#include "engine/runtime/devices.h"

namespace orrery::runtime {
namespace {

constexpr size_t kBytes = 3000;
const std::vector<int32_t> kPages{0, 1, 2, 5};

weights::DevicePtr card(int index = 0) {
  auto opened = open_device(index);
  EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
  return opened.ok() ? opened.value() : nullptr;
}

std::byte* page_of(const KvBanks& banks, size_t slot, int32_t page) {
  return banks.base(slot) + static_cast<size_t>(page) * banks.page_stride(slot);
}

std::byte mark(size_t slot, int32_t page) { return static_cast<std::byte>(slot * 16 + page + 1); }

/// Banks with `slots` slots in the program's memory, eight pages of which are there; each page has its mark.
KvBanks marked(size_t slots) {
  auto made = KvBanks::create(std::vector<KvBanks::Wanted>(slots, {kBytes, nullptr}), 64);
  EXPECT_TRUE(made.ok());
  KvBanks banks = std::move(made).value();
  EXPECT_TRUE(banks.commit(8).ok());
  for (size_t slot = 0; slot < slots; ++slot)
    for (const int32_t page : kPages)
      std::memset(page_of(banks, slot, page), static_cast<int>(mark(slot, page)), kBytes);
  return banks;
}

void expect_marks(const KvBanks& banks, size_t slots) {
  for (size_t slot = 0; slot < slots; ++slot)
    for (const int32_t page : kPages) {
      const std::byte* at = page_of(banks, slot, page);
      EXPECT_EQ(at[0], mark(slot, page)) << "slot " << slot << " page " << page;
      EXPECT_EQ(at[kBytes - 1], mark(slot, page)) << "slot " << slot << " page " << page;
    }
}

TEST(KvBanks, WhatASlotHoldsGoesAlongAndComesBack) {
  KvBanks banks = marked(4);
  const size_t before = banks.page_bytes();
  std::byte* const home = banks.base(1);
  const auto there = card();
  ASSERT_TRUE(banks.move({{{1, there, true}, {2, there, true}}}, kPages).ok());
  EXPECT_EQ(banks.device(1), there);
  EXPECT_EQ(banks.device(0), nullptr);
  expect_marks(banks, 4);
  ASSERT_TRUE(banks.commit(40).ok()) << "and it grows on both sides";
  EXPECT_EQ(page_of(banks, 1, 39)[0], std::byte{0});
  ASSERT_TRUE(banks.move({{{2, nullptr, true}, {1, nullptr, true}}}, kPages).ok());
  expect_marks(banks, 4);
  EXPECT_EQ(banks.page_bytes(), before) << "in the places that were left; the card's are given back";
  EXPECT_THAT((std::vector{banks.base(1), banks.base(2)}), testing::Contains(home));
}

TEST(KvBanks, BetweenTwoCards) {
  KvBanks banks = marked(2);
  const auto first = card(0), second = card(1);
  ASSERT_TRUE(banks.move({{{0, first, true}, {1, first, true}}}, kPages).ok());
  ASSERT_TRUE(banks.move({{{0, second, true}, {1, nullptr, true}}}, kPages).ok());
  EXPECT_EQ(banks.device(0), second);
  expect_marks(banks, 2);
}

TEST(KvBanks, AFailedMoveLeavesAllAsItWas) {
  KvBanks banks = marked(3);
  setenv("ORRERY_FAKE_DEVICE_MB", "0", 1);
  const auto none = card(1);
  unsetenv("ORRERY_FAKE_DEVICE_MB");
  const size_t before = banks.page_bytes();
  const auto moved = banks.move({{{1, none, true}}}, kPages);
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(banks.device(1), nullptr);
  EXPECT_EQ(banks.page_bytes(), before);
  expect_marks(banks, 3);
  ASSERT_TRUE(banks.move({{{1, card(), true}}}, kPages).ok());
  expect_marks(banks, 3);
}

TEST(KvBanks, ARenewedCardTakesItsSlotsAlong) {
  KvBanks banks = marked(2);
  const auto there = card();
  ASSERT_TRUE(banks.move({{{1, there, true}}}, kPages).ok());
  EXPECT_TRUE(banks.alive());
  there->renew();
  EXPECT_FALSE(banks.alive());
}

}  // namespace
}  // namespace orrery::runtime
