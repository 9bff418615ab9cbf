// transpose: dst[i0, i1, ..] = src[..] with dim d of dst being dim permutation[d] of src
#include <numeric>

#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

/// Empty: the last two dims change places.
std::vector<int64_t> permutation_of(const Attributes& attributes, size_t rank) {
  std::vector<int64_t> permutation = list(attributes, "permutation");
  if (!permutation.empty() || rank < 2) return permutation;
  permutation.resize(rank);
  std::iota(permutation.begin(), permutation.end(), int64_t{0});
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation;
}

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  const std::vector<int64_t> permutation = permutation_of(*view.attributes, src.shape.size());
  std::vector<bool> taken(src.shape.size());
  bool whole = permutation.size() == taken.size() && !permutation.empty();
  for (const int64_t d : permutation) {
    if (!whole || d < 0 || d >= static_cast<int64_t>(taken.size()) || taken[static_cast<size_t>(d)]) {
      whole = false;
      break;
    }
    taken[static_cast<size_t>(d)] = true;
  }
  if (!whole)
    return mismatch("src", fmt::format("permutation is [{}], but src is {}; it must name each of its dims "
                                       "once, from 0",
                                       fmt::join(permutation, ", "), to_string(src)));
  ValueType dst{src.dtype, {}};
  for (const int64_t d : permutation) dst.shape.push_back(src.shape[static_cast<size_t>(d)]);
  return std::vector{std::move(dst)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const size_t rank = context.type(node.inputs[0]).shape.size();
  return lower_copy(context, node,
                    [permutation = permutation_of(node.attributes, rank)](const int64_t* sizes,
                                                                          const int64_t*, int64_t* strides) {
                      int64_t own[kernels::kMaxRank];
                      kernels::pack_strides(static_cast<int>(permutation.size()), sizes, own);
                      for (size_t d = 0; d < permutation.size(); ++d) strides[d] = own[permutation[d]];
                      return int64_t{0};
                    });
}

/// The other way round.
void gradient(Gradients& at) {
  const std::vector<int64_t> permutation = permutation_of(at.attributes(), at.input(0).type().shape.size());
  std::vector<int64_t> back(permutation.size());
  for (size_t d = 0; d < back.size(); ++d)
    back[static_cast<size_t>(permutation[d])] = static_cast<int64_t>(d);
  at.give(0, transpose(at.gradient(), std::move(back)));
}

}  // namespace

OpSchema transpose_op() {
  return {.name = "transpose",
          .family = OpFamily::data_movement,
          .doc = "The same elements with their dims in another order.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"permutation",
                          "Which dim of src each dim of the result is; empty: the last two change places",
                          Attribute(std::vector<int64_t>())}},
          .infer = infer,
          .cost = cost_moved,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
