// reshape: the same elements in the same order under another shape. No copy is made where the result may lie
// where the source lies (OpSchema::view).
#include <algorithm>

#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

/// A product of dims: a number times dims without a common divisor, in order.
struct Product {
  int64_t factor = 1;
  std::vector<Dim> symbolic;
  bool fits = true;

  void take(const Dim& dim) {
    const int64_t divisor = dim.divisor();
    fits = fits && !__builtin_mul_overflow(factor, divisor, &factor);
    if (!dim.is_constant()) symbolic.push_back(dim / divisor);
  }
};

/// The dim by which `part` becomes `whole`; nothing where there is none.
std::optional<Dim> quotient(const Product& whole, const Product& part) {
  std::vector<Dim> left = whole.symbolic;
  for (const Dim& dim : part.symbolic) {
    const auto same = std::find(left.begin(), left.end(), dim);
    if (same == left.end()) return std::nullopt;
    left.erase(same);
  }
  if (!whole.fits || !part.fits || left.size() > 1 || part.factor == 0 || whole.factor % part.factor != 0)
    return std::nullopt;
  const int64_t factor = whole.factor / part.factor;
  return left.empty() ? Dim(factor) : left.front() * factor;
}

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  const std::vector<int64_t> asked = list(*view.attributes, "shape");
  const auto refused = [&](std::string_view why) {
    return mismatch("src", fmt::format("src is {}, which cannot be seen as [{}]: {}", to_string(src),
                                       fmt::join(asked, ", "), why));
  };
  if (asked.size() > kernels::kMaxRank)
    return refused(fmt::format("kernels walk {} dims", kernels::kMaxRank));
  Product whole, part;
  for (const Dim& dim : src.shape) whole.take(dim);
  ValueType dst{src.dtype, {}};
  std::optional<size_t> open;
  for (size_t d = 0; d < asked.size(); ++d) {
    if (asked[d] < -1 || (asked[d] == -1 && open)) return refused("one size may be -1, for the rest");
    if (asked[d] == 0 && d >= src.shape.size())
      return refused("0 takes the same dim of src, which has fewer");
    if (asked[d] == -1) open = d;
    dst.shape.push_back(asked[d] == 0 ? src.shape[d] : Dim(asked[d]));
    if (asked[d] != -1) part.take(dst.shape.back());
  }
  const std::optional<Dim> rest = quotient(whole, part);
  if (!rest || (!open && *rest != Dim(1))) return refused("it has other numbers of elements");
  if (open) dst.shape[*open] = *rest;
  return std::vector{std::move(dst)};
}

/// A view moves nothing.
Cost cost(const NodeView&, const Bindings&) { return {}; }

}  // namespace

OpSchema reshape_op() {
  return {.name = "reshape",
          .family = OpFamily::data_movement,
          .doc = "The same elements under another shape.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"shape",
                          "Its sizes, outermost first: 0 takes the same dim of src, one -1 is what is left",
                          {},
                          AttributeType::list}},
          .infer = infer,
          .cost = cost,
          .view = true,
          .gradient = [](Gradients& at) { at.give(0, reshaped(at.gradient(), at.input(0).type().shape)); },
          .lowering = lowered_to<kernels::Copy>(lower_view)};
}

}  // namespace orrery::ops
