// Softmax over an axis, reference: float64. One thread.
#include "kernels/softmax.h"

#include <algorithm>
#include <vector>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Softmax::Problem& problem) {
  return is_float(problem.dtype) ? "" : std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
}

void softmax(const Softmax::Args& args, const Launch&) {
  std::vector<double> weights(static_cast<size_t>(args.count));
  for (int64_t o = 0; args.count > 0 && o < args.outer; ++o)
    for (int64_t i = 0; i < args.inner; ++i) {
      const auto place = [&](size_t j) {
        return (o * args.count + static_cast<int64_t>(j)) * args.inner + i;
      };
      for (size_t j = 0; j < weights.size(); ++j) weights[j] = real_at(args.dtype, args.src, place(j));
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) {
        weight = largest == -std::numeric_limits<double>::infinity() ? 0 : std::exp(weight - largest);
        sum += weight;
      }
      for (size_t j = 0; j < weights.size(); ++j)
        if (args.log && sum != 0)
          put_real(args.dtype, real_at(args.dtype, args.src, place(j)) - largest - std::log(sum), args.dst,
                   place(j));
        else if (args.log)
          put_real(args.dtype, -std::numeric_limits<double>::infinity(), args.dst, place(j));
        else
          put_real(args.dtype, sum == 0 ? 0.0 : weights[j] / sum, args.dst, place(j));
    }
}

}  // namespace orrery::kernels::ref
