// Strong integer ids. Never reused within one graph; 0 is "none".
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace orrery {

template <class Tag>
struct Id {
  uint32_t value = 0;
  constexpr bool valid() const { return value != 0; }
  friend constexpr auto operator<=>(Id, Id) = default;
};
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using SequenceId = Id<struct SequenceTag>;

}  // namespace orrery

template <class Tag>
struct std::hash<orrery::Id<Tag>> {
  size_t operator()(orrery::Id<Tag> id) const noexcept { return std::hash<uint32_t>{}(id.value); }
};
