// Problems of Nonzero by name.
#include "kernels/lab/nonzero_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"map 4096x4096 places", "map 4096x4096 put", "map 4096x4096 put BF16"};
}

/// Half of the bools are set.
std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "ROWSxCOLS");
  const auto function = static_cast<Nonzero::Function>(words.choice(kNonzeroNames, 0));
  const bool puts = function == Nonzero::Function::put;
  const DType dtype = words.types(puts ? DType::f32 : DType::i64).front();
  const auto seed = static_cast<uint32_t>(words.count("seed", 15));
  const Nonzero::Problem problem{function, DType::boolean, dtype};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1]);
  NonzeroCase made(problem, sizes, sizes[0] * sizes[1], random_elements(DType::boolean, count, seed),
                   puts ? random_elements(dtype, count, seed + 1) : std::vector<std::byte>(),
                   puts ? random_elements(dtype, count, seed + 2) : std::vector<std::byte>());
  return std::make_unique<CaseExperiment<NonzeroCase>>(name, std::move(made));
}

}  // namespace

extern const ProblemFamily kNonzeroProblems{Nonzero::kName, "ROWSxCOLS [places|put] [TYPE] [seed=N]", known,
                                            named_rows<Nonzero>, make};

}  // namespace orrery::kernels::lab
