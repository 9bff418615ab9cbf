// probe: dst = src, where a person looks at a value. No copy is made where the result may lie where the
// source lies (OpSchema::view), and feed hashes look through it, so that no context is read again.
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  return std::vector{*view.inputs[0]};
}

/// A view moves nothing.
Cost cost(const NodeView&, const Bindings&) { return {}; }

}  // namespace

OpSchema probe_op() {
  return {.name = "probe",
          .family = OpFamily::data_movement,
          .doc = "Marks a value that is to be kept and shown; it passes as it is.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .view = true,
          .identity = true,
          .gradient = [](Gradients& at) { at.give(0, at.gradient()); },
          .lowering = lowered_to<kernels::Copy>(lower_view)};
}

}  // namespace orrery::ops
