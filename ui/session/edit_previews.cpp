#include "ui/session/edit_previews.h"

#include "ui/session/guarded_job.h"

namespace orrery::ui {

EditPreviews::EditPreviews(const Services& services, QObject* parent)
    : QObject(parent),
      calls_(services.recipes),
      checks_(std::make_unique<Worker>()),
      previews_(std::make_unique<Worker>()) {}

EditPreviews::~EditPreviews() {
  stop_.request_stop();
  checks_.reset();
  previews_.reset();
}

void EditPreviews::post(quint64 question, std::function<void()> take) {
  postAnswer(this, question_, question, std::move(take));
}

void EditPreviews::ask(const SessionPtr& session, const std::vector<edit::Edit>& edits) {
  if (!session || edits.empty()) return forget();
  stop_.request_stop();
  stop_ = std::stop_source();
  const quint64 question = ++question_;
  edits_ = edits;
  preview_ = nullptr;
  asking_ = true;
  checks_->post([this, question, session, edits, stop = stop_.get_token()](std::stop_token) {
    if (stop.stop_requested()) return;
    api::Preview refused;
    if (calls_.misfits)
      for (edit::Misfit& misfit : calls_.misfits(*session->model_graph(), edits))
        refused.refusals.push_back({misfit.index, std::move(misfit.error)});
    post(question, [this, question, session, refused = std::move(refused)] {
      refused.refusals.empty() ? prepare(question, session) : answer(refused);
    });
  });
  emit asked();
}

void EditPreviews::prepare(quint64 question, const SessionPtr& session) {
  previews_->post([this, question, session, edits = edits_, stop = stop_.get_token()](std::stop_token) {
    if (stop.stop_requested()) return;
    post(question,
         [this, preview = guardedJob([&] { return session->preview(edits, stop); })] { answer(preview); });
  });
}

void EditPreviews::answer(Result<api::Preview> preview) {
  asking_ = false;
  if (preview.ok()) {
    preview_ = std::make_shared<const api::Preview>(std::move(preview).value());
    emit answered(preview_);
  } else if (preview.error().code != ErrorCode::cancelled) {
    emit failed(describeError("Could not tell what will change", preview.error()));
  }
}

void EditPreviews::forget() {
  stop_.request_stop();
  ++question_;
  asking_ = false;
  preview_ = nullptr;
  if (edits_.empty()) return;
  edits_.clear();
  emit forgotten();
}

}  // namespace orrery::ui
