#include "kernels/lab/gather_case.h"

namespace orrery::kernels::lab {

GatherCase::GatherCase(const Gather::Problem& asked, std::vector<float> src, std::vector<int32_t> index,
                       std::vector<int32_t> starts)
    : problem(asked), src_(std::move(src)), index_(std::move(index)), starts_(std::move(starts)) {}

int64_t GatherCase::count() const {
  return static_cast<int64_t>(problem.kind == Gather::Kind::rows ? index_.size() : starts_.size() - 1);
}

Call<Gather> GatherCase::place(const Row<Gather>&, Place& place) const {
  const auto elements = static_cast<size_t>(count() * problem.cols);
  float* dst = place.put(std::vector<float>(elements, -1.0F));
  Call<Gather> call;
  call.args = {.kind = problem.kind,
               .src = place.put(src_),
               .index = place.put(index_),
               .sequence_starts = place.put(starts_),
               .dst = dst,
               .count = count(),
               .cols = problem.cols};
  call.read = [dst, elements, cols = problem.cols](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = from.get(dst, elements), .cols = cols}};
  };
  return call;
}

std::vector<Expected> GatherCase::expected(const Roundings&) const {
  return {{.output = run_reference<GatherCase>(*this, gather_rows())[0], .tolerance = 2e-7}};
}

Work GatherCase::work() const {
  const auto written = static_cast<double>(count() * problem.cols);
  const double read = problem.kind == Gather::Kind::mean ? static_cast<double>(src_.size()) : written;
  return {.bytes = 4 * (read + written), .flops = problem.kind == Gather::Kind::mean ? read : 0.0};
}

}  // namespace orrery::kernels::lab
