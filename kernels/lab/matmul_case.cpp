#include "kernels/lab/matmul_case.h"

#include "kernels/lab/copy_case.h"

namespace orrery::kernels::lab {
namespace {

size_t elements(const Matmul::Args& args, int operand, int64_t last) {
  return args.batch.elements() == 0 ? 0 : static_cast<size_t>(span_of(args.batch, operand) + last);
}

}  // namespace

MatmulCase::MatmulCase(const Matmul::Args& args, uint32_t seed, Distribution distribution)
    : problem{args.a_type, args.b_type, args.dst_type, args.batch.rank},
      args_(args),
      a_(random_elements(args.a_type,
                         elements(args, 0, (args.rows - 1) * args.a_row + (args.depth - 1) * args.a_depth),
                         seed, distribution)),
      b_(random_elements(args.b_type,
                         elements(args, 1, (args.depth - 1) * args.b_depth + (args.cols - 1) * args.b_col),
                         seed + 1, distribution)) {}

Call<Matmul> MatmulCase::place(const Row<Matmul>&, Place& place) const {
  const size_t bytes =
      row_bytes(args_.dst_type, args_.batch.elements() * args_.rows * args_.cols).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), args_.dst_type);
  Call<Matmul> call;
  call.args = args_;
  call.args.a = place.put(a_, args_.a_type);
  call.args.b = place.put(b_, args_.b_type);
  call.args.dst = dst;
  call.read = [dst, bytes, dtype = args_.dst_type, cols = args_.cols](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Sums of float32 in one order or another; one step of the type for 16 bits.
std::vector<Expected> MatmulCase::expected(const Roundings&) const {
  const double tolerance = args_.dst_type == DType::f32 ? 5e-6 : args_.dst_type == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<MatmulCase>(*this, matmul_rows())[0], .tolerance = tolerance}};
}

Work MatmulCase::work() const {
  const auto written = static_cast<double>(args_.batch.elements() * args_.rows * args_.cols);
  return {
      .bytes = static_cast<double>(a_.size() + b_.size()) + written * dtype_info(args_.dst_type).block_bytes,
      .flops = 2 * written * static_cast<double>(args_.depth)};
}

}  // namespace orrery::kernels::lab
