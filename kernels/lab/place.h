// Where calls of rows find their operands and run: memory of the host and a team, or a device's memory and
// its stream. Tests have a place of their own, whose operands lie between guards.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "kernels/device.h"
#include "kernels/dtype.h"
#include "kernels/row.h"

namespace orrery::kernels::lab {

class Place {
 public:
  explicit Place(ThreadTeam& team) : team_(team) {}
  virtual ~Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// `bytes` bytes at a multiple of `alignment`, until clear(). `content`: what they hold; null: they are not
  /// defined.
  std::byte* put(const void* content, size_t bytes, size_t alignment);
  template <class T>
  T* put(const std::vector<T>& values) {
    return reinterpret_cast<T*>(put(values.data(), values.size() * sizeof(T), alignof(T)));
  }
  std::byte* put(const std::vector<std::byte>& bytes, DType elements) {
    return put(bytes.data(), bytes.size(), static_cast<size_t>(dtype_info(elements).alignment));
  }
  virtual void get(void* to, const void* from, size_t bytes) = 0;
  template <class T>
  std::vector<T> get(const T* from, size_t count) {
    std::vector<T> values(count);
    get(values.data(), from, count * sizeof(T));
    return values;
  }

  /// What is put here once under a key and then found, until drop(): packed weights that many calls read.
  struct Key {
    uint64_t matrix = 0;  // matrix_number() of its owner
    size_t part = 0, copy = 0;
    const void* form = nullptr;  // the packing; null: as stored
    auto operator<=>(const Key&) const = default;
  };
  std::byte* keep(const Key& key, const std::function<std::byte*()>& put_it);

  /// Frees what was put and not kept, once the work on it is done.
  void clear();
  /// And what was kept.
  void drop();

  /// Where packings are made: on the host.
  virtual Place& host() { return *this; }
  /// Null: the host.
  virtual Device* device() const { return nullptr; }
  /// Returns when all that was launched is done.
  virtual void wait() {}
  ThreadTeam& team() const { return team_; }
  /// For Row::workspace.
  int threads() const { return device() != nullptr ? 0 : team_.size(); }
  /// All bytes that were ever put.
  size_t bytes_put() const { return bytes_put_; }

  Launch launch(std::byte* workspace) const;

 protected:
  virtual std::byte* allocate(const void* content, size_t bytes, size_t alignment) = 0;
  virtual void release(std::byte* memory) = 0;

 private:
  ThreadTeam& team_;
  std::vector<std::byte*> put_, kept_;
  bool keeping_ = false;
  std::map<Key, std::byte*> keys_;
  size_t bytes_put_ = 0;
};

/// Another one each time: what Place::Key tells matrices apart by.
uint64_t matrix_number();

/// Memory of the host, at multiples of 64 bytes and of the alignment.
class HostPlace final : public Place {
 public:
  using Place::Place;
  ~HostPlace() override { drop(); }
  using Place::get;
  void get(void* to, const void* from, size_t bytes) override;

 protected:
  std::byte* allocate(const void* content, size_t bytes, size_t alignment) override;
  void release(std::byte* memory) override;
};

/// Memory of a device. Its calls throw DeviceError.
class DevicePlace final : public Place {
 public:
  /// The team packs, on the host.
  DevicePlace(Device& device, ThreadTeam& team)
      : Place(team), device_(device), epoch_(device.epoch()), host_(team) {}
  ~DevicePlace() override;
  using Place::get;
  void get(void* to, const void* from, size_t bytes) override;
  Place& host() override { return host_; }
  Device* device() const override { return &device_; }
  void wait() override { device_.wait(); }

 protected:
  std::byte* allocate(const void* content, size_t bytes, size_t alignment) override;
  void release(std::byte* memory) override;

 private:
  Device& device_;
  uint64_t epoch_;  // of its memory: a device that was lost has taken it along
  HostPlace host_;
};

/// Activations as f32, or rounded to bf16: how Problem::src and dst tell that they are stored.
float* put_activations(DType dtype, const std::vector<float>& values, Place& place);
/// `count` elements from element `at` on.
std::vector<float> get_activations(DType dtype, const float* memory, int64_t at, int64_t count, Place& place);

}  // namespace orrery::kernels::lab
