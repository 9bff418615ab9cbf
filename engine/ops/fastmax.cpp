// fastmax: attention over tensors whose weights are a polynomial of the scores, and fastmax_backward: its
// gradients (kernels/fastmax.h)
#include "kernels/fastmax.h"

#include <cmath>

#include "engine/ops/gradients.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Fastmax;
using kernels::FastmaxBackward;

/// The inputs of the forward op, by their place; those of the other stand one place later, after grad_out.
enum FastmaxInput : size_t { query, key, value, rpe, noise };

std::vector<AttributeSpec> fastmax_attributes() {
  return {{"p", "The degree of the polynomial: 2, or 1 without its square", Attribute(int64_t{2})},
          {"a0", "Weights are a0 + a1 s + a2 s^2 of the score s", Attribute(1.0)},
          {"a1", "The factor of the score", Attribute(1.0)},
          {"a2", "The factor of its square, of p = 2", Attribute(0.5)},
          {"causal", "A query sees keys up to its own place only; the last query stands beside the last key",
           Attribute(false)},
          {"normalise", "Divides query and key by the longest of each batch and head", Attribute(true)},
          {"limit", "The length that the longest gets, where they are normalised", Attribute(1.0)},
          {"temperature", "Divides the keys", Attribute(1.0)},
          {"dropout", "What noise is multiplied by, or the share of features that become 0", Attribute(0.0)},
          {"dropout_form",
           "noise: out is multiplied by 1 + dropout noise; features: products of a query's and of "
           "a key's elements become 0",
           Attribute("noise")},
          {"seed", "Names the noise that is drawn and the mask of features", Attribute(int64_t{0})},
          {"positive",
           "Refuses settings under which a weight may fall below zero; not checked where dropout_form is "
           "features and dropout is above 0",
           Attribute(true)}};
}

Fastmax::Dropping dropping_of(const Attributes& attributes) {
  if (real(attributes, "dropout") == 0) return Fastmax::Dropping::none;
  return text(attributes, "dropout_form") == "features" ? Fastmax::Dropping::features
                                                        : Fastmax::Dropping::noise;
}

/// What the attributes and the types of the operands, of which the first is at `first`, say.
Fastmax::Problem problem_of(const Attributes& attributes, const ValueType& query_type,
                            const ValueType& key_type, bool has_rpe) {
  return {.dtype = query_type.dtype,
          .heads = query_type.shape[1].constant(),
          .kv_heads = key_type.shape[1].constant(),
          .head_dim = query_type.shape[3].constant(),
          .p = static_cast<int>(integer(attributes, "p")),
          .causal = flag(attributes, "causal"),
          .normalise = flag(attributes, "normalise"),
          .has_rpe = has_rpe,
          .dropping = dropping_of(attributes)};
}

Result<void> check_fastmax(const Attributes& attributes, const Fastmax::Problem& problem) {
  ORRERY_TRY(expect_choice(attributes, "dropout_form", {"noise", "features"}));
  for (const std::string_view name : {"a0", "a1", "a2", "limit", "temperature", "dropout"})
    if (const double number = real(attributes, name); !std::isfinite(number))
      return bad_attribute(fmt::format("{} is {}; it must be a finite number", name, number));
  const double rate = real(attributes, "dropout"), limit = real(attributes, "limit"),
               temperature = real(attributes, "temperature");
  if (rate < 0) return bad_attribute(fmt::format("dropout is {}; it must be at least 0", rate));
  if (problem.dropping == Fastmax::Dropping::features && rate >= 1)
    return bad_attribute(fmt::format("dropout is {}; of features it must be less than 1", rate));
  if (limit <= 0) return bad_attribute(fmt::format("limit is {}; it must be above 0", limit));
  if (temperature == 0) return bad_attribute(fmt::format("temperature is {}; it must not be 0", temperature));
  if (std::string reason = kernels::ref::legal(problem); !reason.empty())
    return bad_attribute(std::move(reason));
  const double a0 = real(attributes, "a0"), a1 = real(attributes, "a1"), a2 = real(attributes, "a2");
  if (!flag(attributes, "positive") || problem.dropping == Fastmax::Dropping::features ||
      !Fastmax::may_be_negative(problem, a0, a1, a2, limit, temperature))
    return {};
  if (problem.p == 2)
    return bad_attribute(
        fmt::format("weights may fall below zero: p=2 needs a1^2 < 4 a0 a2, but {} is not less than "
                    "{}; positive=false takes them as they come",
                    a1 * a1, 4 * a0 * a2));
  return bad_attribute(fmt::format(
      "weights may fall below zero: p=1 needs normalised keys without rpe and limit^2 / temperature <= a0 / "
      "a1, but they are {} and {}{}; positive=false takes them as they come",
      limit * limit / std::abs(temperature), a0 / std::abs(a1),
      problem.has_rpe     ? ", with rpe"
      : problem.normalise ? ""
                          : ", not normalised"));
}

