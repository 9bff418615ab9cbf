// Where the bytes of a KV cache's slots lie. A bank is a range of pages on one device that holds some of the
// slots side by side: page p of a slot begins at the bank's base + p * its page bytes + the slot's offset. A
// cache begins with a bank on each device that has slots; slots that move later get a bank of their own
// there, or the place that they or others of their size left. A bank that all have left is given back.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "engine/runtime/page_memory.h"

namespace orrery::runtime {

class KvBanks {
 public:
  struct Wanted {
    size_t bytes = 0;           // of one page
    weights::DevicePtr device;  // null: the program's memory
  };
  /// Reserves addresses for `max_pages`, commits nothing.
  static Result<KvBanks> create(std::span<const Wanted> slots, int64_t max_pages);

  /// Memory behind the first `pages` of every slot. out_of_memory leaves what is there.
  Result<void> commit(int64_t pages);

  struct Move {
    size_t slot = 0;
    weights::DevicePtr to;
    bool keep = true;  // what its pages hold goes along
  };
  /// Moves slots to other devices with what `pages` hold of them. A failure leaves all as it was. Nothing may
  /// run on the pages meanwhile. Throws DeviceError.
  Result<void> move(std::span<const Move> moves, std::span<const int32_t> pages);

  std::byte* base(size_t slot) const { return places_[slot].bank->memory.base() + places_[slot].offset; }
  size_t page_stride(size_t slot) const { return places_[slot].bank->page_bytes; }
  const weights::DevicePtr& device(size_t slot) const { return places_[slot].bank->device; }
  /// Of one page of every bank.
  size_t page_bytes() const;
  /// False once a card that holds slots was renewed: what they held is gone.
  bool alive() const;

 private:
  struct Hole {
    size_t offset = 0, bytes = 0;
  };
  struct Bank {
    weights::DevicePtr device;
    PageMemory memory;
    size_t page_bytes = 0, slots = 0;
    std::vector<Hole> holes = {};
  };
  struct Place {
    Bank* bank = nullptr;
    size_t offset = 0, bytes = 0;
  };
  static Result<std::list<Bank>> make_banks(std::span<const Wanted> wanted, std::span<Place> places,
                                            int64_t max_pages);
  static void copy(const Place& from, const Place& to, std::span<const int32_t> pages);
  /// A place on the device that a slot of place.bytes left; false when there is none.
  bool enter_hole(const weights::DevicePtr& device, Place& place);
  void leave(const Place& place);

  std::list<Bank> banks_;
  std::vector<Place> places_;  // by slot
  int64_t max_pages_ = 0, committed_ = 0;
};

}  // namespace orrery::runtime
