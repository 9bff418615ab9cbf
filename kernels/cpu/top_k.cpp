// Rows of TopK, fastest first. Rows of the tensor are split over the team; an element is ranked by its key
// (order_key.h) and its index, so that all ranks differ and no sort has to be stable. One row:
//   few of many   the first ranks fill a buffer of twice k; whenever it is full its better half stays, and
//   the
//                 worst of that is a limit which later elements must beat. Keys are compared 64 at a time, so
//                 that a row costs little more than reading it: of random ones few elements beat the limit.
//   up to 32      each is compared with all, which says how many are before it: no branch that is hard to
//   guess else          all are ranked; the first k are selected and sorted, long rows by digits of 11 bits
//   workspace: ranks of a thread, twice as many where all are sorted
//   traffic: an element of src once, with other elements of its cache line where inner is large; values and
//   indices once
#include "kernels/top_k.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/split.h"
#include "kernels/order_key.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kBlock = 64;        // keys that are compared with the limit together
constexpr int64_t kPlaced = 32;       // elements of rows that are small
constexpr int64_t kRadixFrom = 1024;  // ranks from which digits are faster than comparisons
constexpr int64_t kFewer = 4;         // one of so many is few
constexpr int kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

template <class Key>
struct Rank {
  Key key;
  uint32_t index;

  bool operator<(const Rank& other) const {
    if constexpr (sizeof(Key) <= sizeof(uint32_t))
      return whole() < other.whole();  // without a branch
    else
      return key != other.key ? key < other.key : index < other.index;
  }

 private:
  uint64_t whole() const { return static_cast<uint64_t>(key) << 32 | index; }
};

/// The elements of one row, `stride` apart.
template <class Bits>
struct Elements {
  const std::byte* first;
  int64_t stride, count;
  OrderKey<Bits> order;

  Bits bits(int64_t index) const {
    Bits bits;
    std::memcpy(&bits, first + index * stride * static_cast<int64_t>(sizeof(Bits)), sizeof bits);
    return bits;
  }
  Rank<Bits> rank(int64_t index) const { return {order(bits(index)), static_cast<uint32_t>(index)}; }
};

bool are_few(int64_t k, int64_t count) { return count > kBlock && k * kFewer < count; }

/// The first k of many in ranks[0, k); there is room for twice as many and for a block.
template <class Bits>
void find_few(const Elements<Bits>& row, int64_t k, Rank<Bits>* ranks) {
  const int64_t room = std::max(2 * k, kBlock);
  int64_t held = room;
  for (int64_t j = 0; j < room; ++j) ranks[j] = row.rank(j);
  Bits limit = 0;
  const auto keep_best = [&] {
    std::nth_element(ranks, ranks + k - 1, ranks + held);
    limit = ranks[k - 1].key;
    held = k;
  };
  keep_best();
  int64_t begin = room;
  for (; begin + kBlock <= row.count; begin += kBlock) {
    Bits keys[kBlock];
    Bits better = 0;
    if (row.stride == 1) {
      std::memcpy(keys, row.first + begin * static_cast<int64_t>(sizeof(Bits)), sizeof keys);
      for (Bits& key : keys) key = row.order(key);
    } else {
      for (int64_t j = 0; j < kBlock; ++j) keys[j] = row.order(row.bits(begin + j));
    }
    for (const Bits key : keys) better = static_cast<Bits>(better | static_cast<Bits>(key < limit));
    if (better == 0) continue;  // an equal key has a larger index than those that are held
    for (int64_t j = 0; j < kBlock; ++j) {
      if (!(keys[j] < limit)) continue;
      ranks[held++] = {keys[j], static_cast<uint32_t>(begin + j)};
      if (held == room) keep_best();
    }
  }
  for (; begin < row.count; ++begin) {
    const Rank<Bits> rank = row.rank(begin);
    if (!(rank.key < limit)) continue;
    ranks[held++] = rank;
    if (held == room) keep_best();
  }
  keep_best();
  std::sort(ranks, ranks + k);
}

/// All of up to kPlaced, in order.
template <class Bits>
void place_all(const Elements<Bits>& row, Rank<Bits>* ranks) {
  Bits keys[kPlaced], numbers[kPlaced];
  for (int64_t j = 0; j < kPlaced; ++j) {
    keys[j] = j < row.count ? row.order(row.bits(j)) : static_cast<Bits>(~Bits{0});  // before none
    numbers[j] = static_cast<Bits>(j);
  }
  for (int64_t j = 0; j < row.count; ++j) {
    const Bits key = keys[j], number = numbers[j];
    Bits before = 0;
    for (int64_t other = 0; other < kPlaced; ++other) {
      const auto is_less = static_cast<Bits>(keys[other] < key);
      const auto is_equal = static_cast<Bits>(keys[other] == key),
                 is_first = static_cast<Bits>(numbers[other] < number);
      before = static_cast<Bits>(before + (is_less | (is_equal & is_first)));
    }
    ranks[before] = {key, static_cast<uint32_t>(j)};
  }
}