/// [batch, heads, tokens, head_dim] of floats, heads and head_dim being fixed.
Result<void> expect_heads(const NodeView& view, size_t input, std::string_view name) {
  ORRERY_TRY(expect_floats(view, input, name));
  const ValueType& type = *view.inputs[input];
  if (type.shape.size() != 4 || !type.shape[1].is_constant() || !type.shape[3].is_constant())
    return mismatch(name,
                    fmt::format("{} is {}; it must be [batch, heads, tokens, head_dim] with fixed heads and "
                                "head_dim",
                                name, to_string(type)));
  return {};
}

/// Checks the operands of either op, of which the query is at `first`.
Result<Fastmax::Problem> check_operands(const NodeView& view, size_t first) {
  ORRERY_TRY(expect_heads(view, first + query, "query"));
  ORRERY_TRY(expect_heads(view, first + key, "key"));
  const ValueType &of_query = *view.inputs[first + query], &of_key = *view.inputs[first + key];
  ORRERY_TRY(expect_same(view, first + value, "value", first + key, "key"));
  if (of_key.dtype != of_query.dtype || of_key.shape[0] != of_query.shape[0] ||
      of_key.shape[3] != of_query.shape[3])
    return mismatch("key", fmt::format("key is {}, but query is {}; type, batch and head_dim must agree",
                                       to_string(of_key), to_string(of_query)));
  if (const ValueType* type = view.inputs[first + rpe]; type != nullptr) {
    const Dim least = of_key.shape[2] * 2 + Dim(-1);
    const bool is_matrix =
        type->shape.size() == 2 && type->dtype == of_query.dtype && type->shape[1] == of_query.shape[3];
    const bool is_long =
        is_matrix && (type->shape[0] == least || (type->shape[0].is_constant() && least.is_constant() &&
                                                  type->shape[0].constant() >= least.constant()));
    if (!is_long)
      return mismatch("rpe", fmt::format("rpe is {}, but key {} needs {}[{}, {}], or more rows",
                                         to_string(*type), to_string(of_key), name_of(of_query.dtype),
                                         least.to_string(), of_query.shape[3].to_string()));
  }
  if (view.inputs[first + noise] != nullptr)
    ORRERY_TRY(expect_same(view, first + noise, "noise", first + query, "query"));
  const Fastmax::Problem problem =
      problem_of(*view.attributes, of_query, of_key, view.inputs[first + rpe] != nullptr);
  ORRERY_TRY(check_fastmax(*view.attributes, problem));
  if (view.inputs[first + noise] != nullptr && problem.dropping == Fastmax::Dropping::features)
    return mismatch("noise", "noise is given, but dropout_form is features, which draws none");
  return problem;
}

Types infer_fastmax(const NodeView& view) {
  ORRERY_TRY(check_operands(view, 0));
  return std::vector{*view.inputs[query]};
}

Types infer_fastmax_backward(const NodeView& view) {
  ORRERY_TRY(check_operands(view, 1));
  ORRERY_TRY(expect_same(view, 0, "grad_out", 1 + query, "query"));
  std::vector<ValueType> types{*view.inputs[1 + query], *view.inputs[1 + key], *view.inputs[1 + value]};
  if (view.inputs[1 + rpe] != nullptr) types.push_back(*view.inputs[1 + rpe]);
  return types;
}

/// Multiply-adds of the cheaper form of `passes` sums of head_dim numbers over pairs of tokens; a causal
/// query meets half of the keys.
double products_of(const NodeView& view, size_t first, const Bindings& bindings, double direct,
                   double factorised) {
  const Attributes& attributes = *view.attributes;
  const double queries = count(view.inputs[first + query]->shape, bindings),
               keys = count(view.inputs[first + key]->shape, bindings);
  const auto dim = static_cast<double>(view.inputs[first + query]->shape[3].constant());
  const double key_tokens = count({view.inputs[first + key]->shape[2]}, bindings);
  const double features = 1 + dim + (integer(attributes, "p") == 2 ? dim * (dim + 1) / 2 : 0.0);
  const double pairs = queries / dim * key_tokens * (flag(attributes, "causal") ? 0.5 : 1.0);
  const double in_pairs = direct * pairs * dim;
  const double in_features = factorised * (queries + keys) / dim * features * (dim + 1);
  if (dropping_of(attributes) == Fastmax::Dropping::features) return in_features;
  return std::min(in_pairs, in_features);
}

