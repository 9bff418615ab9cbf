// Problems of Softmax by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/softmax_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"512x1536x1", "attention map 512x512x1 inputs=masked", "over heads 8x12x512", "map 512x512x1 BF16",
          "likelihoods 64x128256x1 log"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "OUTERxCOUNTxINNER");
  const DType dtype = words.types(DType::f32).front();
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy, Distribution::masked});
  const bool log = words.flag("log");
  const auto seed = static_cast<uint32_t>(words.count("seed", 5));
  if (const std::string reason = ref::legal(Softmax::Problem{dtype}); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]);
  SoftmaxCase softmax(dtype, sizes[0], sizes[1], sizes[2], random_elements(dtype, count, seed, inputs));
  softmax.problem.log = log;
  return std::make_unique<CaseExperiment<SoftmaxCase>>(name, std::move(softmax));
}

}  // namespace

extern const ProblemFamily kSoftmaxProblems{
    Softmax::kName, "OUTERxCOUNTxINNER [TYPE] [log] [inputs=normal|uniform|heavy|masked] [seed=N]", known,
    named_rows<Softmax>, make};

}  // namespace orrery::kernels::lab
