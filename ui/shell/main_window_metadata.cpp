// The window's part in editing the metadata of a file.
#include "ui/shell/main_window.h"

namespace orrery::ui {

bool MainWindow::hasMetadata() const {
  const SessionPtr session = graph_->source()->session();
  return session && services_.metadata.list && session->info().format == "GGUF";
}

MetadataEditor* MainWindow::editMetadata(const QString& model) {
  if (metadata_ && !metadata_->mayClose()) {  // its changes come first
    metadata_->raise();
    metadata_->activateWindow();
    return metadata_;
  }
  if (metadata_) metadata_->close();
  metadata_ = new MetadataEditor(theme_, services_.metadata, model, this);
  metadata_->setAttribute(Qt::WA_DeleteOnClose);
  connect(metadata_, &MetadataEditor::saved, this, &MainWindow::addRecent);
  metadata_->show();
  return metadata_;
}

}  // namespace orrery::ui
