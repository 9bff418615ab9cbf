// Texts to labels: one typed, or a file of them. With a model that labels tokens, the labels of each token;
// with one that ranks, documents by how well they answer a query. Uses a session of its own, loaded at first
// use, so that the chat model stays where it is.
#pragma once

#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QTableView>
#include <QWidget>

#include "ui/classify/classify_details.h"
#include "ui/classify/csv_bar.h"
#include "ui/classify/rank_model.h"
#include "ui/classify/score_delegate.h"
#include "ui/classify/token_labels_view.h"
#include "ui/session/session_controller.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

class ClassifyPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  ClassifyPage(const Theme& theme, SessionController* session, QWidget* parent = nullptr);

  /// What the model gives: a label for each text or for each of its tokens, or ranks of documents.
  enum class Kind { texts, tokens, documents };

  /// Loads the classifier unless it is there or on its way.
  void prepare();
  /// Uses this model from now on.
  void openModel(const api::OpenOptions& options, const QString& name = {});
  /// Whether the graph that is drawn is the classifier's.
  void setGraphShown(bool shown);
  Kind kind() const { return kind_; }
  void rankDocuments(const QString& query, const QStringList& documents);
  void classifyTexts(const QStringList& texts, const QStringList& truths = {});
  void openCsv(const QString& path);
  /// False with a reason.
  bool exportCsv(const QString& path, QString* reason) const;
  void stop() { session_->stop(); }
  ClassifyModel* model() const { return model_; }
  RankModel* ranking() const { return ranking_; }
  TokenLabelsView* tokens() const { return tokens_; }
  QPlainTextEdit* documents() const { return documents_; }
  ClassifyDetails* details() const { return details_; }
  CsvBar* csvBar() const { return csv_; }
  QTableView* table() const { return table_; }
  Banner* banner() const { return banner_; }
  SearchField* field() const { return field_; }
  Button* classifyButton() const { return run_; }
  QWidget* corner() const { return corner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void graphAsked(bool shown);  // false: the other model's again
  void openAsked(const orrery::api::OpenOptions& options);

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupBar(QHBoxLayout* bar);
  void setupTable();
  void showModel(QAbstractItemModel* model);
  void setupLayout();
  void setupSession();
  void setupCorner();
  // classify_page_kinds.cpp
  void setupKinds();
  void setKind(Kind kind);
  void showTokens();
  void askModel();
  void runAsked();
  QStringList typedTexts() const;
  void begin();
  void takeModel();
  void askCsv();
  void askExport();
  void updateButton();

  Theme theme_;
  SessionController* session_;
  api::OpenOptions options_;  // of the model that is or will be loaded
  Kind kind_ = Kind::texts;
  ClassifyModel* model_;
  RankModel* ranking_;
  ScoreDelegate* delegate_;
  Banner* banner_;
  ProgressStrip* progress_;
  DropButton* modelButton_;
  IconButton* graph_;
  Button *csvButton_, *run_;
  SearchField* field_;
  CsvBar* csv_;
  QPlainTextEdit* documents_;
  QTableView* table_;
  TokenLabelsView* tokens_;
  QWidget* right_ = nullptr;  // the details
  ClassifyDetails* details_;
  QWidget* corner_;
  bool waiting_ = false;  // texts wait for the model
  UiError failure_;       // that the banner shows
};

}  // namespace orrery::ui