/// By their keys, of which equal ones keep their order; the sorted ones are in what is returned.
template <class Bits>
Rank<Bits>* sort_by_digits(Rank<Bits>* ranks, Rank<Bits>* spare, int64_t count) {
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(Bits)); shift += kDigitBits) {
    const auto digit = [&](const Rank<Bits>& rank) {
      return static_cast<size_t>(rank.key >> shift) & (kDigits - 1);
    };
    std::array<int64_t, kDigits + 1> starts{};
    for (int64_t i = 0; i < count; ++i) ++starts[digit(ranks[i]) + 1];
    for (size_t d = 1; d < kDigits; ++d) starts[d] += starts[d - 1];
    for (int64_t i = 0; i < count; ++i) spare[starts[digit(ranks[i])]++] = ranks[i];
    std::swap(ranks, spare);
  }
  return ranks;
}

/// The first k in order, at what is returned.
template <class Bits>
const Rank<Bits>* find(const Elements<Bits>& row, int64_t k, Rank<Bits>* ranks) {
  if (are_few(k, row.count)) {
    find_few(row, k, ranks);
    return ranks;
  }
  if (row.count <= kPlaced) {
    place_all(row, ranks);
    return ranks;
  }
  for (int64_t j = 0; j < row.count; ++j) ranks[j] = row.rank(j);
  if (k >= kRadixFrom) return sort_by_digits(ranks, ranks + row.count, row.count);
  if (k < row.count) std::nth_element(ranks, ranks + k - 1, ranks + row.count);
  std::sort(ranks, ranks + k);
  return ranks;
}

/// Ranks that a thread holds, for any count up to the problem's.
int64_t most_ranks(const TopK::Problem& problem) {
  const int64_t k = std::min(taken(problem, problem.count), problem.count);
  const int64_t most = std::min(problem.count, std::max(kFewer * k, 2 * kBlock));
  return k >= kRadixFrom ? 2 * most : most;
}

size_t bytes_of_thread(const TopK::Problem& problem) {
  const size_t each =
      dtype_info(problem.dtype).block_bytes == 8 ? sizeof(Rank<uint64_t>) : sizeof(Rank<uint32_t>);
  return (static_cast<size_t>(most_ranks(problem)) * each + 63) / 64 * 64;
}

size_t workspace(const TopK::Problem& problem, const Machine&, int threads) {
  return bytes_of_thread(problem) * static_cast<size_t>(std::max(threads, 1));
}

template <class Index, class Bits>
void store(const TopK::Args& args, const Elements<Bits>& row, const Rank<Bits>* ranks, int64_t k,
           int64_t first) {
  auto* indices = static_cast<Index*>(args.indices) + first;
  auto* values = static_cast<std::byte*>(args.values);
  for (int64_t j = 0; j < k; ++j) {
    indices[j * args.inner] = static_cast<Index>(ranks[j].index);
    if (values == nullptr) continue;
    const Bits bits = row.bits(ranks[j].index);
    std::memcpy(values + (first + j * args.inner) * static_cast<int64_t>(sizeof bits), &bits, sizeof bits);
  }
}

template <class Bits>
void run_of(const TopK::Args& args, const Launch& launch) {
  const TopK::Problem& problem = args.problem;
  const OrderKey<Bits> order = order_key<Bits>(problem.dtype, problem.largest);
  const int64_t k = taken(problem, args.count);
  split(launch, args.outer * args.inner, std::max<int64_t>(args.count, 1),
        [&](int64_t begin, int64_t end, int thread) {
          auto* ranks = reinterpret_cast<Rank<Bits>*>(launch.workspace +
                                                      bytes_of_thread(problem) * static_cast<size_t>(thread));
          for (int64_t item = begin; item < end; ++item) {
            const int64_t outer = item / args.inner, inner = item % args.inner;
            const Elements<Bits> row{at(problem.dtype, args.src, outer * args.count * args.inner + inner),
                                     args.inner, args.count, order};
            const Rank<Bits>* found = find(row, k, ranks);
            const int64_t first = outer * k * args.inner + inner;
            if (problem.indices == DType::i64)
              store<int64_t>(args, row, found, k, first);
            else
              store<int32_t>(args, row, found, k, first);
          }
        });
}

void run(const TopK::Args& args, const Launch& launch) {
  if (args.outer <= 0 || args.count <= 0 || args.inner <= 0) return;
  with_bits(args.problem.dtype, [&](auto bits) { run_of<decltype(bits)>(args, launch); });
}

std::string supports(const TopK::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.count > std::numeric_limits<uint32_t>::max())
    return "rows of " + std::to_string(problem.count) + "; it takes those that 32 bits count";
  return {};
}

}  // namespace

std::span<const Row<TopK>> top_k_rows() {
  static const Row<TopK> rows[] = {
      {.name = "cpu.select", .supports = supports, .run = run, .workspace = workspace},
      {.name = "cpu.reference", .supports = on_any_machine<TopK, ref::legal>, .run = ref::top_k},
  };
  return rows;
}

}  // namespace orrery::kernels