double bytes_of_inputs(const NodeView& view, const Bindings& bindings) {
  double sum = 0;
  for (const ValueType* input : view.inputs) sum += bytes(input, bindings);
  return sum;
}

/// Two sums over keys of head_dim products (scores and values), or what a state takes and gives.
Cost cost_fastmax(const NodeView& view, const Bindings& bindings) {
  return {2 * products_of(view, 0, bindings, 2, 1),
          bytes_of_inputs(view, bindings) + bytes(view.outputs[0], bindings)};
}

/// Those of the forward call again, and of scores, of g . value and of what each gradient adds up seven.
Cost cost_fastmax_backward(const NodeView& view, const Bindings& bindings) {
  Cost cost{2 * products_of(view, 1, bindings, 9, 4), bytes_of_inputs(view, bindings)};
  for (size_t output = 0; output < view.outputs.size(); ++output)
    if (view.is_read[output]) cost.bytes += bytes(view.outputs[output], bindings);
  return cost;
}

struct Operands {
  StepShape query_shape, key_shape;
  Slot query, key, value, rpe, noise;
};

int64_t largest(const LowerContext& context, const StepShape& shape, size_t dim) {
  return bounds(context, shape.extents[dim]).max;
}

/// Finds the operands from input `first` on, and describes the call.
Result<Operands> describe(LowerContext& context, const graph::Node& node, size_t first, Fastmax::Args& args) {
  const auto value_at = [&](FastmaxInput input) { return node.inputs[first + input]; };
  const auto optional = [&](FastmaxInput input) -> Result<Slot> {
    if (!value_at(input).valid()) return Slot{};
    return elements_of(context, value_at(input));
  };
  Operands operands;
  ORRERY_ASSIGN(operands.query_shape, step_shape(context, node, value_at(query)));
  ORRERY_ASSIGN(operands.key_shape, step_shape(context, node, value_at(key)));
  ORRERY_ASSIGN(operands.query, elements_of(context, value_at(query)));
  ORRERY_ASSIGN(operands.key, elements_of(context, value_at(key)));
  ORRERY_ASSIGN(operands.value, elements_of(context, value_at(value)));
  ORRERY_ASSIGN(operands.rpe, optional(rpe));
  ORRERY_ASSIGN(operands.noise, optional(noise));
  const Attributes& attributes = node.attributes;
  args.problem = problem_of(attributes, context.type(value_at(query)), context.type(value_at(key)),
                            value_at(rpe).valid());
  args.problem.aligned = args.problem.head_dim * dtype_info(args.problem.dtype).block_bytes % 16 == 0;
  args.problem.batch = largest(context, operands.query_shape, 0);
  args.problem.queries = largest(context, operands.query_shape, 2);
  args.problem.keys = largest(context, operands.key_shape, 2);
  args.a0 = static_cast<float>(real(attributes, "a0"));
  args.a1 = static_cast<float>(real(attributes, "a1"));
  args.a2 = static_cast<float>(real(attributes, "a2"));
  args.limit = static_cast<float>(real(attributes, "limit"));
  args.temperature = static_cast<float>(real(attributes, "temperature"));
  args.rate = real(attributes, "dropout");
  args.seed = static_cast<uint64_t>(integer(attributes, "seed"));
  return operands;
}

kernels::HeadStrides without_gaps(int64_t heads, int64_t tokens, int64_t dim) {
  return {heads * tokens * dim, tokens * dim, dim};
}

/// The call of a step, but for what it writes.
Fastmax::Args call_of(const StepContext& step, const Operands& operands, Fastmax::Args call) {
  call.batch = operands.query_shape.product(step, 0, 1);
  call.queries = operands.query_shape.product(step, 2, 3);
  call.keys = operands.key_shape.product(step, 2, 3);
  call.query = step.address(operands.query);
  call.key = step.address(operands.key);
  call.value = step.address(operands.value);
  call.rpe = step.address(operands.rpe);
  call.noise = step.address(operands.noise);
  const Fastmax::Problem& problem = call.problem;
  call.query_strides = call.out_strides = without_gaps(problem.heads, call.queries, problem.head_dim);
  call.key_strides = call.value_strides = without_gaps(problem.kv_heads, call.keys, problem.head_dim);
  return call;
}

