// Attention and KvAppend over made-up sequences: their keys and values, kept in pages or packed.
#pragma once

#include "kernels/attention.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

struct AttentionShape {
  int64_t heads = 4, kv_heads = 2, head_dim = 64;
  DType kv = DType::f16;
  int64_t page_tokens = 16;
  bool causal = true;
  int64_t window = 0;
  float softcap = 0.0F;
  int64_t bias_reach = 0;
  Precision precision = Precision::exact;
  float scale = 0.3F;
  Attention::Kind kind = Attention::Kind::softmax;
  Attention::Fastmax fastmax = {};
};

/// Queries, keys and values of every position of one sequence; the same for a seed whatever the step.
struct Sequence {
  Sequence(const AttentionShape& shape, int64_t tokens, uint32_t seed,
           Distribution distribution = Distribution::normal);

  std::vector<float> query, key, value;
  int64_t length;
};

/// Which positions of a sequence a step brings: [end - tokens, end).
struct SequencePart {
  const Sequence* sequence;
  int64_t tokens, end;
};

/// One step. All keys before the step's own are in the pages already.
class AttentionCase {
 public:
  using Op = Attention;

  /// Pages lie in the random order of page_seed; 0: one after the other.
  AttentionCase(const AttentionShape& shape, Attention::Keys keys, const std::vector<SequencePart>& parts,
                uint32_t page_seed = 1);

  /// The same step on the other kind of keys. Those in pages are rounded to the type of the pages.
  AttentionCase with_keys(Attention::Keys keys) const;

  Call<Attention> place(const Row<Attention>& row, Place& place) const;
  void cool(Attention::Args& args, const Row<Attention>& row, Place& place, size_t copy) const;
  /// Steps that bring a token a sequence.
  bool is_cold() const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  /// (heads, 2 * bias_reach + 1); empty without a bias.
  static std::vector<float> bias_of(const AttentionShape& shape);
  const AttentionShape& shape() const { return shape_; }
  /// Of the host, as a call on the host gets them.
  Ragged ragged() const;
  PagedKv pages() const;
  const std::vector<std::byte>& memory() const { return memory_; }
  const std::vector<int32_t>& starts() const { return starts_; }
  const std::vector<int32_t>& lengths() const { return lengths_; }
  const std::vector<int32_t>& table() const { return table_; }

  Attention::Problem problem;

 private:
  size_t page_bytes() const;
  int64_t longest() const;
  void make_pages(const std::vector<SequencePart>& parts, uint32_t seed);
  void append(const SequencePart& part, int64_t sequence);

  AttentionShape shape_;
  std::vector<float> query_, key_, value_, bias_;
  std::vector<int32_t> starts_, lengths_, table_;
  std::vector<std::byte> memory_;
  int64_t max_pages_ = 1;
};

/// The step's keys and values into pages whose bits are all set before.
class KvAppendCase {
 public:
  using Op = KvAppend;

  /// `step` tells which positions go into which pages; keys and values (tokens, kv_heads * head_dim).
  KvAppendCase(const AttentionCase& step, std::vector<float> keys, std::vector<float> values);

  Call<KvAppend> place(const Row<KvAppend>& row, Place& place) const;
  /// Every byte of the pages, those that nothing is written to as well.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  KvAppend::Problem problem;

 private:
  AttentionCase step_;
  std::vector<float> keys_, values_;
};

}  // namespace orrery::kernels::lab
