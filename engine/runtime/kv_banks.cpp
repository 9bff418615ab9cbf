#include "engine/runtime/kv_banks.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

namespace orrery::runtime {
namespace {

constexpr size_t kSlotAlignment = 256;

size_t aligned_slot(size_t bytes) { return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

/// To and from any memory; by way of the program's where both are cards.
void copy_bytes(const weights::DevicePtr& from, const std::byte* src, const weights::DevicePtr& to,
                std::byte* dst, std::vector<std::byte>& between) {
  if (from) {
    const std::scoped_lock stream(from->stream_mutex());
    from->download(between.data(), src, between.size());
    src = between.data();
  }
  if (to)
    to->upload(dst, src, between.size());
  else
    std::memcpy(dst, src, between.size());
}

}  // namespace

/// A bank for each device that is wanted; says in `places` where each lies.
Result<std::list<KvBanks::Bank>> KvBanks::make_banks(std::span<const Wanted> wanted, std::span<Place> places,
                                                     int64_t max_pages) {
  std::list<Bank> banks;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto bank = std::find_if(banks.begin(), banks.end(),
                             [&](const Bank& known) { return known.device == wanted[i].device; });
    if (bank == banks.end()) bank = banks.insert(bank, Bank{wanted[i].device, {}});
    places[i] = {&*bank, bank->page_bytes, wanted[i].bytes};
    bank->page_bytes += aligned_slot(wanted[i].bytes);
    ++bank->slots;
  }
  for (Bank& bank : banks) {
    if (bank.page_bytes > std::numeric_limits<size_t>::max() / 4 / static_cast<size_t>(max_pages))
      return Error{ErrorCode::out_of_memory, "The KV cache is larger than the address space", "KV cache",
                   "choose a smaller --context"};
    ORRERY_ASSIGN(bank.memory,
                  PageMemory::reserve(bank.page_bytes * static_cast<size_t>(max_pages), bank.device));
  }
  return banks;
}

Result<KvBanks> KvBanks::create(std::span<const Wanted> slots, int64_t max_pages) {
  KvBanks banks;
  banks.max_pages_ = max_pages;
  banks.places_.resize(slots.size());
  ORRERY_ASSIGN(banks.banks_, make_banks(slots, banks.places_, max_pages));
  return banks;
}

Result<void> KvBanks::commit(int64_t pages) {
  for (Bank& bank : banks_) ORRERY_TRY(bank.memory.commit(static_cast<size_t>(pages) * bank.page_bytes));
  committed_ = pages;
  return {};
}

size_t KvBanks::page_bytes() const {
  size_t bytes = 0;
  for (const Bank& bank : banks_) bytes += bank.page_bytes;
  return bytes;
}

bool KvBanks::alive() const {
  return std::all_of(banks_.begin(), banks_.end(), [](const Bank& bank) { return bank.memory.alive(); });
}

bool KvBanks::enter_hole(const weights::DevicePtr& device, Place& place) {
  for (Bank& bank : banks_) {
    if (bank.device != device) continue;
    const auto hole = std::find_if(bank.holes.begin(), bank.holes.end(),
                                   [&](const Hole& free) { return free.bytes == place.bytes; });
    if (hole == bank.holes.end()) continue;
    place = {&bank, hole->offset, hole->bytes};
    bank.holes.erase(hole);
    ++bank.slots;
    return true;
  }
  return false;
}

void KvBanks::leave(const Place& place) {
  --place.bank->slots;
  place.bank->holes.push_back({place.offset, place.bytes});
}

void KvBanks::copy(const Place& from, const Place& to, std::span<const int32_t> pages) {
  if (from.bytes == 0) return;
  std::vector<std::byte> between(from.bytes);
  for (const int32_t page : pages) {
    const auto at = [page](const Place& place) {
      return place.bank->memory.base() + static_cast<size_t>(page) * place.bank->page_bytes + place.offset;
    };
    copy_bytes(from.bank->device, at(from), to.bank->device, at(to), between);
  }
}

Result<void> KvBanks::move(std::span<const Move> moves, std::span<const int32_t> pages) {
  struct Entered {  // leaves again what it entered, unless the move is done
    KvBanks& banks;
    std::vector<Place> places;
    ~Entered() {
      for (const Place& place : places) banks.leave(place);
    }
  } entered{*this, {}};
  std::vector<Place> targets(moves.size());
  std::vector<size_t> without;  // moves that find no hole
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < moves.size(); ++i) {
    targets[i].bytes = places_[moves[i].slot].bytes;
    if (enter_hole(moves[i].to, targets[i])) {
      entered.places.push_back(targets[i]);
      continue;
    }
    without.push_back(i);
    wanted.push_back({targets[i].bytes, moves[i].to});
  }
  std::vector<Place> made(without.size());
  ORRERY_ASSIGN(std::list<Bank> fresh, make_banks(wanted, made, max_pages_));
  for (Bank& bank : fresh) ORRERY_TRY(bank.memory.commit(static_cast<size_t>(committed_) * bank.page_bytes));
  for (size_t k = 0; k < without.size(); ++k) targets[without[k]] = made[k];
  for (size_t i = 0; i < moves.size(); ++i)
    if (moves[i].keep) copy(places_[moves[i].slot], targets[i], pages);
  entered.places.clear();
  banks_.splice(banks_.end(), fresh);
  for (size_t i = 0; i < moves.size(); ++i) {
    leave(places_[moves[i].slot]);
    places_[moves[i].slot] = targets[i];
  }
  banks_.remove_if([](const Bank& bank) { return bank.slots == 0; });
  return {};
}

}  // namespace orrery::runtime
