// What the window does when memory is the question: tells it before loading, and offers what fits.
#include "ui/shell/main_window.h"

namespace orrery::ui {

void MainWindow::setupMemoryWiring() {
  connect(session_, &SessionController::loadFailed, this, &MainWindow::showLoadFailure);
  connect(library_, &LibraryPage::optionsAsked, this,
          [this](const QString& path, const QString& adapter, const QString& title) {
            askOptions(optionsFor(path, adapter), {}, title);
          });
}

/// A model that does not fit is asked about again, with what would; other failures are told.
void MainWindow::showLoadFailure(UiError error) {
  const SessionPtr kept = session_->session();
  if (kept) error.advice += (error.advice.isEmpty() ? "" : ". ") + session_->title() + " stays loaded";
  if (error.code == ErrorCode::out_of_memory && services_.memoryDemand) {
    askOptions(session_->loadingOptions(), error.body(), session_->loadingName());
  } else {
    fail(error);
  }
  if (kept) options_.open.device = kept->options().device;
  nameDrawn();
}

OpenDialog* MainWindow::askOptions(const api::OpenOptions& options, const QString& reason,
                                   const QString& name) {
  const bool keep = !reason.isEmpty() && session_->moving();
  session_->scanDevices();  // what is free may have changed
  auto* dialog = new OpenDialog(theme_, estimates_, options, reason, this);
  connect(dialog, &OpenDialog::loadAsked, this, [this, keep, name](const api::OpenOptions& chosen) {
    keep ? session_->reopen(chosen) : openModel(chosen, name);
  });
  dialog->show();
  return dialog;
}

}  // namespace orrery::ui
