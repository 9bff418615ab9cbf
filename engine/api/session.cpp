// The changes of a session for who waits for them.
#include "engine/api/session.h"

#include <future>
#include <utility>

namespace orrery::api {
namespace {

Result<EditRecord> only(Changed changed) {
  if (!changed.records.ok()) return std::move(changed.records).error();
  return std::move(changed.records.value().back());
}

Result<void> done(const Changed& changed) {
  if (!changed.records.ok()) return changed.records.error();
  return {};
}

}  // namespace

Changed wait_for(Session& session, Change change, const Watch& watch) {
  const auto done = std::make_shared<std::promise<Changed>>();
  std::stop_source submitted = session.submit(
      std::move(change), {watch.told, [done](const Changed& changed) { done->set_value(changed); }});
  const std::stop_callback stop(watch.stop, [&submitted] { submitted.request_stop(); });
  return done->get_future().get();
}

Result<EditRecord> Session::apply(const edit::Edit& edit) { return only(wait_for(*this, MakeEdits{{edit}})); }

Result<std::vector<EditRecord>> Session::replay(std::vector<edit::Edit> edits, const Watch& watch,
                                                std::string recipe) {
  return wait_for(*this, MakeEdits{std::move(edits), std::move(recipe)}, watch).records;
}

Result<EditRecord> Session::switch_recipe(const std::string& name, bool on) {
  return only(wait_for(*this, SwitchRecipe{name, on}));
}

Result<EditRecord> Session::undo() { return only(wait_for(*this, UndoEdit{})); }

Result<EditRecord> Session::redo() { return only(wait_for(*this, RedoEdit{})); }

Result<EditRecord> Session::restore(const std::string& scopes) {
  return only(wait_for(*this, RestoreNodes{scopes}));
}

Result<void> Session::jump_to(size_t steps) { return done(wait_for(*this, JumpTo{steps})); }

Result<void> Session::set_fusion(bool enabled) { return done(wait_for(*this, SetFusion{enabled})); }

Result<void> Session::set_passes(std::set<std::string> disabled) {
  return done(wait_for(*this, SetPasses{std::move(disabled)}));
}

}  // namespace orrery::api
