#include "kernels/lab/attention_case.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace orrery::kernels::lab {
namespace {

constexpr size_t kPageGap = 64;  // pages need not lie back to back

// Of the largest element.
constexpr double kFloatTolerance = 2e-6;
/// Queries, keys, values and weights of 11 bits, scores of up to 10; of bf16 they have 8.
constexpr double kRoundedTolerance = 3e-3, kBf16Tolerance = 8 * kRoundedTolerance;

/// Rows [begin, end) of `row` elements.
void append_rows(std::vector<float>& to, const std::vector<float>& from, int64_t row, int64_t begin,
                 int64_t end) {
  to.insert(to.end(), from.begin() + begin * row, from.begin() + end * row);
}

}  // namespace

Sequence::Sequence(const AttentionShape& shape, int64_t tokens, uint32_t seed, Distribution distribution)
    : query(random_floats(static_cast<size_t>(tokens * shape.heads * shape.head_dim), seed, 1.0F,
                          distribution)),
      key(random_floats(static_cast<size_t>(tokens * shape.kv_heads * shape.head_dim), seed + 1, 1.0F,
                        distribution)),
      value(random_floats(static_cast<size_t>(tokens * shape.kv_heads * shape.head_dim), seed + 2, 1.0F,
                          distribution)),
      length(tokens) {}

AttentionCase::AttentionCase(const AttentionShape& shape, Attention::Keys keys,
                             const std::vector<SequencePart>& parts, uint32_t page_seed)
    : shape_(shape), bias_(bias_of(shape)) {
  starts_ = {0};
  for (const auto& [sequence, tokens, end] : parts) {
    append_rows(query_, sequence->query, shape.heads * shape.head_dim, end - tokens, end);
    append_rows(key_, sequence->key, shape.kv_heads * shape.head_dim, end - tokens, end);
    append_rows(value_, sequence->value, shape.kv_heads * shape.head_dim, end - tokens, end);
    starts_.push_back(starts_.back() + static_cast<int32_t>(tokens));
    lengths_.push_back(static_cast<int32_t>(end));
  }
  problem = {.keys = keys,
             .kv = keys == Attention::Keys::packed ? DType::f32 : shape.kv,
             .heads = shape.heads,
             .kv_heads = shape.kv_heads,
             .head_dim = shape.head_dim,
             .tokens = starts_.back(),
             .causal = shape.causal,
             .window = shape.window,
             .softcap = shape.softcap,
             .bias_reach = shape.bias_reach,
             .precision = shape.precision,
             .kind = shape.kind,
             .fastmax = shape.fastmax};
  make_pages(parts, page_seed);
  for (size_t s = 0; s < parts.size(); ++s) append(parts[s], static_cast<int64_t>(s));
}

AttentionCase AttentionCase::with_keys(Attention::Keys keys) const {
  AttentionCase other = *this;
  other.problem.keys = keys;
  other.problem.kv = keys == Attention::Keys::packed ? DType::f32 : shape_.kv;
  return other;
}

std::vector<float> AttentionCase::bias_of(const AttentionShape& shape) {
  const int64_t distances = shape.bias_reach > 0 ? 2 * shape.bias_reach + 1 : 0;
  return random_floats(static_cast<size_t>(shape.heads * distances), 90);
}

Call<Attention> AttentionCase::place(const Row<Attention>&, Place& place) const {
  const int64_t width = shape_.heads * shape_.head_dim;
  Call<Attention> call;
  Attention::Args& args = call.args;
  args.problem = problem;
  args.query = put_activations(problem.src, query_, place);
  args.query_stride = args.dst_stride = width;
  args.dst = put_activations(problem.dst, std::vector<float>(query_.size(), -9.0F), place);
  args.scale = shape_.scale;
  args.bias = shape_.bias_reach > 0 ? place.put(bias_) : nullptr;
  args.ragged = ragged();
  args.ragged.sequence_starts = place.put(starts_);
  args.ragged.kv_lengths = place.put(lengths_);
  args.kv = pages();
  args.kv.base = nullptr;
  if (problem.keys == Attention::Keys::packed) {
    args.key = put_activations(problem.src, key_, place);
    args.value = put_activations(problem.src, value_, place);
    args.key_stride = args.value_stride = shape_.kv_heads * shape_.head_dim;
    args.ragged.page_table = nullptr;
  } else {
    args.ragged.page_table = place.put(table_);
    args.kv.base = place.put(memory_);
  }
  call.read = [dst = args.dst, stored = problem.dst, width,
               count = static_cast<int64_t>(query_.size())](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = get_activations(stored, dst, 0, count, from), .cols = width}};
  };
  return call;
}

void AttentionCase::cool(Attention::Args& args, const Row<Attention>&, Place& place, size_t) const {
  if (problem.keys == Attention::Keys::paged) args.kv.base = place.put(memory_);
}

bool AttentionCase::is_cold() const {
  return problem.keys == Attention::Keys::paged && starts_.back() <= static_cast<int32_t>(lengths_.size());
}

std::vector<Expected> AttentionCase::expected(const Roundings& roundings) const {
  const Rounded rounded = roundings[0].activations;
  const double tolerance = rounded == Rounded::no     ? kFloatTolerance
                           : rounded == Rounded::bf16 ? kBf16Tolerance
                                                      : kRoundedTolerance;
  return {{.output = run_reference<AttentionCase>(*this, attention_rows())[0], .tolerance = tolerance}};
}

