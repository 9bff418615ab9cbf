// fused_sampling: one token a row of logits, drawn by its seed and position (kernels/sample.h)
#include "engine/ops/gradients.h"
#include "engine/ops/sampling.h"
#include "engine/ops/tensor_support.h"

namespace orrery::ops {
namespace {

using kernels::Sample;

struct Sampled {
  enum Input : size_t { logits, bias, recent, seeds, positions };
  enum Output : size_t { token, logprob, top_tokens, top_logprobs };
};

double number_in(const Attributes& attributes, std::string_view name) {
  const Attribute& value = attributes.find(name)->second;
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

/// Those that requests have are held to the same ranges.
Result<void> check_sampled(const Attributes& attributes) {
  for (const SamplingRange& range : sampling_ranges()) {
    if (attributes.find(range.name) == attributes.end()) continue;
    const double value = number_in(attributes, range.name);
    if (value >= range.low && value <= range.high && !(range.above_low && value == range.low)) continue;
    return bad_attribute(fmt::format("{} is {}; it must be {} {} and at most {}", range.name, value,
                                     range.above_low ? "above" : "at least", range.low, range.high));
  }
  if (const int64_t top = integer(attributes, "logprobs"); top < 0 || top > Sample::kMaxTop)
    return bad_attribute(
        fmt::format("logprobs is {}; it must be at least 0 and at most {}", top, Sample::kMaxTop));
  return {};
}

/// An optional input of one of two types.
Result<void> expect_one_of(const NodeView& view, size_t input, std::string_view name, const ValueType& a,
                           const ValueType& b) {
  const ValueType* type = view.inputs[input];
  if (type == nullptr || *type == a || *type == b) return {};
  std::string wanted = to_string(a);
  if (a != b) wanted += " or " + to_string(b);
  return mismatch(name, fmt::format("{} is {}, but logits {} need {}", name, to_string(*type),
                                    to_string(*view.inputs[Sampled::logits]), wanted));
}

Types infer_sampled(const NodeView& view) {
  ORRERY_TRY(check_sampled(*view.attributes));
  ORRERY_TRY(expect_floats(view, Sampled::logits, "logits"));
  const ValueType& logits = *view.inputs[Sampled::logits];
  const bool sized = !logits.shape.empty() && logits.shape.back().is_constant();
  if (!sized || logits.shape.back().constant() < 1 || logits.shape.back().constant() > INT32_MAX)
    return mismatch("logits", fmt::format("logits is {}; its last dim must be a fixed size of 1 to 2^31 - 1",
                                          to_string(logits)));
  Shape rows = logits.shape;
  rows.pop_back();
  ORRERY_TRY(expect_one_of(view, Sampled::bias, "bias", {DType::f32, {logits.shape.back()}},
                           {DType::f32, logits.shape}));
  if (const ValueType* recent = view.inputs[Sampled::recent]) {
    Shape list = rows;
    list.push_back(recent->shape.empty() ? Dim(1) : recent->shape.back());
    ORRERY_TRY(expect_one_of(view, Sampled::recent, "recent", {DType::i32, list}, {DType::i32, list}));
  }
  const ValueType number{DType::i64, rows};
  ORRERY_TRY(expect_one_of(view, Sampled::seeds, "seeds", number, number));
  ORRERY_TRY(expect_one_of(view, Sampled::positions, "positions", number, number));
  std::vector<ValueType> types{number, ValueType{DType::f32, rows}};
  if (const int64_t top = integer(*view.attributes, "logprobs"); top > 0) {
    rows.push_back(top);
    types.push_back({DType::i64, rows});
    types.push_back({DType::f32, rows});
  }
  return types;
}

/// A softmax over the logits, which are read once from memory, and an addition for each bias.
Cost cost_sampled(const NodeView& view, const Bindings& bindings) {
  const double each = 5 + (view.inputs[Sampled::bias] != nullptr ? 1 : 0);
  Cost cost{each * count(view.inputs[Sampled::logits]->shape, bindings), 0};
  for (const ValueType* input : view.inputs) cost.bytes += bytes(input, bindings);
  for (size_t output = 0; output < view.outputs.size(); ++output)
    if (view.is_read[output]) cost.bytes += bytes(view.outputs[output], bindings);
  return cost;
}

Sample::Request request_of_node(const Attributes& attributes) {
  const auto real_of = [&](std::string_view name) { return static_cast<float>(real(attributes, name)); };
  Sample::Request request;
  request.params = {.temperature = real_of("temperature"),
                    .top_k = static_cast<int32_t>(integer(attributes, "top_k")),
                    .top_p = real_of("top_p"),
                    .min_p = real_of("min_p"),
                    .repeat_penalty = real_of("repeat_penalty"),
                    .seed = static_cast<uint64_t>(integer(attributes, "seed")),
                    .frequency_penalty = real_of("frequency_penalty"),
                    .presence_penalty = real_of("presence_penalty")};
  request.position = static_cast<uint64_t>(integer(attributes, "position"));
  request.top = static_cast<int32_t>(integer(attributes, "logprobs"));
  return request;
}

Result<Lowered> lower_sampled(LowerContext& context, const graph::Node& node) {
  const ValueId logits_value = node.inputs[Sampled::logits];
  const graph::ValueType& type = context.type(logits_value);
  Sample::Args args;
  args.vocabulary = cols_of(context, logits_value);
  args.dtype = type.dtype;
  args.batch.each = request_of_node(node.attributes);
  ORRERY_ASSIGN(auto chosen, choose<Sample>(context, node, {args.vocabulary, false, type.dtype}));
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, logits_value));
  ORRERY_ASSIGN(const Slot logits, elements_of(context, logits_value));
  ORRERY_ASSIGN(const Slot bias, optional_elements(context, node.inputs[Sampled::bias]));
  ORRERY_ASSIGN(const Slot recent, optional_elements(context, node.inputs[Sampled::recent]));
  ORRERY_ASSIGN(const Slot seeds, optional_elements(context, node.inputs[Sampled::seeds]));
  ORRERY_ASSIGN(const Slot positions, optional_elements(context, node.inputs[Sampled::positions]));
  StepShape recent_shape;
  if (node.inputs[Sampled::recent].valid()) {
    ORRERY_ASSIGN(recent_shape, step_shape(context, node, node.inputs[Sampled::recent]));
  }
  const bool bias_each = node.inputs[Sampled::bias].valid() &&
                         context.type(node.inputs[Sampled::bias]).shape.size() == type.shape.size() &&
                         type.shape.size() > 1;
  const Slot tokens = read_slot(context, node, Sampled::token),
             logprobs = read_slot(context, node, Sampled::logprob),
             top_tokens = read_slot(context, node, Sampled::top_tokens),
             top_logprobs = read_slot(context, node, Sampled::top_logprobs);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    Sample::Batch& batch = call.batch;
    call.outputs = shape.product(step, 0, shape.rank - 1);
    call.logits = step.address(logits);
    batch.each.bias = step.data<const float>(bias);
    batch.bias_stride = bias_each ? args.vocabulary : 0;
    batch.each.recent = step.data<const int32_t>(recent);
    batch.recent_stride = recent_shape.rank > 0 ? recent_shape.extents[recent_shape.rank - 1].at(step) : 0;
    batch.each.recent_count = static_cast<int32_t>(batch.recent_stride);
    batch.seeds = step.data<const int64_t>(seeds);
    batch.positions = step.data<const int64_t>(positions);
    batch.tokens = step.data<int64_t>(tokens);
    batch.logprobs = step.data<float>(logprobs);
    batch.top_tokens = step.data<int64_t>(top_tokens);
    batch.top_logprobs = step.data<float>(top_logprobs);
    if (call.outputs > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// Of log-probabilities, which are those of the untouched softmax: one at each id, less the softmax. Ids are
/// no numbers that move.
void gradient(Gradients& at) {
  const Term logits = cast(at.input(Sampled::logits), DType::f32), share = apply("softmax", logits);
  Term all = zeros_like(logits);
  const auto add = [&](const Term& of_logprobs, const Term& ids) {
    all = at.apply("scatter_add", {all, of_logprobs, ids}) - share * sum(of_logprobs, {-1});
  };
  if (const Term g = at.gradient(Sampled::logprob))
    add(unsqueeze(g, -1), unsqueeze(at.output(Sampled::token), -1));
  if (const Term g = at.gradient(Sampled::top_logprobs)) add(g, at.output(Sampled::top_tokens));
  at.give(Sampled::logits, all);
}

}  // namespace

OpSchema fused_sampling_op() {
  return {
      .name = "fused_sampling",
      .family = OpFamily::sampling,
      .doc =
          "Draws a token of each row of logits, along the last axis only. Steps, in this order: penalties of "
          "the tokens in recent, bias, top_k, temperature and softmax, top_p, min_p, draw. "
          "The token follows from the row's logits, seed and position, whatever other rows there are; "
          "logprob is of the softmax of the logits as they come. "
          "A row without a finite logit, or with none that bias leaves, gives token -1 and logprob "
          "-infinity.",
      .inputs = {{"logits"}, {"bias", true}, {"recent", true}, {"seeds", true}, {"positions", true}},
      .outputs = {"token", "logprob", "top_tokens", "top_logprobs"},
      .attributes =
          {{"temperature", "0 takes the likeliest token", Attribute(1.0)},
           {"top_k", "The K likeliest tokens; 0: all", Attribute(int64_t{0})},
           {"top_p", "The likeliest tokens with this much probability; 1: all", Attribute(1.0)},
           {"min_p", "Least probability, as a share of the likeliest token's; 0: all", Attribute(0.0)},
           {"seed", "Names the numbers that are drawn, of rows that seeds does not give one",
            Attribute(int64_t{0})},
           {"position", "Which of these numbers, of rows that positions does not give one",
            Attribute(int64_t{0})},
           {"repeat_penalty", "Above 1 makes the tokens in recent less likely", Attribute(1.0)},
           {"frequency_penalty", "Lowers a logit, once for each time its token is in recent", Attribute(0.0)},
           {"presence_penalty", "Lowers the logits of the tokens in recent", Attribute(0.0)},
           {"logprobs", "How many of the likeliest tokens are given too, at most 20", Attribute(int64_t{0})}},
      .infer = infer_sampled,
      .cost = cost_sampled,
      .gradient = gradient,
      .lowering = lowered_to<Sample>(lower_sampled)};
}

}  // namespace orrery::ops
