#include "engine/custom/own_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/custom/own_kernel.h"
#include "engine/graph/own_content.h"
#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::custom {
namespace {

/// A tensor of a type whose symbols have sizes.
Result<orrery_tensor> tensor_of(const graph::ValueType& type, const Bindings& sizes,
                                const std::string& name) {
  orrery_tensor tensor{};
  tensor.dtype = number_of(type.dtype);
  if (tensor.dtype < 0 || type.shape.size() > ORRERY_MAX_RANK)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("{} is {}, and an op of one's own takes elements of at most 6 dims", name,
                             graph::to_string(type)),
                 name, ""};
  tensor.rank = static_cast<int32_t>(type.shape.size());
  for (size_t d = 0; d < type.shape.size(); ++d) {
    const auto size = type.shape[d].evaluate(sizes);
    if (!size)
      return Error{ErrorCode::shape_mismatch, fmt::format("A size of {} is not known", name), name, ""};
    tensor.sizes[d] = *size;
  }
  return tensor;
}

/// The call with the node's types, completed.
Result<orrery_call> call_of(const Body& body, const graph::NodeView& view, const Bindings& sizes) {
  orrery_call call = body.start(*view.attributes);
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (!view.inputs[i]) continue;
    ORRERY_ASSIGN(call.inputs[i], tensor_of(*view.inputs[i], sizes, body.inputs()[i].name));
  }
  ORRERY_TRY(body.complete(call));
  return call;
}

/// The outputs as sums of the inputs' symbols: what they are for some sizes says how they grow.
class Shapes {
 public:
  Shapes(const Body& body, const graph::NodeView& view) : body_(body), view_(view) {
    constexpr int64_t kFirst = 24, kStep = 8;
    for (const graph::ValueType* input : view.inputs)
      if (input)
        for (const Dim& dim : input->shape)
          for (const auto& [symbol, factor] : dim.terms()) base_.emplace(symbol, 0);
    int64_t next = kFirst;
    for (auto& [symbol, size] : base_) size = std::exchange(next, next + kStep);
  }

  Result<std::vector<graph::ValueType>> infer() const {
    ORRERY_ASSIGN(const orrery_call base, call_of(body_, view_, base_));
    std::vector<graph::ValueType> types;
    for (int32_t o = 0; o < base.output_count; ++o) {
      types.push_back({dtype_of(base.outputs[o].dtype), {}});
      for (int32_t d = 0; d < base.outputs[o].rank; ++d)
        types.back().shape.emplace_back(base.outputs[o].sizes[d]);
    }
    if (base_.empty()) return types;
    Bindings further = base_;
    for (const auto& [symbol, size] : base_) {
      Bindings more = base_;
      ++more[symbol];
      further[symbol] += 3 + size % 5;
      ORRERY_ASSIGN(const orrery_call grown, call_of(body_, view_, more));
      ORRERY_TRY(check_like(base, grown));
      for (size_t o = 0; o < types.size(); ++o)
        for (size_t d = 0; d < types[o].shape.size(); ++d) {
          const int64_t factor = grown.outputs[o].sizes[d] - base.outputs[o].sizes[d];
          if (factor != 0) types[o].shape[d] = types[o].shape[d] + Dim(symbol) * factor + Dim(-factor * size);
        }
    }
    ORRERY_ASSIGN(const orrery_call checked, call_of(body_, view_, further));
    for (size_t o = 0; o < types.size(); ++o) {
      ORRERY_ASSIGN(const orrery_tensor expected, tensor_of(types[o], further, body_.outputs()[o]));
      if (to_string(expected) != to_string(checked.outputs[o])) return no_sum();
    }
    return types;
  }

 private:
  Error no_sum() const {
    return {ErrorCode::shape_mismatch,
            fmt::format("The shape that {} makes does not grow in step with {}", body_.name(),
                        base_.begin()->first),
            "", "give it a size that is fixed"};
  }
  Result<void> check_like(const orrery_call& a, const orrery_call& b) const {
    for (int32_t o = 0; o < a.output_count; ++o)
      if (a.outputs[o].rank != b.outputs[o].rank || a.outputs[o].dtype != b.outputs[o].dtype) return no_sum();
    return {};
  }

  const Body& body_;
  const graph::NodeView& view_;
  Bindings base_;
};

Result<std::vector<graph::ValueType>> infer(const Running& running, const graph::NodeView& view) {
  const auto& wanted = std::get<std::string>(view.attributes->at(std::string(graph::kContentAttribute)));
  if (wanted != running.content)
    return Error{ErrorCode::not_found,
                 fmt::format("This was made with another {}, of content {}; the one here has {}",
                             running.body.name(), wanted.substr(0, 64), running.content),
                 "", "add that one, or leave content out to take this one"};
  return Shapes(running.body, view).infer();
}

graph::Cost cost(const Running& running, const graph::NodeView& view, const Bindings& bindings) {
  graph::Cost cost;
  for (const graph::ValueType* input : view.inputs)
    if (input) cost.bytes += graph::bytes_of(*input, bindings);
  for (const graph::ValueType* output : view.outputs) cost.bytes += graph::bytes_of(*output, bindings);
  if (const auto call = call_of(running.body, view, bindings)) cost.flops = running.body.flops(*call);
  return cost;
}

/// Where an operand of a step lies, and what it is.
struct Operand {
  bool given = false;
  int32_t dtype = 0;
  ops::Slot slot;
  ops::StepShape shape;

  orrery_tensor at(const ops::StepContext& step) const {
    orrery_tensor tensor{};
    tensor.rank = given ? shape.rank : -1;
    tensor.dtype = dtype;
    if (!given) return tensor;
    shape.at(step, tensor.sizes);
    tensor.data = const_cast<void*>(step.address(slot));
    return tensor;
  }
};

