#include "engine/models/state_space.h"

namespace orrery::models {
namespace {

/// Rows of a matrix that holds several projections, one above another.
ValueId part(GraphBuilder& builder, ValueId src, const std::string& name, const std::string& tensor,
             const TensorPart& rows, int64_t cols) {
  return builder.linear(src, {name, tensor, rows.rows[1], cols, rows});
}

ValueId convolve(GraphBuilder& builder, ValueId src, const StateSpace& space, int64_t layer,
                 std::vector<ValueId>& states) {
  const std::vector<int64_t> flat = {space.inner, space.kernel}, deep = {space.inner, 1, space.kernel};
  const ValueId before = builder.record("convolution_record", layer, {space.kernel - 1, space.inner});
  const ValueId weight = builder.weight("convolution.weight", space.convolution + ".weight",
                                        space.flat_convolution ? flat : deep);
  const std::string bias = space.convolution + ".bias";
  const ValueId dst =
      builder.add("causal_convolution", "convolution",
                  {before, src, weight,
                   builder.has(bias) ? builder.weight("convolution.bias", bias, {space.inner}) : ValueId{}});
  states.push_back(builder.output(dst, 1));
  return activate(builder, "act", dst, space.activation);
}

ValueId scan(GraphBuilder& builder, ValueId src, const StateSpace& space, int64_t layer,
             std::vector<ValueId>& states) {
  const int64_t all = space.rank + 2 * space.states;
  const auto select = [&](const std::string& name, int64_t first, int64_t rows) {
    return part(builder, src, name, space.selection, {.rows = {first, rows}, .of_rows = all}, space.inner);
  };
  const ValueId low = select("step_proj", 0, space.rank);
  const ValueId b = select("b_proj", space.rank, space.states);
  const ValueId c = select("c_proj", space.rank + space.states, space.states);
  const ValueId delta = builder.linear(low, {"dt_proj", space.step, space.inner, space.rank});
  const ValueId before = builder.record("scan_record", layer, {space.states, space.inner});
  const ValueId dst =
      builder.add("selective_scan", "scan",
                  {before, src, delta, b, c, builder.weight("a", space.a, {space.inner, space.states}),
                   builder.weight("d", space.d, {space.inner})},
                  {{"log_a", space.log_a}});
  states.push_back(builder.output(dst, 1));
  return dst;
}

}  // namespace

ValueId mix_states(GraphBuilder& builder, ValueId src, const StateSpace& space, int64_t layer,
                   std::vector<ValueId>& states) {
  const int64_t inner = space.inner;
  const ValueId channels =
      part(builder, src, "in_proj", space.in, {.rows = {0, inner}, .of_rows = 2 * inner}, space.width);
  const ValueId gate =
      part(builder, src, "gate_proj", space.in, {.rows = {inner, inner}, .of_rows = 2 * inner}, space.width);
  const ValueId convolved = convolve(builder, channels, space, layer, states);
  const ValueId mixed = scan(builder, convolved, space, layer, states);
  const ValueId active = activate(builder, "gate_act", gate, space.activation);
  return builder.linear(builder.add("mul", "gate", {active, mixed}),
                        {"out_proj", space.out, space.width, inner});
}

}  // namespace orrery::models
