// Another session over the same weights.
#include <algorithm>

#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/session_impl.h"
#include "engine/compile/states.h"

namespace orrery::api {
namespace {

/// The options of the fork, which say what it was asked for.
OpenOptions forked_options(OpenOptions options, const Fork& otherwise) {
  if (otherwise.context > 0) options.context = otherwise.context;
  if (!otherwise.kv_type.empty()) options.kv_type = otherwise.kv_type;
  if (!otherwise.precision.empty()) options.precision = otherwise.precision;
  if (otherwise.fusion) options.fusion = *otherwise.fusion;
  if (const auto& passes = otherwise.disabled_passes)
    options.disabled_passes.assign(passes->begin(), passes->end());
  return options;
}

/// Whether positions are looked up in a table, with which they end; else they turn queries and keys.
bool ends_with_a_table(const graph::Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const graph::Node& node = graph.node(id);
    if (node.op->name != "embedding") return false;
    const graph::Node& source = graph.node(graph.value(node.inputs[0]).producer);
    const auto name = source.attributes.find("name");
    return source.op->name == "input" && name != source.attributes.end() &&
           name->second == graph::Attribute(std::string(graph::step_input::positions));
  });
}

}  // namespace

/// The version that runs is taken over where the fork needs no other, without its plans: a version keeps
/// those of one model.
Result<SessionStatePtr> SessionImpl::forked_state(const Fork& otherwise, const runtime::Model::Options& run,
                                                  const Watch& watch) const {
  const SessionStatePtr now = state();
  auto own = std::make_shared<SessionState>(*now);
  own->fusion = otherwise.fusion.value_or(now->fusion);
  own->disabled_passes = otherwise.disabled_passes.value_or(now->disabled_passes);
  const runtime::Model::Options& here = parts_.model->options();
  if (own->fusion == now->fusion && own->disabled_passes == now->disabled_passes &&
      run.precision == here.precision && run.kv_dtype == here.kv_dtype) {
    const runtime::Version& version = *now->version;
    ORRERY_ASSIGN(own->version,
                  runtime::make_version(version, compile::with_default(*version.model, run.precision)));
    return SessionStatePtr(std::move(own));
  }
  ORRERY_TRY(check_passes({own->disabled_passes.begin(), own->disabled_passes.end()}));
  Preparation as_asked = preparation(own->fusion, own->disabled_passes);
  as_asked.placement.precision = run.precision;
  as_asked.placement.kv_dtype = run.kv_dtype;
  as_asked.sizes = now->sizes;
  ORRERY_ASSIGN(own->version, prepare_version(now->model, as_asked, watch));
  own->fused = own->version->drawn;
  return SessionStatePtr(std::move(own));
}

Result<std::shared_ptr<Session>> SessionImpl::fork(const Fork& otherwise, const Watch& watch) const {
  return guarded([&]() -> Result<std::shared_ptr<Session>> {
    if (parts_.info.task == Task::tensors && (otherwise.context > 0 || !otherwise.kv_type.empty()))
      return no_text();
    Parts parts = parts_;
    parts.options = forked_options(parts.options, otherwise);
    runtime::Model::Options run = parts_.model->options();
    ORRERY_ASSIGN(run.precision, parse_precision(parts.options.precision));
    ORRERY_ASSIGN(const DType kv, parse_kv_type(parts.options.kv_type));
    run.kv_dtype = is_exact(parts.options) ? DType::f32 : kv;
    if (otherwise.context > 0) {
      run.context = otherwise.context;
      if (!otherwise.beyond || ends_with_a_table(*state()->model)) {
        ORRERY_ASSIGN(run.context, choose_context(parts.info.context_length, otherwise.context));
      }
    }
    ORRERY_ASSIGN(const SessionStatePtr own, forked_state(otherwise, run, watch));
    if (parts.info.task != Task::tensors) {
      run.kv_tokens = kv_tokens(parts.demand, run);
      parts.info.memory.context = run.context;
      parts.info.memory.kv_cache = compile::kv_cache_bytes(*own->model, run.kv_dtype, run.context);
    }
    parts.model = std::make_shared<runtime::Model>(parts.weights, own->version, run);
    auto session = std::make_shared<SessionImpl>(std::move(parts), own);
    const auto edited = session->replay(otherwise.edits, watch);
    if (!edited.ok()) return edited.error();
    return std::shared_ptr<Session>(std::move(session));
  });
}

}  // namespace orrery::api
