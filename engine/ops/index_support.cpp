#include "engine/ops/index_support.h"

namespace orrery::ops {

Result<void> expect_indices(const NodeView& view, size_t input) {
  ORRERY_TRY(expect_elements(view, input, "indices"));
  const DType dtype = view.inputs[input]->dtype;
  if (dtype == DType::i32 || dtype == DType::i64) return {};
  return mismatch("indices",
                  fmt::format("indices is {}; it must be of i32 or i64", to_string(*view.inputs[input])));
}

Result<size_t> found_dims(const NodeView& view, size_t indices) {
  const Shape& shape = view.inputs[indices]->shape;
  const size_t rank = view.inputs[0]->shape.size();
  if (shape.empty() || !shape.back().is_constant() || shape.back().constant() < 1 ||
      shape.back().constant() > static_cast<int64_t>(rank))
    return mismatch(
        "indices",
        fmt::format("indices is {}, but src is {}; its last dim holds a number for each dim of src that is "
                    "found, 1 to {} of them",
                    to_string(*view.inputs[indices]), to_string(*view.inputs[0]), rank));
  return static_cast<size_t>(shape.back().constant());
}

}  // namespace orrery::ops
