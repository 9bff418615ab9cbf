#include "engine/generate/probe.h"

#include "engine/compile/states.h"

namespace orrery::generate {
namespace {

bool is_float_activation(const graph::Value& value) {
  return value.kind == graph::ValueKind::activation && value.type.dtype == DType::f32;
}

template <class Function>
void for_each_live(const graph::Graph& graph, Function&& function) {
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < graph.order().size(); ++i)
    if (const graph::Node& node = graph.node(graph.order()[i]); live[i] && !node.is_source()) function(node);
}

}  // namespace

std::vector<ValueId> float_values(const graph::Graph& graph) {
  std::vector<ValueId> values;
  for_each_live(graph, [&](const graph::Node& node) {
    if (!node.outputs.empty() && is_float_activation(graph.value(node.outputs.front())))
      values.push_back(node.outputs.front());
  });
  return values;
}

ValueId logits_of(const graph::Graph& graph) {
  ValueId logits;
  for_each_live(graph, [&](const graph::Node& node) {
    if (node.op->family == graph::OpFamily::sampling && !node.inputs.empty()) logits = node.inputs.front();
  });
  return logits;
}

Result<std::unique_ptr<Probe>> Probe::run(const Engine& engine, const runtime::Version& version,
                                          std::span<const ValueId> keep, std::span<const int32_t> tokens,
                                          int64_t outputs) {
  std::unique_ptr<Probe> probe(new Probe(engine.scheduler));
  const auto count = static_cast<int64_t>(tokens.size());
  probe->devices_ = engine.model->devices(version);
  ORRERY_TRY(probe->prepare(version, keep));
  ORRERY_TRY(probe->make_cache(engine, tokens));
  for (int64_t row = count - outputs; row < count; ++row) {
    kernels::Sample::Request request;
    request.params.temperature = 0;
    probe->batch_.add_output(row, request);
  }
  const runtime::Model& model = *engine.model;
  compile::Options options = model.plan_options(version, compile::bucket_for(count, outputs, 1));
  options.threads = engine.scheduler.threads();
  kernels::ThreadTeam own(options.threads);
  ORRERY_ASSIGN(probe->plan_, compile::compile(probe->graph_, model.weights(), own, options));
  ORRERY_TRY(engine.scheduler
                 .call(runtime::DeviceScheduler::When::between_steps,
                       [&probe](kernels::ThreadTeam& team) -> Result<void> {
                         try {
                           return probe->step(team);
                         } catch (const kernels::DeviceError& error) {
                           return weights::describe(error);
                         }
                       })
                 .get());
  for (Point& point : probe->points_) {
    const auto elements = element_count(probe->graph_->value(point.value).type.shape,
                                        {{kTokens, count}, {kSequences, 1}, {kOutputs, outputs}});
    point.elements = static_cast<size_t>(elements.value_or(0));
  }
  return probe;
}

/// The kept values become outputs of the graph, whose bytes stay to the end of a step.
Result<void> Probe::prepare(const runtime::Version& version, std::span<const ValueId> keep) {
  auto copy = std::make_shared<graph::Graph>(*version.fused);
  std::vector<ValueId> outputs = copy->outputs();
  first_ = outputs.size();
  for (const ValueId id : keep) {
    const graph::Value* value = copy->find_value(id);
    if (!value || !is_float_activation(*value))
      return Error{ErrorCode::invalid_argument, "Only float32 activations can be kept", "probe", ""};
    points_.push_back({value->producer, id, 0});
    outputs.push_back(id);
  }
  copy->set_outputs(std::move(outputs));
  graph_ = std::move(copy);
  return {};
}

Result<void> Probe::make_cache(const Engine& engine, std::span<const int32_t> tokens) {
  ORRERY_ASSIGN(const std::vector<compile::StateUse> states, compile::states_of(*graph_));
  if (!states.empty()) {
    std::vector<runtime::StateLayout> layouts;
    for (const compile::StateUse& state : states)
      layouts.push_back({layouts.size() + 1, state.form, state.device});
    const auto count = static_cast<int64_t>(tokens.size());
    const int64_t pages = (count + runtime::KvCache::kPageTokens - 1) / runtime::KvCache::kPageTokens;
    ORRERY_ASSIGN(kv_, runtime::KvCache::create(layouts, engine.model->options().kv_dtype, pages, devices_));
    ORRERY_TRY(kv_->reserve(pages_, count));
  }
  batch_.add_sequence(tokens, 0, pages_.pages);
  return {};
}

Result<void> Probe::step(kernels::ThreadTeam& team) {
  executor_ = std::make_unique<runtime::Executor>(team);
  std::span<const kernels::PagedKv> states;
  if (kv_) states = kv_->states();
  return executor_->run(plan_, batch_, states, nullptr);
}

Result<std::vector<float>> Probe::read(size_t point) {
  return scheduler_
      .call(runtime::DeviceScheduler::When::between_steps,
            [&](kernels::ThreadTeam&) -> Result<std::vector<float>> {
              try {
                const float* values = executor_->output(*plan_, first_ + point);
                if (!values)
                  return Error{ErrorCode::unsupported, "The value was not kept",
                               graph_->value_path(points_[point].value), ""};
                return std::vector<float>(values, values + points_[point].elements);
              } catch (const kernels::DeviceError& error) {
                return weights::describe(error);
              }
            })
      .get();
}

}  // namespace orrery::generate
