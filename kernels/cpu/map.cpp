// Rows of Map. A thread takes pieces, kRun elements at a time: they are converted into a buffer, computed
// there, and converted on the way out.
#include "kernels/map.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

template <class T>
void map_piece(const Map::Args& args, int64_t begin, int64_t end) {
  T values[kRun];
  const auto [function, src, dst] = args.problem;
  with_map_function(function, [&](auto constant) {
    for (int64_t i = begin; i < end; i += kRun) {
      const int64_t count = std::min(kRun, end - i);
      load_run(src, at(src, args.src, i), 1, count, values);
      for (int64_t k = 0; k < count; ++k) values[k] = mapped<decltype(constant)::value>(values[k]);
      store_run(dst, values, count, at(dst, args.dst, i), 1);
    }
  });
}

void run_pieces(const Map::Args& args, const Launch& launch) {
  const int64_t pieces = (args.count + kRunPiece - 1) / kRunPiece;
  split(launch, pieces, std::min(args.count, kRunPiece), [&](int64_t begin, int64_t end, int) {
    const int64_t first = begin * kRunPiece, last = std::min(end * kRunPiece, args.count);
    is_float(args.problem.src) ? map_piece<float>(args, first, last) : map_piece<int64_t>(args, first, last);
  });
}

}  // namespace

std::span<const Row<Map>> map_rows() {
  static const Row<Map> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Map, ref::legal>, .run = run_pieces},
      {.name = "cpu.reference", .supports = on_any_machine<Map, ref::legal>, .run = ref::map},
  };
  return rows;
}

}  // namespace orrery::kernels
