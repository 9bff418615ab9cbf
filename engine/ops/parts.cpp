// chunk and split_into: a value cut along an axis into parts of one size, or of given sizes
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

using kernels::Copy;

constexpr int64_t kMostParts = 16;

/// Of src and the attributes: the sizes of the parts along the axis.
struct Cut {
  size_t axis = 0;
  std::vector<int64_t> sizes;
};

/// The fixed size of the axis.
Result<int64_t> size_of(const NodeView& view, size_t axis) {
  const Dim& dim = view.inputs[0]->shape[axis];
  if (dim.is_constant()) return dim.constant();
  return mismatch("src", fmt::format("axis {} of src {} differs from step to step; parts have fixed sizes",
                                     axis, to_string(*view.inputs[0])));
}

Result<Cut> cut_in_chunks(const NodeView& view) {
  ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  ORRERY_ASSIGN(const int64_t size, size_of(view, axis));
  const int64_t chunks = integer(*view.attributes, "chunks");
  if (chunks < 1 || chunks > kMostParts || size % chunks != 0)
    return mismatch(
        "src", fmt::format("{} chunks are asked of axis {} of src {}; they must divide it, and be 1 to {}",
                           chunks, axis, to_string(*view.inputs[0]), kMostParts));
  return Cut{axis, std::vector<int64_t>(static_cast<size_t>(chunks), size / chunks)};
}

Result<Cut> cut_in_sizes(const NodeView& view) {
  ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  ORRERY_ASSIGN(const int64_t size, size_of(view, axis));
  std::vector<int64_t> sizes = list(*view.attributes, "sizes");
  int64_t left = size;
  bool fits = !sizes.empty() && sizes.size() <= static_cast<size_t>(kMostParts);
  for (const int64_t each : sizes) {
    fits = fits && each >= 1 && each <= left;
    if (fits) left -= each;
  }
  if (!fits || left != 0)
    return mismatch("src", fmt::format("sizes is [{}]; they must add up to axis {} of src {}, and be 1 to {}",
                                       fmt::join(sizes, ", "), axis, to_string(*view.inputs[0]), kMostParts));
  return Cut{axis, std::move(sizes)};
}

using CutOf = Result<Cut> (*)(const NodeView& view);

template <CutOf cut_of>
Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ORRERY_ASSIGN(const Cut cut, cut_of(view));
  std::vector<ValueType> parts(cut.sizes.size(), *view.inputs[0]);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].shape[cut.axis] = cut.sizes[i];
  return parts;
}

/// A part that nobody reads is not written.
Cost cost(const NodeView& view, const Bindings& bindings) {
  Cost cost;
  for (size_t i = 0; i < view.outputs.size(); ++i)
    if (view.is_read[i]) cost.bytes += 2 * bytes(*view.outputs[i], bindings);
  return cost;
}

struct PartOf {
  Slot slot;
  int64_t first = 0, size = 0;  // along the axis
};

template <CutOf cut_of>
Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const ValueType& type = context.type(node.inputs[0]);
  ORRERY_ASSIGN(const Cut cut, cut_of({.attributes = &node.attributes, .inputs = {&type}, .outputs = {}}));
  Copy::Args args;
  args.from = args.to = type.dtype;
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  args.walk.rank = shape.rank;
  ORRERY_ASSIGN(auto chosen, choose<Copy>(context, node, {args.from, args.to, shape.rank}));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  std::vector<PartOf> parts;
  int64_t first = 0;
  for (size_t i = 0; i < cut.sizes.size(); first += cut.sizes[i++])
    if (context.graph().is_read(node.outputs[i]))
      parts.push_back({context.slot(node.outputs[i]), first, cut.sizes[i]});
  chosen.lowered.run = [=, axis = cut.axis, run = chosen.row->run,
                        parts = std::move(parts)](const StepContext& step) {
    auto call = args;
    shape.at(step, call.walk.sizes);
    kernels::pack_strides(shape.rank, call.walk.sizes, call.walk.strides[0]);
    for (const PartOf& part : parts) {
      call.walk.sizes[axis] = part.size;
      kernels::pack_strides(shape.rank, call.walk.sizes, call.walk.strides[1]);
      call.src = step.data<const std::byte>(src) +
                 part.first * call.walk.strides[0][axis] * dtype_info(args.from).block_bytes;
      call.dst = step.data<void>(part.slot);
      if (call.walk.elements() > 0) run(call, step.launch());
    }
  };
  return std::move(chosen.lowered);
}

/// Those of the parts, one after the other; zeros for parts to which none comes back.
void gradient(Gradients& at, size_t parts) {
  std::vector<Term> gradients;
  for (size_t part = 0; part < parts; ++part) gradients.push_back(at.gradient_or_zeros(part));
  if (parts == 1) return at.give(0, gradients.front());
  at.give(0, at.apply("concat", gradients, {{"axis", integer(at.attributes(), "axis")}}));
}

template <CutOf cut_of>
OpSchema cutting_op(std::string name, std::string doc, AttributeSpec how) {
  std::vector<std::string> outputs;
  for (int64_t i = 0; i < kMostParts; ++i) outputs.push_back("part" + std::to_string(i));
  return {.name = std::move(name),
          .family = OpFamily::data_movement,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = std::move(outputs),
          .attributes = {std::move(how),
                         {"axis", "The axis that is cut; negative: from the last", Attribute(int64_t{0})}},
          .infer = infer<cut_of>,
          .cost = cost,
          .gradient =
              [](Gradients& at) {
                const ValueType src = at.input(0).type();
                const auto cut = cut_of({.attributes = &at.attributes(), .inputs = {&src}, .outputs = {}});
                if (!cut.ok()) return at.refuse(cut.error().what);
                gradient(at, cut->sizes.size());
              },
          .lowering = lowered_to<Copy>(lower<cut_of>)};
}

}  // namespace

OpSchema chunk_op() {
  return cutting_op<cut_in_chunks>("chunk", "A value cut into parts of one size along an axis.",
                                   {"chunks", "How many parts", {}, AttributeType::integer});
}
OpSchema split_into_op() {
  return cutting_op<cut_in_sizes>("split_into", "A value cut into parts of given sizes along an axis.",
                                  {"sizes", "The size of each part", {}, AttributeType::list});
}

}  // namespace orrery::ops
