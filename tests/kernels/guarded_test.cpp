// The guarded memory of the row tests: one byte too far, either way, is fatal or seen.
#include "tests/kernels/guarded.h"

#include <gtest/gtest-spi.h>

namespace orrery::kernels::testing {
namespace {

std::byte read_at(const std::byte* data, ptrdiff_t offset) {
  return *static_cast<const volatile std::byte*>(data + offset);
}
void write_at(std::byte* data, ptrdiff_t offset) {
  *static_cast<volatile std::byte*>(data + offset) = std::byte{1};
}

TEST(Guarded, one_byte_outside_faults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const ptrdiff_t size : {1, 34, 4096, 5000}) {
    const GuardedBytes after(static_cast<size_t>(size), Guard::after);
    const GuardedBytes before(static_cast<size_t>(size), Guard::before);
    write_at(after.data(), size - 1);
    write_at(before.data(), 0);
    EXPECT_DEATH(read_at(after.data(), size), "");
    EXPECT_DEATH(write_at(after.data(), size), "");
    EXPECT_DEATH(read_at(before.data(), -1), "");
    EXPECT_DEATH(write_at(before.data(), -1), "");
  }
  const GuardedBytes nothing(0, Guard::after);
  EXPECT_DEATH(read_at(nothing.data(), 0), "");
}

TEST(Guarded, writes_on_the_other_side_are_seen) {
  const auto spoil = [](Guard guard, ptrdiff_t offset) {
    const GuardedBytes bytes(100, guard);
    write_at(bytes.data(), 0);
    write_at(bytes.data(), 99);
    EXPECT_TRUE(bytes.intact());
    write_at(bytes.data(), offset);
  };
  EXPECT_NONFATAL_FAILURE(spoil(Guard::after, -1), "a byte outside of 100 was written");
  EXPECT_NONFATAL_FAILURE(spoil(Guard::before, 100), "a byte outside of 100 was written");
}

TEST(Guarded, elements_end_at_the_guard_and_workspaces_are_aligned) {
  const std::vector<float> values = {1, 2, 3};
  for (const Guard guard : kGuards) {
    EXPECT_EQ(Guarded<float>(values, guard).values(), values);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(Workspace(100, guard).data()) % 64, 0U);
  }
  const Guarded<float> after(values, Guard::after);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(after.data() + 3) % static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)),
            0U);
}

}  // namespace
}  // namespace orrery::kernels::testing
