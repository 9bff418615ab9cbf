// Problems of FlashAttention and of its gradients by name.
#include "kernels/lab/flash_attention_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kWords =
    "BATCHxHEADSxQUERIESxHEAD_DIM [keys=N] [kv_heads=N] [TYPE] [causal] [left=N] [right=N] [softcap=C] "
    "[scale=S] "
    "[bias|alibi] [mask] [lengths] [dropout=P] [interleaved] [exact] [inputs=normal|uniform|heavy] [seed=N]";

/// The sizes that FlashAttention-2 and 3 are measured at: 16384 tokens of hidden 2048.
std::vector<std::string> known() {
  std::vector<std::string> names = {"recipe 1x1x32x32 scale=1"};
  for (const auto& [batch, tokens] :
       {std::pair{"32", "512"}, {"16", "1024"}, {"8", "2048"}, {"4", "4096"}, {"2", "8192"}, {"1", "16384"}})
    for (const std::string& heads : {std::string("32"), std::string("16")})
      for (const std::string& mask : {std::string(""), std::string(" causal")})
        names.push_back(std::string(batch) + "x" + heads + "x" + tokens +
                        (heads == "32" ? "x64 BF16" : "x128 BF16") + mask);
  for (const char* name :
       {"8B 1x32x4096x128 BF16 kv_heads=8 causal", "8B decode 4x32x1x128 keys=8192 BF16 kv_heads=8",
        "window 1x32x4096x128 BF16 kv_heads=8 causal left=1023",
        "softcap 1x16x2048x256 BF16 causal softcap=50", "bias 1x16x2048x64 BF16 bias",
        "dropout 1x16x2048x64 BF16 causal dropout=0.1", "f32 1x16x1024x64 causal", "f32 1x16x1024x128"})
    names.emplace_back(name);
  return names;
}

Told<FlashShape> read_flash(Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "BATCHxHEADSxQUERIESxHEAD_DIM");
  FlashShape shape{.batch = sizes[0], .heads = sizes[1], .queries = sizes[2], .head_dim = sizes[3]};
  shape.keys = words.count("keys", shape.queries);
  shape.kv_heads = words.count("kv_heads", shape.heads);
  shape.dtype = words.types(DType::f32)[0];
  shape.causal = words.flag("causal");
  shape.window_left = static_cast<int64_t>(words.number("left", -1));
  shape.window_right = static_cast<int64_t>(words.number("right", -1));
  shape.softcap = static_cast<float>(words.number("softcap", 0));
  shape.scale = static_cast<float>(words.number("scale", 0));
  shape.bias = words.flag("bias");
  if (words.flag("alibi")) {
    shape.bias = true;
    shape.bias_dims = {.batch = false, .head = true, .query = false, .key = true};
  }
  shape.mask = words.flag("mask");
  shape.mask_dims = {.batch = true, .head = false, .query = true, .key = true};
  shape.lengths = words.flag("lengths");
  shape.p = words.number("dropout", 0.0);
  shape.interleaved = words.flag("interleaved");
  shape.precision = words.precision();
  shape.seed = static_cast<uint32_t>(words.count("seed", 1));
  if (shape.p >= 1) words.fail("dropout must be less than 1");
  if (shape.keys < 1) words.fail("there are no keys");
  const std::string reason = ref::legal(FlashAttention::Problem{
      .dtype = shape.dtype, .heads = shape.heads, .kv_heads = shape.kv_heads, .head_dim = shape.head_dim});
  if (!reason.empty()) words.fail(reason);
  return {shape, words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy})};
}

}  // namespace

extern const ProblemFamily kFlashAttentionProblems{
    FlashAttention::kName, kWords, known, named_rows<FlashAttention>, make_told<FlashCase, read_flash>};
extern const ProblemFamily kFlashAttentionBackwardProblems{FlashAttentionBackward::kName, kWords, known,
                                                           named_rows<FlashAttentionBackward>,
                                                           make_told<FlashBackwardCase, read_flash>};

}  // namespace orrery::kernels::lab
