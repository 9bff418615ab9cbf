// A step of attention over made-up sequences: their keys and values, kept in pages (in any order) or packed.
#pragma once

#include <numeric>

#include "kernels/attention.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels::testing {

struct Shape {
  int64_t heads = 4, kv_heads = 2, head_dim = 64;
  DType kv = DType::f16;
  int64_t page_tokens = 16;
  bool causal = true;
  int64_t window = 0;
  float softcap = 0.0F;
  int64_t bias_reach = 0;
  Accuracy accuracy = Accuracy::exact;
};

/// Keys, values and queries of every position of one sequence; the same for a seed whatever the step.
struct Sequence {
  std::vector<float> query, key, value;
  int64_t length;

  Sequence(const Shape& shape, int64_t tokens, uint32_t seed)
      : query(random_floats(static_cast<size_t>(tokens * shape.heads * shape.head_dim), seed)),
        key(random_floats(static_cast<size_t>(tokens * shape.kv_heads * shape.head_dim), seed + 1)),
        value(random_floats(static_cast<size_t>(tokens * shape.kv_heads * shape.head_dim), seed + 2)),
        length(tokens) {}
};

/// Which positions of a sequence a step brings: [end - tokens, end).
struct Part {
  const Sequence* sequence;
  int64_t tokens, end;
};

inline void append_rows(std::vector<float>& to, const std::vector<float>& from, int64_t row, int64_t begin,
                        int64_t end) {
  to.insert(to.end(), from.begin() + begin * row, from.begin() + end * row);
}

/// The operands of one step. All keys before the step's own are in the pages already.
class Step {
 public:
  Step(const Shape& shape, const std::vector<Part>& parts, uint32_t page_seed = 1)
      : shape_(shape), bias_(bias_of(shape)) {
    starts_ = {0};
    for (const Part& part : parts) {
      append_rows(query_, part.sequence->query, shape.heads * shape.head_dim, part.end - part.tokens,
                  part.end);
      append_rows(key_, part.sequence->key, shape.kv_heads * shape.head_dim, part.end - part.tokens,
                  part.end);
      append_rows(value_, part.sequence->value, shape.kv_heads * shape.head_dim, part.end - part.tokens,
                  part.end);
      starts_.push_back(starts_.back() + static_cast<int32_t>(part.tokens));
      lengths_.push_back(static_cast<int32_t>(part.end));
    }
    make_pages(parts, page_seed);
    for (size_t s = 0; s < parts.size(); ++s) append(parts[s], static_cast<int64_t>(s));
  }

  std::vector<float> run(const Row<Attention>& row, Attention::Keys keys = Attention::Keys::paged,
                         int threads = 2, Guard guard = Guard::after) const {
    guard = placed(row, guard);
    const int64_t width = shape_.heads * shape_.head_dim;
    const Guarded<float> query(query_, guard), key(key_, guard), value(value_, guard);
    const Guarded<int32_t> starts(starts_, guard), lengths(lengths_, guard), table(table_, guard);
    const Guarded<float> bias(bias_, guard);
    Guarded<std::byte> memory(memory_, guard);
    Guarded<float> dst(query_.size(), -9.0F, guard);
    Attention::Args args{.problem = problem(keys),
                         .query = query.data(),
                         .query_stride = width,
                         .dst = dst.data(),
                         .dst_stride = width,
                         .scale = 0.3F,
                         .bias = shape_.bias_reach > 0 ? bias.data() : nullptr,
                         .ragged = ragged(),
                         .kv = pages()};
    args.ragged.sequence_starts = starts.data();
    args.ragged.kv_lengths = lengths.data();
    args.ragged.page_table = table.data();
    args.kv.base = memory.data();
    if (keys == Attention::Keys::packed) {
      args.key = key.data();
      args.value = value.data();
      args.key_stride = args.value_stride = shape_.kv_heads * shape_.head_dim;
      args.ragged.page_table = nullptr;
    }
    run_row(row, args.problem, args, threads, guard);
    return dst.values();
  }

