// Pools, reference: float64 sums in the order of the taps. One thread.
#include "kernels/pooling.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

/// What a window makes of its elements.
class WindowValue {
 public:
  explicit WindowValue(Pooling::Function function) : average_(function == Pooling::Function::average) {}
  void add(double element) {
    value_ = average_ ? value_ + element : std::isnan(element) || element > value_ ? element : value_;
    ++count_;
  }
  int64_t count() const { return count_; }
  double of(int64_t count) const { return average_ ? value_ / static_cast<double>(count) : value_; }

 private:
  bool average_;
  double value_ = average_ ? 0.0 : -std::numeric_limits<double>::infinity();
  int64_t count_ = 0;
};

}  // namespace

std::string legal(const Pooling::Problem& problem) {
  if (!is_float(problem.dtype)) return std::string(name_of(problem.dtype)) + "; it takes f32, f16 or bf16";
  if (std::string reason = wrong_window(problem.window); !reason.empty()) return reason;
  if (std::string reason = wrong_sizes(problem.src_size); !reason.empty()) return reason;
  for (const int64_t after : problem.after)
    if (after < 0) return "a padding of " + std::to_string(after);
  return wrong_sizes(problem.dst_size);
}

void pooling(const Pooling::Args& args, const Launch&) {
  const Pooling::Problem& p = args.problem;
  const int64_t(&kernel)[kSpatial] = p.window.kernel;
  int64_t to = 0;
  for (int64_t plane = 0; plane < p.planes; ++plane)
    for (int64_t z = 0; z < p.dst_size[0]; ++z)
      for (int64_t y = 0; y < p.dst_size[1]; ++y)
        for (int64_t x = 0; x < p.dst_size[2]; ++x) {
          WindowValue value(p.function);
          for (int64_t k = 0; k < p.window.taps(); ++k) {
            const int64_t from[kSpatial] = {p.window.reads(0, z, k / (kernel[1] * kernel[2]), p.src_size[0]),
                                            p.window.reads(1, y, k / kernel[2] % kernel[1], p.src_size[1]),
                                            p.window.reads(2, x, k % kernel[2], p.src_size[2])};
            if (from[0] < 0 || from[1] < 0 || from[2] < 0) continue;
            const int64_t row = (plane * p.src_size[0] + from[0]) * p.src_size[1] + from[1];
            value.add(real_at(p.dtype, args.src, row * p.src_size[2] + from[2]));
          }
          const int64_t count = p.counts_padding
                                    ? taps_inside(p, 0, z) * taps_inside(p, 1, y) * taps_inside(p, 2, x)
                                    : value.count();
          put_real(p.dtype, value.of(count), args.dst, to++);
        }
}

}  // namespace orrery::kernels::ref
