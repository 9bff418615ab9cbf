// scatter, scatter_nd and their forms that add, multiply, or keep the larger or smaller number: a value with
// updates put where indices say (kernels/scatter.h)
#include <algorithm>
#include <functional>

#include "engine/ops/gradients.h"
#include "engine/ops/index_support.h"
#include "kernels/copy.h"
#include "kernels/scatter.h"

namespace orrery::ops {
namespace {

using kernels::Copy;
using kernels::Scatter;
using Function = Scatter::Function;
enum Operand : size_t { kSrc, kUpdates, kIndices };

Result<void> expect_operands(Function function, const NodeView& view) {
  ORRERY_TRY(expect_elements(view, kSrc, "src"));
  ORRERY_TRY(expect_indices(view, kIndices));
  const ValueType &src = *view.inputs[kSrc], &updates = *view.inputs[kUpdates];
  if (updates.dtype != src.dtype)
    return mismatch("updates", fmt::format("updates is {}, but src is {}; they must be of one type: cast one",
                                           to_string(updates), to_string(src)));
  if (src.dtype == DType::boolean && function != Function::set)
    return mismatch("src", fmt::format("src is {}; bools are no numbers: cast it", to_string(src)));
  return {};
}

Types infer_scatter(Function function, const NodeView& view) {
  ORRERY_TRY(expect_operands(function, view));
  const ValueType &src = *view.inputs[kSrc], &updates = *view.inputs[kUpdates],
                  &indices = *view.inputs[kIndices];
  ORRERY_ASSIGN(const size_t axis, axis_of(view, kSrc, "src", integer(*view.attributes, "axis")));
  if (indices.shape != updates.shape || updates.shape.size() != src.shape.size())
    return mismatch("updates",
                    fmt::format("updates is {}, indices {} and src {}; updates and indices must have one "
                                "shape, of as many dims as src",
                                to_string(updates), to_string(indices), to_string(src)));
  for (size_t d = 0; d < src.shape.size(); ++d) {
    const Dim &part = updates.shape[d], &whole = src.shape[d];
    const bool fits =
        part == whole || (part.is_constant() && whole.is_constant() && part.constant() <= whole.constant());
    if (d != axis && !fits)
      return mismatch("updates", fmt::format("updates is {}, but src is {}; dim {} is larger",
                                             to_string(updates), to_string(src), d));
  }
  return std::vector{src};
}

Types infer_scatter_nd(Function function, const NodeView& view) {
  ORRERY_TRY(expect_operands(function, view));
  ORRERY_ASSIGN(const size_t depth, found_dims(view, kIndices));
  const ValueType &src = *view.inputs[kSrc], &updates = *view.inputs[kUpdates];
  Shape wanted = view.inputs[kIndices]->shape;
  wanted.pop_back();
  wanted.insert(wanted.end(), src.shape.begin() + static_cast<std::ptrdiff_t>(depth), src.shape.end());
  if (updates.shape != wanted)
    return mismatch("updates",
                    fmt::format("updates is {}; for src {} and indices {} it must be {}", to_string(updates),
                                to_string(src), to_string(*view.inputs[kIndices]),
                                to_string(ValueType{src.dtype, wanted})));
  return std::vector{src};
}

Cost cost(Function function, const NodeView& view, const Bindings& bindings) {
  const double updates = count(view.inputs[kUpdates]->shape, bindings);
  return {function == Function::set ? 0 : updates, 2 * bytes(*view.outputs[0], bindings) +
                                                       2 * bytes(*view.inputs[kUpdates], bindings) +
                                                       bytes(*view.inputs[kIndices], bindings)};
}

/// What one call of the kernel is, from the sizes of a step.
using Point = std::function<void(const int64_t* src, const int64_t* updates, Scatter::Args& call)>;

/// dst is src first, which a row of Copy brings there.
Result<Lowered> lower(Function function, LowerContext& context, const graph::Node& node, Point point) {
  Scatter::Args args;
  const DType dtype = context.type(node.inputs[kSrc]).dtype;
  args.problem = {function, dtype, context.type(node.inputs[kIndices]).dtype};
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[kSrc]));
  ORRERY_ASSIGN(const StepShape changed, step_shape(context, node, node.inputs[kUpdates]));
  ORRERY_ASSIGN(const auto copy, choose<Copy>(context, node, {dtype, dtype, 1}));
  ORRERY_ASSIGN(auto chosen, choose<Scatter>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[kSrc]));
  ORRERY_ASSIGN(const Slot updates, elements_of(context, node.inputs[kUpdates]));
  ORRERY_ASSIGN(const Slot indices, elements_of(context, node.inputs[kIndices]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run, bring = copy.row->run,
                        point = std::move(point)](const StepContext& step) {
    int64_t sizes[kernels::kMaxRank], update_sizes[kernels::kMaxRank];
    shape.at(step, sizes);
    changed.at(step, update_sizes);
    Copy::Args whole;
    whole.from = whole.to = dtype;
    whole.walk.rank = 1;
    whole.walk.sizes[0] = shape.product(step, 0, shape.rank);
    whole.walk.strides[0][0] = whole.walk.strides[1][0] = 1;
    whole.src = step.address(src);
    whole.dst = step.data<void>(dst);
    if (whole.walk.sizes[0] == 0) return;
    bring(whole, step.launch());
    auto call = args;
    point(sizes, update_sizes, call);
    call.updates = step.address(updates);
    call.indices = step.address(indices);
    call.dst = step.data<void>(dst);
    if (call.lines.elements() > 0 && call.steps > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_scatter(Function function, LowerContext& context, const graph::Node& node) {
  const auto rank = static_cast<int>(context.type(node.inputs[kSrc]).shape.size());
  const int64_t named = integer(node.attributes, "axis");
  const int axis = static_cast<int>(named < 0 ? named + rank : named);
  return lower(function, context, node,
               [rank, axis](const int64_t* src, const int64_t* updates, Scatter::Args& call) {
                 int64_t whole[kernels::kMaxRank], part[kernels::kMaxRank];
                 kernels::pack_strides(rank, src, whole);
                 kernels::pack_strides(rank, updates, part);
                 for (int d = 0; d < rank; ++d) {
                   if (d == axis) continue;
                   const int to = call.lines.rank++;
                   call.lines.sizes[to] = updates[d];
                   call.lines.strides[0][to] = whole[d];
                   call.lines.strides[1][to] = call.lines.strides[2][to] = part[d];
                 }
                 call.steps = updates[axis];
                 call.update_step = call.index_step = part[axis];
                 call.sizes[0] = src[axis];
                 call.strides[0] = whole[axis];
               });
}

Result<Lowered> lower_scatter_nd(Function function, LowerContext& context, const graph::Node& node) {
  const auto rank = static_cast<int>(context.type(node.inputs[kSrc]).shape.size());
  const Shape& places = context.type(node.inputs[kIndices]).shape;
  const auto depth = static_cast<int>(places.back().constant());
  const auto before = static_cast<int>(places.size()) - 1;  // dims of updates that are places
  return lower(function, context, node,
               [rank, depth, before](const int64_t* src, const int64_t* updates, Scatter::Args& call) {
                 int64_t whole[kernels::kMaxRank];
                 kernels::pack_strides(rank, src, whole);
                 int64_t inner = 1;
                 for (int d = depth; d < rank; ++d) inner *= src[d];
                 call.lines.rank = 1;
                 call.lines.sizes[0] = inner;
                 call.lines.strides[0][0] = call.lines.strides[1][0] = 1;
                 call.steps = 1;
                 for (int d = 0; d < before; ++d) call.steps *= updates[d];
                 call.update_step = inner;
                 call.index_step = call.depth = depth;
                 std::copy_n(src, depth, call.sizes);
                 std::copy_n(whole, depth, call.strides);
               });
}

std::string named(std::string name, Function function) {
  return function == Function::set
             ? name
             : name + "_" + std::string(kernels::kScatterNames[static_cast<size_t>(function)]);
}

/// A node on its way back: its updates and where they go, of scatter_nd with the dims that are places as one.
class Places {
 public:
  Places(Gradients& at, bool nd)
      : at_(at), nd_(nd), updates_(flat(at.input(kUpdates))), indices_(flat(at.input(kIndices))) {}

  const Term& updates() const { return updates_; }
  Term put(Function function, const Term& onto, const Term& updates) const {
    Attributes attributes;
    if (!nd_) attributes.insert_or_assign("axis", axis());
    return at_.apply(named(nd_ ? "scatter_nd" : "scatter", function), {onto, updates, indices_},
                     std::move(attributes));
  }
  /// What a value of the shape of src has where each update goes.
  Term taken(const Term& from) const {
    return nd_ ? at_.apply("gather_nd", {from, indices_}) : taken_along(from, indices_, axis());
  }
  /// Whose turn it is: 0, 1, ..
  Term turns() const { return numbered(updates_, nd_ ? 0 : axis(), DType::i64); }
  void give_updates(const Term& gradient) const {
    at_.give(kUpdates, nd_ ? reshaped(gradient, at_.input(kUpdates).type().shape) : gradient);
  }

 private:
  int64_t axis() const { return integer(at_.attributes(), "axis"); }
  Term flat(const Term& operand) const {
    const auto before = static_cast<int64_t>(at_.input(kIndices).type().shape.size()) - 1;
    if (!nd_ || before == 1) return operand;
    if (before == 0) return unsqueeze(operand, 0);
    return apply("flatten", operand, {{"start_dim", int64_t{0}}, {"end_dim", before - 1}});
  }

  Gradients& at_;
  bool nd_;
  Term updates_, indices_;
};

/// src keeps its gradient but where it was overwritten, and of the updates at one place the last one gets it.
void gradient_of_set(Gradients& at, const Places& places) {
  const Term g = at.gradient();
  if (at.wants(kSrc)) at.give(kSrc, places.put(Function::set, g, zeros_like(places.updates())));
  if (!at.wants(kUpdates)) return;
  const Term turn = places.turns();
  const Term last = places.put(Function::set, filled_like(g, 0, DType::i64), turn);
  const Term stays = at.apply("equal", {places.taken(last), turn});
  places.give_updates(where(stays, places.taken(g), at.number(0, g.type().dtype)));
}

void gradient_of_add(Gradients& at, const Places& places) {
  at.give(kSrc, at.gradient());
  if (at.wants(kUpdates)) places.give_updates(places.taken(at.gradient()));
}

/// The first of those that are the result gets it: src where no update went beyond it, else one update.
void gradient_of_extreme(Gradients& at, const Places& places, Function function) {
  const Term g = at.gradient(), src = at.input(kSrc), dst = at.output();
  const auto beyond = [&](const Term& a, const Term& b) {
    return function == Function::max ? at.apply("greater", {a, b}) : at.apply("less", {a, b});
  };
  const Term moved = beyond(dst, src), zero = at.number(0, g.type().dtype);
  at.give(kSrc, where(moved, zero, g));
  if (!at.wants(kUpdates)) return;
  const Term is_result = at.apply(
      "logical_and", {places.taken(moved), at.apply("equal", {places.updates(), places.taken(dst)})});
  constexpr double kNoTurn = 9007199254740992.0;  // 2^53
  const Term turn = places.turns();
  const Term first = places.put(Function::min, filled_like(g, kNoTurn, DType::i64),
                                where(is_result, turn, at.number(kNoTurn, DType::i64)));
  const Term wins = at.apply("logical_and", {is_result, at.apply("equal", {places.taken(first), turn})});
  places.give_updates(where(wins, places.taken(g), zero));
}

/// The product of the others at its place: of no zero dst / update, of one zero that one's alone.
void gradient_of_mul(Gradients& at, const Places& places) {
  const Term g = at.gradient(), src = at.input(kSrc), updates = places.updates();
  const DType dtype = src.type().dtype;
  if (at.wants(kSrc)) at.give(kSrc, g * places.put(Function::mul, filled_like(g, 1, dtype), updates));
  if (!at.wants(kUpdates)) return;
  const Term zero = at.number(0, dtype), one = at.number(1, dtype), is_zero = updates == 0;
  const auto without_zeros = [&](const Term& of) { return where(of == 0, one, of); };
  const Term product = places.taken(places.put(Function::mul, without_zeros(src), without_zeros(updates)));
  const Term zeros = places.taken(places.put(Function::add, cast(src == 0, dtype), cast(is_zero, dtype)));
  const Term others = where(is_zero, where(zeros == 1, product, zero),
                            where(zeros == 0, product / without_zeros(updates), zero));
  places.give_updates(places.taken(g) * others);
}

void gradient(Gradients& at, Function function, bool nd) {
  const Places places(at, nd);
  switch (function) {
    case Function::set:
      return gradient_of_set(at, places);
    case Function::add:
      return gradient_of_add(at, places);
    case Function::mul:
      return gradient_of_mul(at, places);
    default:
      return gradient_of_extreme(at, places, function);
  }
}

std::string doc_of(Function function, const std::string& where) {
  constexpr std::string_view kWhat[] = {
      "put where indices say", "added where indices say", "put where indices say if they are larger",
      "put where indices say if they are smaller", "multiplied in where indices say"};
  return fmt::format(
      "A value with updates {}, {}. Of several at one place each has its turn, in their order.",
      kWhat[static_cast<size_t>(function)], where);
}

OpSchema scatter_op_of(Function function) {
  return {.name = named("scatter", function),
          .family = OpFamily::data_movement,
          .doc = doc_of(function, "along an axis"),
          .inputs = {{"src"}, {"updates"}, {"indices"}},
          .outputs = {"dst"},
          .attributes = {{"axis", "The axis; negative: from the last", Attribute(int64_t{-1})}},
          .infer = [function](const NodeView& view) { return infer_scatter(function, view); },
          .cost = [function](const NodeView& view,
                             const Bindings& bindings) { return cost(function, view, bindings); },
          .gradient = [function](Gradients& at) { gradient(at, function, false); },
          .lowering = lowered_to<Scatter, Copy>([function](LowerContext& context, const graph::Node& node) {
            return lower_scatter(function, context, node);
          })};
}

OpSchema scatter_nd_op_of(Function function) {
  return {.name = named("scatter_nd", function),
          .family = OpFamily::data_movement,
          .doc = doc_of(function, "at places in its first dims"),
          .inputs = {{"src"}, {"updates"}, {"indices"}},
          .outputs = {"dst"},
          .infer = [function](const NodeView& view) { return infer_scatter_nd(function, view); },
          .cost = [function](const NodeView& view,
                             const Bindings& bindings) { return cost(function, view, bindings); },
          .gradient = [function](Gradients& at) { gradient(at, function, true); },
          .lowering = lowered_to<Scatter, Copy>([function](LowerContext& context, const graph::Node& node) {
            return lower_scatter_nd(function, context, node);
          })};
}

}  // namespace

OpSchema scatter_op() { return scatter_op_of(Function::set); }
OpSchema scatter_add_op() { return scatter_op_of(Function::add); }
OpSchema scatter_max_op() { return scatter_op_of(Function::max); }
OpSchema scatter_min_op() { return scatter_op_of(Function::min); }
OpSchema scatter_mul_op() { return scatter_op_of(Function::mul); }
OpSchema scatter_nd_op() { return scatter_nd_op_of(Function::set); }
OpSchema scatter_nd_add_op() { return scatter_nd_op_of(Function::add); }
OpSchema scatter_nd_max_op() { return scatter_nd_op_of(Function::max); }
OpSchema scatter_nd_min_op() { return scatter_nd_op_of(Function::min); }
OpSchema scatter_nd_mul_op() { return scatter_nd_op_of(Function::mul); }

}  // namespace orrery::ops
