// Problems of Combine by name.
#include "kernels/lab/combine_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

using Function = Combine::Function;

constexpr std::string_view kFunctions[] = {
    "add",         "sub",        "mul",         "div",         "floor_div",  "mod",
    "pow",         "maximum",    "minimum",     "bitwise_and", "bitwise_or", "bitwise_xor",
    "equal",       "not_equal",  "less",        "less_equal",  "greater",    "greater_equal",
    "logical_and", "logical_or", "logical_xor", "where"};
constexpr std::string_view kSpread[] = {"equals", "row", "column", "scalar"};

std::vector<std::string> known() {
  return {"biased map 12x512x512 add row", "masked map 12x512x512 where scalar", "512x12x64 mul BF16",
          "places 1x512x512 less column I32"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "AxBxC");
  const auto function = static_cast<Function>(words.choice(kFunctions, 0));
  const size_t spread = words.choice(kSpread, 0);
  const DType dtype = words.types(DType::f32).front();
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 7));
  Combine::Problem problem{function, dtype, dtype, dtype, compares(function) ? DType::boolean : dtype, 3};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  Walk<4> walk{.rank = 3};
  std::copy_n(sizes.begin(), 3, walk.sizes);
  for (int64_t* strides : walk.strides) pack_strides(3, walk.sizes, strides);
  int64_t* b = walk.strides[1];
  if (spread != 0) b[0] = 0;
  if (spread == 1) b[1] = 0;  // one of the last dim
  if (spread == 2) b[1] = 1;
  if (spread >= 2) b[2] = 0;
  if (spread == 3) b[1] = 0;
  return std::make_unique<CaseExperiment<CombineCase>>(name, CombineCase(problem, walk, seed, inputs));
}

}  // namespace

extern const ProblemFamily kCombineProblems{
    Combine::kName,
    "AxBxC [add|sub|mul|div|floor_div|mod|pow|maximum|minimum|bitwise_and|bitwise_or|bitwise_xor|equal|"
    "not_equal|less|less_equal|greater|greater_equal|logical_and|logical_or|logical_xor|where] "
    "[equals|row|column|scalar] [TYPE] [inputs=normal|uniform|heavy|broken] [seed=N]",
    known, named_rows<Combine>, make};

}  // namespace orrery::kernels::lab
