// Problems of FastmaxScan by name.
#include "kernels/lab/fastmax_scan_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kScanWords =
    "SEQUENCESxTOKENSxLENGTHxHEADSxHEAD_DIM [kv_heads=N] [p=P] [plain] [limit=L] [seed=N]";

/// The length only says what the state holds: no time depends on it.
std::vector<std::string> known_fastmax_scans() {
  return {"smollm2-135m decode 1x1x32x9x64 kv_heads=3", "smollm2-135m prompt 1x256x256x9x64 kv_heads=3",
          "decode 8x1x32x9x64 kv_heads=3", "linear decode 1x1x32x9x64 kv_heads=3 p=1"};
}

/// Every sequence brings the last `TOKENS` of `LENGTH`.
std::unique_ptr<Experiment> make_fastmax_scan(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(5, "SEQUENCESxTOKENSxLENGTHxHEADSxHEAD_DIM");
  FastmaxScanShape shape{.heads = sizes[3], .dim = sizes[4]};
  if (sizes[1] > sizes[2]) words.fail("a sequence brings more tokens than it has");
  shape.parts.assign(static_cast<size_t>(sizes[0]), {sizes[1], sizes[2]});
  shape.kv_heads = words.count("kv_heads", shape.heads);
  shape.fastmax.p = static_cast<int32_t>(words.count("p", 2));
  shape.fastmax.normalise = !words.flag("plain");
  shape.fastmax.limit = static_cast<float>(words.number("limit", 1.0));
  shape.seed = static_cast<uint32_t>(words.count("seed", 11));
  const std::string reason =
      ref::legal(FastmaxScan::Problem{shape.heads, shape.kv_heads, shape.dim, shape.fastmax, 1});
  if (!reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<FastmaxScanCase>>(name, FastmaxScanCase(shape));
}

}  // namespace

extern const ProblemFamily kFastmaxScanProblems{FastmaxScan::kName, kScanWords, known_fastmax_scans,
                                                named_rows<FastmaxScan>, make_fastmax_scan};

}  // namespace orrery::kernels::lab