Result<Operand> operand_of(ops::LowerContext& context, const graph::Node& node, ValueId value, bool output) {
  Operand operand;
  if (!value.valid()) return operand;
  operand.given = true;
  operand.dtype = number_of(context.type(value).dtype);
  ORRERY_ASSIGN(operand.shape, ops::step_shape(context, node, value));
  if (output) {
    operand.slot = context.slot(value);
  } else {
    ORRERY_ASSIGN(operand.slot, ops::elements_of(context, value));
  }
  return operand;
}

Result<ops::Lowered> lower(const std::shared_ptr<const Running>& running, ops::LowerContext& context,
                           const graph::Node& node) {
  ORRERY_ASSIGN(auto chosen, ops::choose<OwnKernel>(context, node, {running.get()}));
  std::vector<Operand> inputs, outputs;
  for (const ValueId value : node.inputs) {
    ORRERY_ASSIGN(Operand operand, operand_of(context, node, value, false));
    inputs.push_back(operand);
  }
  for (const ValueId value : node.outputs) {
    ORRERY_ASSIGN(Operand operand, operand_of(context, node, value, true));
    outputs.push_back(operand);
  }
  // Texts of the call are those of the attributes.
  auto attributes = std::make_shared<const graph::Attributes>(node.attributes);
  chosen.lowered.run = [running, attributes, inputs, outputs, start = running->body.start(*attributes),
                        run = chosen.row->run](const ops::StepContext& step) {
    orrery_call call = start;
    for (size_t i = 0; i < inputs.size(); ++i) call.inputs[i] = inputs[i].at(step);
    for (size_t o = 0; o < outputs.size(); ++o) call.outputs[o] = outputs[o].at(step);
    call.items = running->body.items(call);
    if (call.items > 0) run({running.get(), &call}, step.launch());
  };
  return std::move(chosen.lowered);
}

/// How the nodes of an op run; a type of its own, by which running_of() knows it again.
struct OwnLowering {
  std::shared_ptr<const Running> running;
  Result<ops::Lowered> operator()(ops::LowerContext& context, const graph::Node& node) const {
    return lower(running, context, node);
  }
};

/// The gradient of a node is a node of NAME_backward: of the node's inputs, its outputs and their gradients.
void go_back(const Body& forward, const Body& backward, ops::Gradients& at) {
  graph::Attributes attributes;  // those of the op, without the common ones
  for (const auto& [name, value] : at.attributes())
    if (!graph::is_common_attribute(name)) attributes.emplace(name, value);
  std::vector<ops::Term> operands;
  for (size_t i = 0; i < forward.inputs().size(); ++i) operands.push_back(at.input(i));
  for (size_t o = 0; o < forward.outputs().size(); ++o) operands.push_back(at.output(o));
  for (size_t o = 0; o < forward.outputs().size(); ++o) operands.push_back(at.gradient_or_zeros(o));
  const std::vector<ops::Term> made = at.apply_all(backward.name(), operands, std::move(attributes));
  for (size_t o = 0; o < made.size(); ++o)
    for (size_t i = 0; i < forward.inputs().size(); ++i)
      if (backward.outputs()[o] == "grad_" + forward.inputs()[i].name) at.give(i, made[o]);
}

graph::OpSchema schema_of(const OwnOp& op, bool backward) {
  const auto running = std::make_shared<const Running>(
      Running{Body(op.library, backward), op.image, op.content, op.not_on_card, op.written_for_cards});
  const bool on_card = op.image || running->body.cuda();
  graph::OpSchema schema;
  schema.name = running->body.name();
  schema.family = graph::OpFamily::custom;
  schema.doc = running->body.doc();
  for (const Body::Port& port : running->body.inputs()) schema.inputs.push_back({port.name, port.optional});
  schema.outputs = running->body.outputs();
  schema.attributes = op.library->signature().attributes;
  schema.attributes.push_back({std::string(graph::kContentAttribute),
                               "Which source the op was made of: a hash", graph::Attribute(op.content)});
  schema.infer = [running](const graph::NodeView& view) { return infer(*running, view); };
  schema.cost = [running](const graph::NodeView& view, const Bindings& bindings) {
    return cost(*running, view, bindings);
  };
  if (!backward && op.library->has_backward())
    schema.gradient = [running, gradients = Body(op.library, true)](ops::Gradients& at) {
      go_back(running->body, gradients, at);
    };
  const auto rows = [lists = std::make_shared<const OwnRows>(*running), running,
                     on_card](kernels::DeviceKind device) -> kernels::RowTable {
    if (device == kernels::DeviceKind::cpu) return {std::span<const kernels::Row<OwnKernel>>(lists->cpu)};
    if (!on_card) return {};
    return {std::span<const kernels::Row<OwnKernel>>(lists->card)};
  };
  schema.lowering = std::make_shared<const ops::Lowering>(ops::Lowering{OwnLowering{running}, nullptr, rows});
  return schema;
}

}  // namespace

std::shared_ptr<const Running> running_of(const graph::OpSchema& op) {
  const auto* lowering = op.lowering ? op.lowering->lower.target<OwnLowering>() : nullptr;
  return lowering ? lowering->running : nullptr;
}

std::vector<graph::OpSchema> schemas_of(const OwnOp& op) {
  std::vector<graph::OpSchema> schemas = {schema_of(op, false)};
  if (op.library->has_backward()) schemas.push_back(schema_of(op, true));
  return schemas;
}

}  // namespace orrery::custom
