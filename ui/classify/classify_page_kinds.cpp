// What ClassifyPage shows for models that label tokens and for models that rank documents.
#include <QFileDialog>

#include "ui/classify/classify_page.h"

namespace orrery::ui {

void ClassifyPage::setupKinds() {
  documents_->setPlaceholderText("The documents to rank, one per line");
  documents_->setAccessibleName("Documents");
  documents_->setTabChangesFocus(true);
  connect(model_, &QAbstractItemModel::dataChanged, this, &ClassifyPage::showTokens);
  connect(model_, &QAbstractItemModel::modelReset, this, &ClassifyPage::showTokens);
  connect(session_, &SessionController::reranked, this, [this](const std::vector<api::Relevance>& relevance) {
    ranking_->setRanking(documents_->toPlainText().split('\n', Qt::SkipEmptyParts), relevance);
  });
  setKind(Kind::texts);
}

void ClassifyPage::setKind(Kind kind) {
  kind_ = kind;
  const bool ranks = kind == Kind::documents;
  showModel(ranks ? static_cast<QAbstractItemModel*>(ranking_) : model_);
  field_->setPlaceholderText(ranks ? "Type a query" : "Type a text");
  field_->setAccessibleName(field_->placeholderText());
  csvButton_->setVisible(!ranks);
  documents_->setVisible(ranks);
  ranking_->clear();
  tokens_->setVisible(kind == Kind::tokens);
  right_->setVisible(kind == Kind::texts);
  table_->setColumnHidden(ClassifyModel::scoreColumn, kind == Kind::tokens);
  updateButton();
  showTokens();
}

void ClassifyPage::showTokens() {
  if (kind_ != Kind::tokens) return;
  const int row = table_->currentIndex().isValid() ? table_->currentIndex().row() : 0;
  const SessionPtr session = session_->session();
  const bool done = session && row < model_->rowCount() && model_->rows()[static_cast<size_t>(row)].result;
  if (!done) return tokens_->setTokens({}, {});
  tokens_->setTokens(model_->rows()[static_cast<size_t>(row)].result->tokens, session->info().labels);
}

void ClassifyPage::rankDocuments(const QString& query, const QStringList& documents) {
  if (query.isEmpty() || documents.isEmpty() || session_->running()) return;
  banner_->dismiss();
  documents_->setPlainText(documents.join('\n'));
  std::vector<std::string> passages;
  for (const QString& document : documents) passages.push_back(document.toStdString());
  session_->rerank(query.toStdString(), passages);
}

void ClassifyPage::askModel() {
  const QString path = QFileDialog::getExistingDirectory(this, "Open a classifier's folder");
  if (path.isEmpty()) return;
  api::OpenOptions options;
  options.model = path.toStdString();
  emit openAsked(options);
}

}  // namespace orrery::ui
