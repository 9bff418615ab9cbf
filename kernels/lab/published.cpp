#include "kernels/lab/published.h"

#include <algorithm>
#include <iterator>

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view
    kRecipes = "github.com/modular/max-recipes, custom-ops-matrix-multiplication, its README; read 2026-11",
    kFlash3 = "github.com/Dao-AILab/flash-attention, assets/flash3_fp16_fwd.png, read off the plot; 2026-11",
    kFastmax = "github.com/armingerami/fastmax, its README; read 2026-11",
    kDiscussion = "github.com/flashinfer-ai/flashinfer pull request 3009; read 2026-11";
constexpr std::string_view kA100 = "A100, f32", kH100 = "H100 SXM, f16", kA6000 = "RTX A6000, f32",
                           kB200 = "B200";

constexpr std::string_view kProduct = "4096x4096x4096";

/// In the order of the ops' names, each in the order of its problems.
constexpr Published kPublished[] = {
    {"fastmax", "64x8x1000x32 plain", "Fastmax, CUDA", kA6000, 0, 110e3, kFastmax},
    {"fastmax", "64x8x10000x32 plain", "Fastmax, CUDA", kA6000, 0, 1090e3, kFastmax},
    {"fastmax", "64x8x1000x64 plain", "Fastmax, CUDA", kA6000, 0, 320e3, kFastmax},
    {"fastmax", "64x8x10000x64 plain", "Fastmax, CUDA", kA6000, 0, 3240e3, kFastmax},
    {"flash_attention", "32x32x512x64 BF16", "FlashAttention-3", kH100, 333e3, 0, kFlash3},
    {"flash_attention", "32x32x512x64 BF16", "cuDNN", kH100, 335e3, 0, kFlash3},
    {"flash_attention", "32x32x512x64 BF16 causal", "FlashAttention-3", kH100, 197e3, 0, kFlash3},
    {"flash_attention", "32x32x512x64 BF16 causal", "cuDNN", kH100, 225e3, 0, kFlash3},
    {"flash_attention", "1x32x16384x64 BF16", "FlashAttention-3", kH100, 497e3, 0, kFlash3},
    {"flash_attention", "1x32x16384x64 BF16", "FlashAttention-2", kH100, 324e3, 0, kFlash3},
    {"flash_attention", "1x32x16384x64 BF16", "cuDNN", kH100, 413e3, 0, kFlash3},
    {"flash_attention", "1x32x16384x64 BF16 causal", "FlashAttention-3", kH100, 473e3, 0, kFlash3},
    {"flash_attention", "1x32x16384x64 BF16 causal", "FlashAttention-2", kH100, 299e3, 0, kFlash3},
    {"flash_attention", "1x32x16384x64 BF16 causal", "cuDNN", kH100, 388e3, 0, kFlash3},
    {"flash_attention", "1x16x16384x128 BF16", "FlashAttention-3", kH100, 648e3, 0, kFlash3},
    {"flash_attention", "1x16x16384x128 BF16", "FlashAttention-2", kH100, 370e3, 0, kFlash3},
    {"flash_attention", "1x16x16384x128 BF16", "cuDNN", kH100, 595e3, 0, kFlash3},
    {"flash_attention", "1x16x16384x128 BF16 causal", "FlashAttention-3", kH100, 616e3, 0, kFlash3},
    {"flash_attention", "1x16x16384x128 BF16 causal", "FlashAttention-2", kH100, 335e3, 0, kFlash3},
    {"flash_attention", "1x16x16384x128 BF16 causal", "cuDNN", kH100, 539e3, 0, kFlash3},
    {"matmul_ladder", kProduct, "MAX naive", kA100, 292, 0, kRecipes},
    {"matmul_ladder", kProduct, "MAX coalescing", kA100, 2936, 0, kRecipes},
    {"matmul_ladder", kProduct, "MAX tiled", kA100, 3943, 0, kRecipes},
    {"matmul_ladder", kProduct, "MAX tiled_register", kA100, 7078, 0, kRecipes},
    {"matmul_ladder", kProduct, "MAX block_tiled", kA100, 10661, 0, kRecipes},
    {"matmul_ladder", kProduct, "MAX block_tiled_vectorized", kA100, 10663, 0, kRecipes},
    {"top_k", "256x262144x1 k=256", "FlashInfer, clusters", kB200, 0, 155.8, kDiscussion},
    {"top_k", "256x262144x1 k=256", "torch.topk", kB200, 0, 881, kDiscussion},
};

}  // namespace

std::span<const Published> published_of(std::string_view op) {
  const auto range = std::ranges::equal_range(kPublished, op, {}, &Published::op);
  return {range.begin(), range.end()};
}

}  // namespace orrery::kernels::lab
