// Which device: the CPU, or one of the cards. The text form is what a person writes: "cpu", "cuda:1".
#pragma once

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::kernels {

enum class DeviceKind : uint8_t { cpu, cuda };

struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;  // among those of its kind; 0 for the CPU

  constexpr bool is_cpu() const { return kind == DeviceKind::cpu; }
  /// The CPU first, then cards by index.
  constexpr auto operator<=>(const DeviceId&) const = default;
};

inline constexpr DeviceId kCpuId{};
constexpr DeviceId cuda_id(int index) { return {DeviceKind::cuda, index}; }

inline std::string to_string(DeviceId id) { return id.is_cpu() ? "cpu" : "cuda:" + std::to_string(id.index); }

/// "cpu", or "cuda:N" with N from 0 to 9999 and without leading zeros; nothing for any other text.
inline std::optional<DeviceId> parse_device_id(std::string_view text) {
  constexpr std::string_view kCuda = "cuda:";
  if (text == "cpu") return kCpuId;
  if (!text.starts_with(kCuda)) return std::nullopt;
  text.remove_prefix(kCuda.size());
  if (text.empty() || text.size() > 4 || (text.size() > 1 && text.front() == '0') ||
      text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  int index = 0;
  std::from_chars(text.data(), text.data() + text.size(), index);
  return cuda_id(index);
}

}  // namespace orrery::kernels

template <>
struct std::hash<orrery::kernels::DeviceId> {
  size_t operator()(orrery::kernels::DeviceId id) const noexcept {
    return static_cast<size_t>(id.kind) << 16 ^ static_cast<size_t>(id.index);
  }
};
