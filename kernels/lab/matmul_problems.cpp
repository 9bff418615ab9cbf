// Problems of Matmul by name.
#include "kernels/lab/matmul_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"scores of 12x512x64x512 transposed", "values of 12x512x512x64", "1x512x768x768",
          "12x512x64x512 BF16 transposed"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "BATCHxROWSxDEPTHxCOLS");
  const bool transposed = words.flag("transposed");
  const DType dtype = words.types(DType::f32).front();
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 11));
  if (const std::string reason = ref::legal({dtype, dtype, dtype, 1}); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  Matmul::Args args{.a_type = dtype,
                    .b_type = dtype,
                    .dst_type = dtype,
                    .rows = sizes[1],
                    .depth = sizes[2],
                    .cols = sizes[3],
                    .batch = {.rank = 1},
                    .a_row = sizes[2],
                    .a_depth = 1,
                    .b_depth = transposed ? 1 : sizes[3],
                    .b_col = transposed ? sizes[2] : 1};
  args.batch.sizes[0] = sizes[0];
  args.batch.strides[0][0] = sizes[1] * sizes[2];
  args.batch.strides[1][0] = sizes[2] * sizes[3];
  return std::make_unique<CaseExperiment<MatmulCase>>(name, MatmulCase(args, seed, inputs));
}

}  // namespace

extern const ProblemFamily kMatmulProblems{
    Matmul::kName, "BATCHxROWSxDEPTHxCOLS [TYPE] [transposed] [inputs=normal|uniform|heavy] [seed=N]", known,
    named_rows<Matmul>, make};

}  // namespace orrery::kernels::lab