Result<Lowered> lower_fastmax(LowerContext& context, const graph::Node& node) {
  Fastmax::Args args;
  ORRERY_ASSIGN(const Operands operands, describe(context, node, 0, args));
  ORRERY_ASSIGN(auto chosen, choose<Fastmax>(context, node, args.problem));
  const Slot out = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    Fastmax::Args call = call_of(step, operands, args);
    call.out = step.data<void>(out);
    if (call.batch > 0 && call.queries > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_fastmax_backward(LowerContext& context, const graph::Node& node) {
  FastmaxBackward::Args args;
  ORRERY_ASSIGN(const Operands operands, describe(context, node, 1, args.forward));
  args.problem.forward = args.forward.problem;
  ORRERY_ASSIGN(auto chosen, choose<FastmaxBackward>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot grad_out, elements_of(context, node.inputs[0]));
  const auto read_slot = [&](size_t output) {
    const bool read = output < node.outputs.size() && context.graph().is_read(node.outputs[output]);
    return read ? context.slot(node.outputs[output]) : Slot{};
  };
  const Slot grad_query = read_slot(0), grad_key = read_slot(1), grad_value = read_slot(2),
             grad_rpe = read_slot(3);
  StepShape rpe_shape;
  if (node.inputs[1 + rpe].valid()) {
    ORRERY_ASSIGN(rpe_shape, step_shape(context, node, node.inputs[1 + rpe]));
  }
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    FastmaxBackward::Args call = args;
    call.forward = call_of(step, operands, args.forward);
    call.grad_out = step.address(grad_out);
    call.grad_out_strides = call.forward.query_strides;
    call.grad_query = step.data<void>(grad_query);
    call.grad_key = step.data<void>(grad_key);
    call.grad_value = step.data<void>(grad_value);
    call.grad_rpe = step.data<void>(grad_rpe);
    call.rpe_rows = rpe_shape.rank > 0 ? rpe_shape.product(step, 0, 1) : 0;
    if (call.forward.batch > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Its backward op, which knows no gradient of noise.
void gradient(Gradients& at) {
  if (at.wants(noise))
    return at.refuse("the backward op gives none of noise", "differentiate with respect to its other inputs");
  Attributes attributes = at.attributes();
  std::erase_if(attributes, [](const auto& entry) { return graph::is_common_attribute(entry.first); });
  const std::vector<Term> made = at.apply_all(
      "fastmax_backward",
      {at.gradient(), at.input(query), at.input(key), at.input(value), at.input(rpe), at.input(noise)},
      std::move(attributes));
  for (size_t input = query; input < made.size() && input <= rpe; ++input) at.give(input, made[input]);
}

}  // namespace

OpSchema fastmax_op() {
  return {.name = "fastmax",
          .family = OpFamily::attention,
          .doc =
              "Attention over tensors whose weights are a polynomial of the scores, in a time that grows "
              "with the tokens, not with their square, where there are many. "
              "With causal and normalise the longest row of the whole text decides, so later tokens change "
              "earlier outputs. NaN in a value may reach queries that do not see it.",
          .inputs = {{"query"}, {"key"}, {"value"}, {"rpe", true}, {"noise", true}},
          .outputs = {"out"},
          .attributes = fastmax_attributes(),
          .infer = infer_fastmax,
          .cost = cost_fastmax,
          .gradient = gradient,
          .lowering = lowered_to<Fastmax>(lower_fastmax)};
}

OpSchema fastmax_backward_op() {
  return {.name = "fastmax_backward",
          .family = OpFamily::attention,
          .doc = "The gradients of fastmax, by what a loss changes with its output.",
          .inputs = {{"grad_out"}, {"query"}, {"key"}, {"value"}, {"rpe", true}, {"noise", true}},
          .outputs = {"grad_query", "grad_key", "grad_value", "grad_rpe"},
          .attributes = fastmax_attributes(),
          .infer = infer_fastmax_backward,
          .cost = cost_fastmax_backward,
          .lowering = lowered_to<FastmaxBackward>(lower_fastmax_backward)};
}

}  // namespace orrery::ops
