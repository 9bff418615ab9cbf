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

}  // namespace

Changed wait_for(Session& session, Change change, const Watch& watch) {
  const auto done = std::make_shared<std::promise<Changed>>();
  std::stop_source submitted = session.submit(
      std::move(change), {watch.told, [done](const Changed& changed) { done->set_value(changed); }});
  const std::stop_callback stop(watch.stop, [&submitted] { submitted.request_stop(); });
  return done->get_future().get();
}

Result<EditRecord> Session::apply(const edit::Edit& edit) { return only(wait_for(*this, MakeEdits{{edit}})); }

Result<std::vector<EditRecord>> Session::replay(std::vector<edit::Edit> edits, const Watch& watch) {
  return wait_for(*this, MakeEdits{std::move(edits)}, watch).records;
}

Result<EditRecord> Session::undo() { return only(wait_for(*this, UndoEdit{})); }

Result<EditRecord> Session::redo() { return only(wait_for(*this, RedoEdit{})); }

Result<EditRecord> Session::restore(const std::string& scope) {
  return only(wait_for(*this, RestoreScope{scope}));
}

Result<void> Session::set_fusion(bool enabled) {
  const Changed changed = wait_for(*this, SetFusion{enabled});
  if (!changed.records.ok()) return changed.records.error();
  return {};
}

}  // namespace orrery::api
