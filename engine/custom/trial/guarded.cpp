#include "engine/custom/trial/guarded.h"

#include <sys/mman.h>

#include <array>
#include <new>

namespace orrery::custom::trial {
namespace {

constexpr size_t kPage = 4096, kGuard = 64 * kPage;  // a stride too far is seen, too

std::array<const GuardedTensor*, 64> all{};

}  // namespace

GuardedTensor::GuardedTensor(size_t bytes, Flush flush, std::string label)
    : bytes_(bytes), label_(std::move(label)), inner_((bytes + kPage - 1) / kPage * kPage) {
  void* const pages = mmap(nullptr, inner_ + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<std::byte*>(pages);
  if (inner_ > 0) mprotect(pages_ + kGuard, inner_, PROT_READ | PROT_WRITE);
  data_ = pages_ + kGuard + (flush == Flush::end ? inner_ - bytes : 0);
  while (place_ < all.size() && all[place_]) ++place_;
  if (place_ < all.size()) all[place_] = this;
}

GuardedTensor::~GuardedTensor() {
  if (place_ < all.size()) all[place_] = nullptr;
  munmap(pages_, inner_ + 2 * kGuard);
}

void GuardedTensor::freeze() const {
  if (inner_ > 0) mprotect(pages_ + kGuard, inner_, PROT_READ);
}

const GuardedTensor* GuardedTensor::find(uintptr_t address) {
  for (const GuardedTensor* tensor : all) {
    if (!tensor) continue;
    const auto begin = reinterpret_cast<uintptr_t>(tensor->pages_);
    if (address >= begin && address < begin + tensor->inner_ + 2 * kGuard) return tensor;
  }
  return nullptr;
}

}  // namespace orrery::custom::trial
