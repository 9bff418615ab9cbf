#include "kernels/lab/place.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/half.h"

namespace orrery::kernels::lab {

std::byte* Place::put(const void* content, size_t bytes, size_t alignment) {
  std::byte* memory = allocate(content, bytes, alignment);
  (keeping_ ? kept_ : put_).push_back(memory);
  bytes_put_ += bytes;
  return memory;
}

std::byte* Place::keep(const Key& key, const std::function<std::byte*()>& put_it) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return found->second;
  struct Keeping {  // whatever is thrown
    bool& on;
    explicit Keeping(bool& flag) : on(flag) { on = true; }
    ~Keeping() { on = false; }
  } const keeping(keeping_);
  return keys_[key] = put_it();
}

void Place::clear() {
  wait();
  for (std::byte* memory : put_) release(memory);
  put_.clear();
  if (&host() != this) host().clear();
}

void Place::drop() {
  clear();
  for (std::byte* memory : kept_) release(memory);
  kept_.clear();
  keys_.clear();
}

Launch Place::launch(std::byte* workspace) const {
  if (device() != nullptr) return {.workspace = workspace, .stream = device()->stream()};
  return {.team = &team_, .workspace = workspace};
}

uint64_t matrix_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

void HostPlace::get(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

std::byte* HostPlace::allocate(const void* content, size_t bytes, size_t alignment) {
  alignment = std::max<size_t>(alignment, 64);
  auto* memory = static_cast<std::byte*>(
      std::aligned_alloc(alignment, std::max(alignment, (bytes + alignment - 1) / alignment * alignment)));
  if (memory == nullptr) throw std::bad_alloc();
  if (content != nullptr && bytes > 0) std::memcpy(memory, content, bytes);
  return memory;
}

void HostPlace::release(std::byte* memory) { std::free(memory); }

DevicePlace::~DevicePlace() {
  try {
    drop();
  } catch (const DeviceError&) {  // lost: its memory is gone with it
  }
}

void DevicePlace::release(std::byte* memory) {
  if (device_.epoch() == epoch_) device_.release(memory);
}

void DevicePlace::get(void* to, const void* from, size_t bytes) { device_.download(to, from, bytes); }

std::byte* DevicePlace::allocate(const void* content, size_t bytes, size_t) {
  auto* memory = static_cast<std::byte*>(device_.allocate(std::max<size_t>(bytes, 1)));
  if (content != nullptr && bytes > 0) device_.upload(memory, content, bytes);
  return memory;
}

float* put_activations(DType dtype, const std::vector<float>& values, Place& place) {
  if (dtype == DType::f32) return place.put(values);
  std::vector<uint16_t> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(), bf16_from_float);
  return reinterpret_cast<float*>(place.put(halves));
}

std::vector<float> get_activations(DType dtype, const float* memory, int64_t at, int64_t count,
                                   Place& place) {
  if (dtype == DType::f32) return place.get(memory + at, static_cast<size_t>(count));
  const auto halves = place.get(reinterpret_cast<const uint16_t*>(memory) + at, static_cast<size_t>(count));
  std::vector<float> values(halves.size());
  std::transform(halves.begin(), halves.end(), values.begin(), float_from_bf16);
  return values;
}

}  // namespace orrery::kernels::lab