  Attention::Problem problem(Attention::Keys keys = Attention::Keys::paged) const {
    return {.keys = keys,
            .kv = keys == Attention::Keys::packed ? DType::f32 : shape_.kv,
            .heads = shape_.heads,
            .kv_heads = shape_.kv_heads,
            .head_dim = shape_.head_dim,
            .tokens = starts_.back(),
            .causal = shape_.causal,
            .window = shape_.window,
            .softcap = shape_.softcap,
            .bias_reach = shape_.bias_reach,
            .accuracy = shape_.accuracy};
  }
  Ragged ragged() const {
    return {.sequence_starts = starts_.data(),
            .kv_lengths = lengths_.data(),
            .page_table = table_.data(),
            .sequences = static_cast<int64_t>(lengths_.size()),
            .max_pages = max_pages_,
            .max_length = longest()};
  }
  PagedKv pages() const {
    return {.base = const_cast<std::byte*>(memory_.data()),
            .page_stride = page_bytes(),
            .dtype = shape_.kv,
            .page_tokens = shape_.page_tokens,
            .kv_heads = shape_.kv_heads,
            .head_dim = shape_.head_dim};
  }
  /// (heads, 2 * bias_reach + 1); empty without a bias.
  static std::vector<float> bias_of(const Shape& shape) {
    const int64_t distances = shape.bias_reach > 0 ? 2 * shape.bias_reach + 1 : 0;
    return random_floats(static_cast<size_t>(shape.heads * distances), 90);
  }
  const std::vector<std::byte>& memory() const { return memory_; }
  const std::vector<int32_t>& starts() const { return starts_; }
  const std::vector<int32_t>& lengths() const { return lengths_; }
  const std::vector<int32_t>& table() const { return table_; }

 private:
  static constexpr size_t kPageGap = 64;  // pages need not lie back to back

  size_t page_bytes() const {
    return kv_page_bytes(shape_.kv, shape_.page_tokens, shape_.kv_heads, shape_.head_dim) + kPageGap;
  }

  /// A bound as the engine gives it: the next power of two.
  int64_t longest() const {
    int64_t bound = 64;
    for (const int32_t length : lengths_)
      while (bound < length) bound *= 2;
    return bound;
  }

  /// Pages in random order, filled with NaN bits: what no key was written to must not be read into a result.
  void make_pages(const std::vector<Part>& parts, uint32_t seed) {
    for (const Part& part : parts) max_pages_ = std::max(max_pages_, (part.end - 1) / shape_.page_tokens + 1);
    table_.resize(parts.size() * static_cast<size_t>(max_pages_));
    std::iota(table_.begin(), table_.end(), 0);
    std::shuffle(table_.begin(), table_.end(), std::mt19937(seed));
    if (!table_.empty()) memory_.assign(table_.size() * page_bytes() - kPageGap, std::byte{0xFF});
  }

  void append(const Part& part, int64_t sequence) {
    const int32_t starts[] = {0, static_cast<int32_t>(part.end)};
    const auto length = static_cast<int32_t>(part.end);
    const int64_t width = shape_.kv_heads * shape_.head_dim;
    const KvAppend::Args args{.key = part.sequence->key.data(),
                              .value = part.sequence->value.data(),
                              .key_stride = width,
                              .value_stride = width,
                              .ragged = {.sequence_starts = starts,
                                         .kv_lengths = &length,
                                         .page_table = table_.data() + sequence * max_pages_,
                                         .sequences = 1,
                                         .max_pages = max_pages_,
                                         .max_length = part.end},
                              .kv = pages()};
    reference_of(kv_append_rows()).run(args, {});
  }

  Shape shape_;
  std::vector<float> query_, key_, value_, bias_;
  std::vector<int32_t> starts_, lengths_, table_;
  std::vector<std::byte> memory_;
  int64_t max_pages_ = 1;
};

}  // namespace orrery::kernels::testing
