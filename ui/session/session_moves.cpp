// The part of SessionController that opens the same model another way: on another device, with another
// context.
#include "ui/session/session_controller.h"

namespace orrery::ui {
namespace {

bool sameWeights(const api::OpenOptions& a, const api::OpenOptions& b) {
  return a.device == b.device && a.threads == b.threads && a.batch_tokens == b.batch_tokens &&
         a.precision == b.precision && a.adapter == b.adapter;
}

}  // namespace

void SessionController::moveTo(const std::string& device) {
  if (!session_ || session_->options().device == device) return;
  api::OpenOptions options = session_->options();
  options.device = device;
  reopen(options);
}

void SessionController::accept(const api::Offer& offer) {
  if (!session_) return;
  api::OpenOptions options = session_->options();
  if (offer.option == "context") options.context = std::stoll(offer.value);
  if (offer.option == "kv-type") options.kv_type = offer.value;
  if (offer.option == "device") options.device = offer.value;
  reopen(options);
}

void SessionController::reopen(const api::OpenOptions& wanted) {
  if (!session_ || loading_) return;
  api::OpenOptions options = wanted;
  options.recipe.clear();  // its edits are among the session's
  const QString name = options.adapter == session_->options().adapter ? title_ : QString();
  const bool same = sameWeights(options, session_->options());
  const OpenCall call = [=, this, resize = services_.resize, session = session_](
                            const ProgressCallback& progress, std::stop_token stop) -> Result<SessionPtr> {
    // With what is being changed: nothing is done by no edits, after all that was asked for before.
    const api::Changed settled = api::wait_for(*session, api::MakeEdits{}, {progress, stop});
    if (!settled.records.ok()) return settled.records.error();
    if (same) return resize(*session, options);
    return copyCall(options, settled.state->history.recipe())(progress, std::move(stop));
  };
  load(options, call, true, name);
}

void SessionController::openCopy(const api::Session& model, const std::vector<edit::Edit>& edits,
                                 const std::string& device) {
  api::OpenOptions options = model.options();
  options.device = device;
  options.recipe.clear();
  load(options, copyCall(options, edits), false);
}

SessionController::OpenCall SessionController::copyCall(const api::OpenOptions& options,
                                                        std::vector<edit::Edit> edits) const {
  return [open = openCall(options), edits = std::move(edits)](const ProgressCallback& progress,
                                                              std::stop_token stop) -> Result<SessionPtr> {
    ORRERY_ASSIGN(SessionPtr session, open(progress, stop));
    if (auto replayed = session->replay(edits, {progress, stop}); !replayed.ok())
      return std::move(replayed).error();
    return session;
  };
}

void SessionController::close() {
  cancelLoad();
  chosenName_.clear();
  if (session_) adopt(nullptr);
}

}  // namespace orrery::ui
