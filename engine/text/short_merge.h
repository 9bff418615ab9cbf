// Byte pair encoding of a few symbols: searching the offers of all neighbours beats a heap of them.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/text/scratch.h"

namespace orrery::text {

/// Joins the neighbours whose offer is the highest, of equal ones the leftmost, until none is left. `symbols`
/// loses those that were joined to the one before.
///   offer_of(left): of symbols left and left + 1
///   join(left, id): symbol left becomes `id`, made of it and the next
template <class Symbols, class OfferOf, class Join>
void merge_best_first(Symbols& symbols, std::vector<Scratch::Offer>& offers, OfferOf offer_of, Join join) {
  const auto refresh = [&](size_t left) {
    offers[left] = left + 1 < symbols.size() ? offer_of(left) : Scratch::Offer{};
  };
  offers.resize(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) refresh(i);
  while (!symbols.empty()) {
    const auto best = std::max_element(
        offers.begin(), offers.end(),
        [](const Scratch::Offer& a, const Scratch::Offer& b) { return a.priority < b.priority; });
    if (best->result < 0) return;
    const auto left = best - offers.begin();
    join(static_cast<size_t>(left), best->result);
    symbols.erase(symbols.begin() + left + 1);
    offers.erase(offers.begin() + left + 1);
    refresh(static_cast<size_t>(left));
    if (left > 0) refresh(static_cast<size_t>(left) - 1);
  }
}

}  // namespace orrery::text
