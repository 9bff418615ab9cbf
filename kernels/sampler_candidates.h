// The tokens that may still be drawn, with their logits. Sorting a vocabulary takes longer than a small model
// takes for a token, so that only the most likely are put in order, as many as are needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace orrery::kernels {

inline constexpr double kLargestLogit = std::numeric_limits<float>::max();

struct Candidate {
  double logit;
  int32_t id;
};

/// Most likely first; ties go to the lower id.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

/// What turns a logit into its probability among the candidates.
struct CandidateSoftmax {
  double largest, sum;
  double operator()(const Candidate& c) const { return std::exp(c.logit - largest) / sum; }
  /// The logit of a probability.
  double logit_of(double p) const { return largest + std::log(sum * p); }
};

class Candidates {
 public:
  void reserve(size_t count) { all_.reserve(count); }
  void add(const Candidate& candidate) { all_.push_back(candidate); }
  size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  /// The i-th in the order of likelihood.
  const Candidate& ranked(size_t i) {
    if (i >= sorted_) sort_first(std::max({kFew, 8 * sorted_, i + 1}));
    return all_[i];
  }

  double largest() const {
    double largest = -kLargestLogit;
    for (const Candidate& c : all_) largest = std::max(largest, c.logit);
    return largest;
  }
  CandidateSoftmax softmax() const {
    CandidateSoftmax p{largest(), 0};
    for (const Candidate& c : all_) p.sum += std::exp(c.logit - p.largest);
    return p;
  }
  /// -sum p log p = log sum - sum p (l - largest), nats
  double entropy(const CandidateSoftmax& p) const {
    double mean = 0;
    for (const Candidate& c : all_) mean += std::exp(c.logit - p.largest) * (c.logit - p.largest);
    return std::max(std::log(p.sum) - mean / p.sum, 0.0);
  }

  /// New logits; `keeps_order` when none comes before another that it came behind.
  template <class Change>
  void change(bool keeps_order, Change change) {
    for (Candidate& c : all_) change(c);
    if (!keeps_order) sorted_ = 0;
  }

  void keep_likeliest(size_t count) {
    if (count >= all_.size()) return;
    sort_first(count);
    all_.resize(count);
  }
  /// Takes away what lies below `least`, but never the most likely.
  void keep_from(double least) {
    least = std::min(least, largest());
    std::erase_if(all_, [&](const Candidate& c) { return c.logit < least; });
    sorted_ = std::min(sorted_, all_.size());
  }
  /// Keeps, in the order of likelihood, as many as it takes until their mass reaches `mass`.
  void keep_mass(double mass) {
    const size_t kept = sort_to_mass(mass, softmax(), sorted_, before);
    all_.resize(kept);
    sorted_ = kept;
  }
  /// The same in the order of the distance from a logit.
  void keep_mass_near(double mass, double center, const CandidateSoftmax& p) {
    all_.resize(sort_to_mass(mass, p, 0, [&](const Candidate& a, const Candidate& b) {
      const double of_a = std::abs(center - a.logit), of_b = std::abs(center - b.logit);
      return of_a != of_b ? of_a < of_b : before(a, b);
    }));
    sorted_ = 0;
  }
  /// Of those whose logit is at least `least`, only the least likely stays.
  void drop_top(double least) {
    std::optional<Candidate> last;
    for (const Candidate& c : all_)
      if (c.logit >= least && (!last || before(*last, c))) last = c;
    if (!last) return;
    std::erase_if(all_, [&](const Candidate& c) { return c.logit >= least && c.id != last->id; });
    sorted_ = 0;
  }

 private:
  static constexpr size_t kFew = 64;  // sorted at first where it is not known how many are needed

  void sort_first(size_t count) {
    count = std::min(count, all_.size());
    if (sorted_ >= count) return;
    sort_range(sorted_, count, before);
    sorted_ = count;
  }

  /// Of what is behind `from`, puts what comes first by `less` into its order, up to `count`.
  template <class Less>
  void sort_range(size_t from, size_t count, Less less) {
    const auto at = [&](size_t i) { return all_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (count - from <= 2 * kFew) return std::partial_sort(at(from), at(count), all_.end(), less);
    if (count < all_.size()) std::nth_element(at(from), at(count), all_.end(), less);
    std::sort(at(from), at(count), less);
  }

  /// How many, in the order of `less`, reach the mass, one at least. They are in order then, as the first
  /// `sorted` were before.
  template <class Less>
  size_t sort_to_mass(double wanted, const CandidateSoftmax& p, size_t sorted, Less less) {
    double mass = 0;
    size_t count = 0;
    while (count < all_.size() && (count == 0 || mass < wanted)) {
      if (count == sorted) {
        const size_t more = std::min(std::max(kFew, 8 * sorted), all_.size());
        sort_range(sorted, more, less);
        sorted = more;
      }
      mass += p(all_[count++]);
    }
    return count;
  }

  std::vector<Candidate> all_;
  size_t sorted_ = 0;  // so many are the most likely, in order
};

}  // namespace orrery::kernels
