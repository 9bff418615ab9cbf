#include "kernels/lab/norm_case.h"

namespace orrery::kernels::lab {

NormCase::NormCase(const NormShape& shape, Distribution distribution, uint32_t seed)
    : problem{shape.kind, shape.cols, shape.residual},
      shape_(shape),
      src_(random_floats(static_cast<size_t>(shape.tokens * shape.cols), seed, 3.0F, distribution)),
      residual_(random_floats(src_.size(), seed + 1, 1.0F, distribution)),
      weight_(random_floats(static_cast<size_t>(shape.weight_rows * shape.cols), seed + 2)),
      bias_(random_floats(weight_.size(), seed + 3)) {
  for (float& x : src_) x += 5.0F;
}

Call<Norm> NormCase::place(const Row<Norm>&, Place& place) const {
  const std::vector<float> zeros(src_.size());
  float* src = place.put(src_);
  Call<Norm> call;
  call.args = {.kind = shape_.kind,
               .src = src,
               .dst = place.put(zeros),
               .weight = place.put(weight_),
               .bias = shape_.bias ? place.put(bias_) : nullptr,
               .tokens = shape_.tokens,
               .cols = shape_.cols,
               .weight_rows = shape_.weight_rows,
               .eps = 1e-5F};
  if (shape_.residual) {
    call.args.residual = place.put(residual_);
    call.args.sum = shape_.in_place ? src : place.put(zeros);
  }
  call.read = [args = call.args, count = src_.size()](Place& from) {
    std::vector<Output> outputs{{.name = "dst", .values = from.get(args.dst, count), .cols = args.cols}};
    if (args.sum != nullptr)
      outputs.push_back({.name = "sum", .values = from.get(args.sum, count), .cols = args.cols});
    return outputs;
  };
  return call;
}

std::vector<Expected> NormCase::expected(const Roundings&) const {
  std::vector<Output> outputs = run_reference<NormCase>(*this, norm_rows());
  std::vector<Expected> expected{{.output = std::move(outputs[0]), .tolerance = 1e-5}};
  if (outputs.size() > 1) expected.push_back({.output = std::move(outputs[1])});
  return expected;
}

Work NormCase::work() const {
  const auto elements = static_cast<double>(src_.size());
  return {.bytes = elements * (shape_.residual ? 16 : 8) + 4.0 * static_cast<double>(weight_.size()),
          .flops = elements * 4};
}

}  // namespace orrery::kernels::lab
