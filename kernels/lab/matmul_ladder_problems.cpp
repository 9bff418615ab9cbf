// Problems of MatmulLadder by name.
#include "kernels/lab/matmul_ladder_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

/// 1,028 is no multiple of a tile; at powers of two rows meet in the same sets of a cache. 3,072 leaves most
/// of a card without a tile in the last wave (cuda.stream_k).
std::vector<std::string> known() {
  return {"256x256x256",    "512x512x512",         "1028x1028x1028",      "1028x1028x1028 BF16",
          "4096x4096x4096", "3072x3072x3072 BF16", "4096x4096x4096 BF16", "4096x4096x4096 F8_E4M3"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "MxNxK");
  const DType dtype = words.types(DType::f32).front();
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 11));
  if (!words.error().empty()) return nullptr;
  const MatmulLadder::Problem problem{dtype, sizes[0], sizes[1], sizes[2]};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<MatmulLadderCase>>(name, MatmulLadderCase(problem, seed, inputs));
}

}  // namespace

extern const ProblemFamily kMatmulLadderProblems{MatmulLadder::kName,
                                                 "MxNxK [TYPE] [inputs=normal|uniform|heavy] [seed=N]",
                                                 known,
                                                 named_rows<MatmulLadder>,
                                                 make,
                                                 true};

}  // namespace orrery::kernels::lab