Work AttentionCase::work() const {
  double pairs = 0, keys = 0;
  for (size_t s = 0; s < lengths_.size(); ++s) {
    const int64_t tokens = starts_[s + 1] - starts_[s];
    if (tokens == 0) continue;
    keys += lengths_[s];
    for (int64_t at = lengths_[s] - tokens; at < lengths_[s]; ++at) {
      const int64_t last = problem.causal ? at + 1 : lengths_[s];
      const int64_t end = problem.window > 0 ? std::min(last, at + problem.window) : last;
      const int64_t begin = problem.window > 0 ? std::max<int64_t>(0, at + 1 - problem.window) : 0;
      pairs += static_cast<double>(end - begin);
    }
  }
  const double kept = 2 * keys * static_cast<double>(problem.kv_heads) *
                      static_cast<double>(row_bytes(problem.kv, problem.head_dim).value_or(0));
  return {.bytes = kept + 8.0 * static_cast<double>(query_.size()),
          .flops = 4 * pairs * static_cast<double>(problem.heads * problem.head_dim)};
}

Ragged AttentionCase::ragged() const {
  return {.sequence_starts = starts_.data(),
          .kv_lengths = lengths_.data(),
          .page_table = table_.data(),
          .sequences = static_cast<int64_t>(lengths_.size()),
          .max_pages = max_pages_,
          .max_length = longest()};
}

PagedKv AttentionCase::pages() const {
  return {.base = const_cast<std::byte*>(memory_.data()),
          .page_stride = page_bytes(),
          .dtype = shape_.kv,
          .page_tokens = shape_.page_tokens,
          .kv_heads = shape_.kv_heads,
          .head_dim = shape_.head_dim};
}

size_t AttentionCase::page_bytes() const {
  return kv_page_bytes(shape_.kv, shape_.page_tokens, shape_.kv_heads, shape_.head_dim) + kPageGap;
}

/// A bound as the engine gives it: the next power of two.
int64_t AttentionCase::longest() const {
  int64_t bound = 64;
  for (const int32_t length : lengths_)
    while (bound < length) bound *= 2;
  return bound;
}

/// Filled with NaN bits: what no key was written to must not be read into a result.
void AttentionCase::make_pages(const std::vector<SequencePart>& parts, uint32_t seed) {
  for (const SequencePart& part : parts)
    max_pages_ = std::max(max_pages_, (part.end - 1) / shape_.page_tokens + 1);
  table_.resize(parts.size() * static_cast<size_t>(max_pages_));
  std::iota(table_.begin(), table_.end(), 0);
  if (seed != 0) std::shuffle(table_.begin(), table_.end(), std::mt19937(seed));
  if (!table_.empty()) memory_.assign(table_.size() * page_bytes() - kPageGap, std::byte{0xFF});
}

void AttentionCase::append(const SequencePart& part, int64_t sequence) {
  const int32_t starts[] = {0, static_cast<int32_t>(part.end)};
  const auto length = static_cast<int32_t>(part.end);
  const int64_t width = shape_.kv_heads * shape_.head_dim;
  kv_append_rows().back().run({.key = part.sequence->key.data(),
                               .value = part.sequence->value.data(),
                               .key_stride = width,
                               .value_stride = width,
                               .ragged = {.sequence_starts = starts,
                                          .kv_lengths = &length,
                                          .page_table = table_.data() + sequence * max_pages_,
                                          .sequences = 1,
                                          .max_pages = max_pages_,
                                          .max_length = part.end},
                               .kv = pages()},
                              {});
}

KvAppendCase::KvAppendCase(const AttentionCase& step, std::vector<float> keys, std::vector<float> values)
    : problem{step.shape().kv, step.shape().head_dim},
      step_(step),
      keys_(std::move(keys)),
      values_(std::move(values)) {}

Call<KvAppend> KvAppendCase::place(const Row<KvAppend>&, Place& place) const {
  const int64_t width = step_.shape().kv_heads * step_.shape().head_dim;
  Call<KvAppend> call;
  KvAppend::Args& args = call.args;
  args = {.key = place.put(keys_),
          .value = place.put(values_),
          .key_stride = width,
          .value_stride = width,
          .tokens = step_.starts().back(),
          .ragged = step_.ragged(),
          .kv = step_.pages()};
  args.ragged.sequence_starts = place.put(step_.starts());
  args.ragged.kv_lengths = place.put(step_.lengths());
  args.ragged.page_table = place.put(step_.table());
  args.kv.base = place.put(std::vector<std::byte>(step_.memory().size(), std::byte{0xFF}));
  call.read = [base = args.kv.base, count = step_.memory().size(),
               stride = args.kv.page_stride](Place& from) {
    const std::vector<std::byte> bytes = from.get(base, count);
    Output pages{.name = "pages", .cols = static_cast<int64_t>(stride)};
    for (const std::byte b : bytes) pages.values.push_back(static_cast<float>(b));
    return std::vector<Output>{std::move(pages)};
  };
  return call;
}

std::vector<Expected> KvAppendCase::expected(const Roundings&) const {
  return {{.output = run_reference<KvAppendCase>(*this, kv_append_rows())[0]}};
}

Work KvAppendCase::work() const {
  const AttentionShape& shape = step_.shape();
  const auto rows = static_cast<double>(keys_.size()) / static_cast<double>(shape.head_dim);
  return {.bytes = 2 * (4.0 * static_cast<double>(keys_.size()) +
                        rows * static_cast<double>(row_bytes(shape.kv, shape.head_dim).value_or(0)))};
}

}  // namespace orrery::kernels::lab
