// The joins of byte pair encoding. Of a few symbols: searching the offers of all neighbours beats a heap of
// them. Of many: a heap, so that a word's time does not grow with the square of its length.
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

/// The same of symbols that are linked, by a heap of candidates. Those that were joined have length 0 and are
/// passed by.
///   offer_of(left, right): of two symbols
template <class OfferOf>
void merge_by_heap(Scratch& scratch, OfferOf offer_of) {
  auto& symbols = scratch.symbols;
  auto& candidates = scratch.candidates;
  // For the standard heap functions, which keep the greatest first: highest priority, then leftmost.
  const auto later = [](const Scratch::Candidate& a, const Scratch::Candidate& b) {
    return a.priority != b.priority ? a.priority < b.priority : a.position > b.position;
  };
  const auto offer = [&](int32_t position) {
    if (position < 0) return;
    const Scratch::Symbol& left = symbols[static_cast<size_t>(position)];
    if (left.next < 0) return;
    const Scratch::Symbol& right = symbols[static_cast<size_t>(left.next)];
    const Scratch::Offer found = offer_of(left, right);
    if (found.result < 0) return;
    candidates.push_back({found.priority, position, left.length + right.length, found.result});
    std::push_heap(candidates.begin(), candidates.end(), later);
  };
  candidates.clear();
  for (size_t i = 0; i + 1 < symbols.size(); ++i) offer(static_cast<int32_t>(i));
  while (!candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), later);
    const Scratch::Candidate best = candidates.back();
    candidates.pop_back();
    Scratch::Symbol& left = symbols[static_cast<size_t>(best.position)];
    if (left.length == 0 || left.next < 0) continue;  // joined since then
    Scratch::Symbol& right = symbols[static_cast<size_t>(left.next)];
    if (left.length + right.length != best.length) continue;
    left.length = best.length;
    left.id = best.result;
    right.length = 0;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.position;
    offer(left.previous);
    offer(best.position);
  }
}

}  // namespace orrery::text
