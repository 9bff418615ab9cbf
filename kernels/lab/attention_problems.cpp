// Problems of Attention and KvAppend by name.
#include <cmath>
#include <deque>

#include "kernels/lab/attention_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

using Keys = Attention::Keys;

/// `count` sequences that bring `tokens` each and have `length` after them.
AttentionCase made_step(const AttentionShape& shape, Keys keys, const std::vector<int64_t>& sizes,
                        Distribution inputs, uint32_t seed) {
  std::deque<Sequence> sequences;
  std::vector<SequencePart> parts;
  for (int64_t s = 0; s < sizes[0]; ++s) {
    sequences.emplace_back(shape, sizes[2], static_cast<uint32_t>(seed + 3 * s), inputs);
    parts.push_back({&sequences.back(), sizes[1], sizes[2]});
  }
  return AttentionCase(shape, keys, parts, 0);
}

bool pages_hold(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::q8_0;
}

/// What both ops are told by.
AttentionShape shape_of(Words& words, const std::vector<int64_t>& sizes) {
  AttentionShape shape;
  shape.heads = words.count("heads", 1);
  shape.kv_heads = words.count("kv_heads", shape.heads);
  shape.head_dim = words.count("dim", 64);
  shape.kv = words.types(DType::f16)[0];
  if (shape.heads < 1 || shape.kv_heads < 1 || shape.head_dim < 1) words.fail("there is no head");
  if (!pages_hold(shape.kv)) words.fail("keys are f32, f16, bf16 or Q8_0");
  if (sizes[1] > sizes[2]) words.fail("more tokens than the sequence has after them");
  shape.scale = 1.0F / std::sqrt(static_cast<float>(std::max<int64_t>(shape.head_dim, 1)));
  return shape;
}

void read_kind(Words& words, AttentionShape& shape) {
  if (!words.flag("fastmax")) return;
  shape.kind = Attention::Kind::fastmax;
  shape.fastmax.p = static_cast<int32_t>(words.count("p", 2));
  shape.fastmax.normalise = !words.flag("raw");
  shape.fastmax.limit = static_cast<float>(words.number("limit", 1));
}

std::vector<std::string> known() {
  std::vector<std::string> names = {"SmolLM2 decode 1x1x512 heads=9 kv_heads=3",
                                    "SmolLM2 decode 1x1x8192 heads=9 kv_heads=3",
                                    "SmolLM2 decode 1x1x8192 heads=9 kv_heads=3 Q8_0",
                                    "SmolLM2 decode 16x1x1024 heads=9 kv_heads=3",
                                    "SmolLM2 prompt 1x512x512 heads=9 kv_heads=3",
                                    "SmolLM2 prompt 1x128x2048 heads=9 kv_heads=3",
                                    "1B prompt 1x512x512 heads=32 kv_heads=8",
                                    "8B prompt 1x512x512 heads=32 kv_heads=8 dim=128",
                                    "8B decode 1x1x4096 heads=32 kv_heads=8 dim=128",
                                    "MHA decode 1x1x2048 heads=32",
                                    "MiniLM 8x128x128 heads=12 dim=32 packed",
                                    "MiniLM 32x16x16 heads=12 dim=32 packed",
                                    "BERT 1x512x512 heads=12 packed"};
  for (const char* name : {"SmolLM2 decode 1x1x512 heads=9 kv_heads=3 fastmax",
                           "SmolLM2 decode 1x1x8192 heads=9 kv_heads=3 fastmax",
                           "SmolLM2 prompt 1x512x512 heads=9 kv_heads=3 fastmax",
                           "8B prompt 1x512x512 heads=32 kv_heads=8 dim=128 fastmax p=1",
                           "MiniLM 8x128x128 heads=12 dim=32 packed fastmax"})
    names.emplace_back(name);
  for (const int64_t texts : {1, 32, 64})
    names.push_back("encoder attention " + std::to_string(texts) + "x128x128 heads=12 packed");
  return names;
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "SEQUENCESxTOKENSxLENGTH");
  AttentionShape shape = shape_of(words, sizes);
  const Keys keys = words.flag("packed") ? Keys::packed : Keys::paged;
  shape.causal = words.flag("causal") || keys == Keys::paged;
  shape.window = words.count("window", 0);
  shape.softcap = static_cast<float>(words.number("softcap", 0));
  shape.bias_reach = words.count("bias", 0);
  shape.precision = words.precision();
  read_kind(words, shape);
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 5));
  if (keys == Keys::packed && sizes[1] != sizes[2]) words.fail("packed sequences bring all their tokens");
  if (shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0)
    words.fail("heads are no multiple of kv_heads");
  if (!words.error().empty()) return nullptr;
  if (keys == Keys::packed) shape.kv = DType::f32;
  AttentionCase step = made_step(shape, keys, sizes, inputs, seed);
  if (const std::string reason = ref::legal(step.problem); !reason.empty()) {
    words.fail(reason);
    return nullptr;
  }
  return std::make_unique<CaseExperiment<AttentionCase>>(name, std::move(step));
}

std::vector<std::string> known_appends() {
  return {"SmolLM2 prompt 1x512x512 kv_heads=3", "8B decode 64x1x512 kv_heads=8 dim=128",
          "8B prompt 1x512x512 kv_heads=8 dim=128 Q8_0"};
}

std::unique_ptr<Experiment> make_append(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "SEQUENCESxTOKENSxLENGTH");
  AttentionShape shape = shape_of(words, sizes);
  const auto seed = static_cast<uint32_t>(words.count("seed", 5));
  if (!row_bytes(shape.kv, shape.head_dim)) words.fail("heads are no whole blocks of that type");
  if (!words.error().empty()) return nullptr;
  const AttentionCase step = made_step(shape, Keys::paged, sizes, Distribution::normal, seed);
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * shape.kv_heads * shape.head_dim);
  return std::make_unique<CaseExperiment<KvAppendCase>>(
      name, KvAppendCase(step, random_floats(count, seed), random_floats(count, seed + 1)));
}

}  // namespace

extern const ProblemFamily kAttentionProblems{
    Attention::kName,
    "SEQUENCESxTOKENSxLENGTH heads=N [kv_heads=N] [dim=N] [f32|f16|bf16|Q8_0] [packed [causal]] [window=N] "
    "[softcap=X] [bias=N] [fastmax [p=1|2] [raw] [limit=X]] [exact|int16|int8] [inputs=normal|uniform|heavy] "
    "[seed=N]",
    known, named_rows<Attention>, make};
extern const ProblemFamily kKvAppendProblems{
    KvAppend::kName, "SEQUENCESxTOKENSxLENGTH kv_heads=N [dim=N] [f32|f16|bf16|Q8_0] [seed=N]", known_appends,
    named_rows<KvAppend>, make_append};

}  // namespace orrery::kernels::lab
