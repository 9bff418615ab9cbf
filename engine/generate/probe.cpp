#include "engine/generate/probe.h"

#include <cstring>

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
                                          std::span<const ValueId> keep, const Step& step) {
  std::unique_ptr<Probe> probe(new Probe(engine.scheduler));
  probe->devices_ = engine.model->devices(version);
  probe->timed_ = step.timed;
  ORRERY_TRY(probe->prepare(version, keep, step));
  ORRERY_TRY(probe->make_batch(engine, step));
  const runtime::Model& model = *engine.model;
  compile::Options options = model.plan_options(version, probe->batch_.bucket());
  options.threads = engine.scheduler.threads();
  {
    const runtime::HeldCards held = runtime::hold(probe->devices_.cards);
    kernels::ThreadTeam own(options.threads);
    ORRERY_ASSIGN(probe->plan_, compile::compile(probe->graph_, model.weights(), own, options));
  }
  ORRERY_TRY(probe->run_again());
  probe->measure_points();
  return probe;
}

Result<void> Probe::run_again() {
  return scheduler_
      .call(runtime::DeviceScheduler::When::between_steps,
            [&](kernels::ThreadTeam& team) -> Result<void> {
              try {
                const runtime::HeldCards held = runtime::hold(devices_.cards);
                if (!executor_) executor_ = std::make_unique<runtime::Executor>(team);
                executor_->finish_captures();
                std::span<const kernels::PagedKv> states;
                if (kv_) states = kv_->states();
                return executor_->run(plan_, batch_, states, timed_ ? &profiler_ : nullptr);
              } catch (const kernels::DeviceError& error) {
                return weights::describe(error);
              }
            })
      .get();
}

/// The kept values become outputs of the graph, whose bytes stay to the end of a step.
Result<void> Probe::prepare(const runtime::Version& version, std::span<const ValueId> keep,
                            const Step& step) {
  for (const ValueId id : keep) {
    const graph::Value* value = version.fused->find_value(id);
    if (!value || value->kind == graph::ValueKind::state)
      return Error{ErrorCode::invalid_argument, "Only what nodes make for a step can be kept",
                   version.fused->value_path(id), ""};
    points_.push_back({value->producer, id, {}, 0});
  }
  if (step.known) {
    ORRERY_ASSIGN(KnownValues::Rest rest, step.known->rest_of(*version.fused, keep));
    graph_ = std::move(rest.graph);
    given_ = std::move(rest.given);
  } else {
    auto copy = std::make_shared<graph::Graph>(*version.fused);
    std::vector<ValueId> outputs = copy->outputs();
    first_ = outputs.size();
    outputs.insert(outputs.end(), keep.begin(), keep.end());
    copy->set_outputs(std::move(outputs));
    graph_ = std::move(copy);
  }
  profiler_.begin(version.model, graph_);
  profiler_.measure_all();
  return {};
}

Result<void> Probe::make_batch(const Engine& engine, const Step& step) {
  const auto count = static_cast<int64_t>(step.tokens.size());
  ORRERY_TRY(make_cache(engine, step.tokens));
  if (step.starts.empty() && count > 0)
    batch_.add_sequence(step.tokens, 0, pages_.pages, {},
                        kv_ ? kv_->writing(pages_, 0, count) : kernels::RecordUse{});
  for (size_t i = 1; i < step.starts.size(); ++i) {
    const auto begin = static_cast<size_t>(step.starts[i - 1]), end = static_cast<size_t>(step.starts[i]);
    batch_.add_sequence(step.tokens.subspan(begin, end - begin), 0, {});
  }
  for (int64_t row = count - step.outputs; row < count; ++row) {
    kernels::Sample::Request request;
    request.params.temperature = 0;
    batch_.add_output(row, request);
  }
  given_.insert(given_.end(), step.given.begin(), step.given.end());
  batch_.give(given_);
  return {};
}

Result<void> Probe::make_cache(const Engine& engine, std::span<const int32_t> tokens) {
  ORRERY_ASSIGN(const std::vector<compile::StateUse> states, compile::states_of(*graph_));
  if (states.empty()) return {};
  std::vector<runtime::StateLayout> layouts;
  for (const compile::StateUse& state : states)
    layouts.push_back({layouts.size() + 1, state.form, state.device});
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t pages = (count + runtime::KvCache::kPageTokens - 1) / runtime::KvCache::kPageTokens;
  ORRERY_ASSIGN(kv_, runtime::KvCache::create(layouts, engine.model->options().kv_dtype, pages, devices_));
  return kv_->reserve(pages_, count);
}

/// As the plan stores them, and as large as this step makes them.
void Probe::measure_points() {
  const Bindings bindings{
      {kTokens, batch_.tokens()}, {kSequences, batch_.sequences()}, {kOutputs, batch_.outputs()}};
  for (Point& point : points_) {
    point.type = plan_->graph->value(point.value).type;
    for (Dim& dim : point.type.shape) dim = dim.evaluate(bindings).value_or(0);
    point.elements = static_cast<size_t>(element_count(point.type.shape, {}).value_or(0));
  }
}

Result<std::vector<float>> Probe::read(size_t point) {
  if (points_[point].type.dtype != DType::f32)
    return Error{ErrorCode::unsupported, "Only float32 values are compared",
                 graph_->value_path(points_[point].value), ""};
  ORRERY_ASSIGN(const std::vector<std::byte> bytes, read_bytes(point));
  std::vector<float> values(points_[point].elements);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Result<std::vector<std::byte>> Probe::read_bytes(size_t point) {
  return scheduler_
      .call(runtime::DeviceScheduler::When::between_steps,
            [&](kernels::ThreadTeam&) -> Result<std::vector<std::byte>> {
              try {
                const auto* bytes = static_cast<const std::byte*>(executor_->output(*plan_, first_ + point));
                if (!bytes)
                  return Error{ErrorCode::unsupported, "The value was not kept",
                               graph_->value_path(points_[point].value), ""};
                return std::vector(bytes,
                                   bytes + static_cast<size_t>(graph::bytes_of(points_[point].type, {})));
              } catch (const kernels::DeviceError& error) {
                return weights::describe(error);
              }
            })
      .get();
}

}  // namespace orrery::generate
