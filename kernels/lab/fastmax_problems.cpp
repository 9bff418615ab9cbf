// Problems of Fastmax and of its gradients by name.
#include "kernels/lab/fastmax_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kWords =
    "BATCHxHEADSxTOKENSxHEAD_DIM [TYPE] [p=P] [causal] [plain] [rpe] [interleaved] [kv_heads=N] [keys=N] "
    "[noise=RATE] [features=RATE] [limit=L] [temperature=T] [inputs=normal|uniform|heavy] [seed=N]";

/// Those of the authors' tables (head sizes 32 and 64, without the normalisation) for fewer texts, a card's
/// of bf16; longer and longer texts, whose time for each token stays; a model's heads.
std::vector<std::string> known() {
  return {"short 2x8x1000x32 plain",        "long 1x2x10000x32 plain",
          "short 2x8x1000x64 plain",        "long 1x2x10000x64 plain",
          "linear 1x4x10000x64 p=1 causal", "GQA 1x32x1024x128 causal kv_heads=8",
          "text 1x1x1000x64 causal",        "text 1x1x3000x64 causal",
          "text 1x1x10000x64 causal",       "text 1x1x30000x64 causal",
          "text 1x1x100000x64 causal",      "card 8x8x1000x32 BF16 plain",
          "card 8x8x10000x32 BF16 plain",   "card 8x8x1000x64 BF16 plain",
          "card 8x8x10000x64 BF16 plain",   "card 4x16x16384x64 BF16 causal"};
}

std::vector<std::string> known_backward() {
  return {"short 1x8x1000x32 plain", "short 1x8x1000x64 plain", "causal 1x4x2048x32 causal",
          "card 4x8x1000x64 BF16 plain"};
}

Told<FastmaxShape> read_fastmax(Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "BATCHxHEADSxTOKENSxHEAD_DIM");
  FastmaxShape shape{.batch = sizes[0], .heads = sizes[1], .queries = sizes[2], .dim = sizes[3]};
  shape.dtype = words.types(DType::f32).front();
  shape.kv_heads = words.count("kv_heads", shape.heads);
  shape.keys = words.count("keys", shape.queries);
  shape.p = static_cast<int>(words.count("p", 2));
  shape.causal = words.flag("causal");
  shape.normalise = !words.flag("plain");
  if (!shape.normalise) shape.size = 0.3F;
  shape.rpe = words.flag("rpe");
  shape.interleaved = words.flag("interleaved");
  const double noise = words.number("noise", 0.0), features = words.number("features", 0.0);
  if (noise > 0) shape.dropping = Fastmax::Dropping::noise;
  if (features > 0) shape.dropping = Fastmax::Dropping::features;
  shape.rate = features > 0 ? features : noise;
  if (features >= 1 || features < 0 || noise < 0)
    words.fail("a rate must be at least 0, and of features less than 1");
  shape.limit = static_cast<float>(words.number("limit", 1.0));
  shape.temperature = static_cast<float>(words.number("temperature", 1.0));
  shape.seed = static_cast<uint32_t>(words.count("seed", 1));
  if (shape.keys < 1) words.fail("keys must be at least 1");
  if (shape.kv_heads < 1) words.fail("kv_heads must be at least 1");
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const std::string reason = words.error().empty() ? ref::legal(Fastmax::Problem{.dtype = shape.dtype,
                                                                                 .heads = shape.heads,
                                                                                 .kv_heads = shape.kv_heads,
                                                                                 .head_dim = shape.dim,
                                                                                 .p = shape.p})
                                                   : "";
  if (!reason.empty()) words.fail(reason);
  return {shape, inputs};
}

}  // namespace

extern const ProblemFamily kFastmaxProblems{Fastmax::kName, kWords, known, named_rows<Fastmax>,
                                            make_told<FastmaxCase, read_fastmax>};
extern const ProblemFamily kFastmaxBackwardProblems{FastmaxBackward::kName, kWords, known_backward,
                                                    named_rows<FastmaxBackward>,
                                                    make_told<FastmaxBackwardCase, read_fastmax>};

}  // namespace orrery::kernels::lab
