// What was done to the model, step by step: every state can be gone to. Below the steps the recipes that came
// with their names, to be switched off and on, and the way back to the original.
#pragma once

#include <QVBoxLayout>
#include <QWidget>

#include "ui/history/history_list.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/buttons.h"

namespace orrery::ui {

class HistoryPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit HistoryPage(const Theme& theme, QWidget* parent = nullptr);

  /// Null: no model is open. `title`: what it is called.
  void setHistory(const api::History* history, const QString& title);
  /// Undone steps were replaced by another one; `recipe`: the edits that there were.
  void offerReplaced(const std::vector<edit::Edit>& recipe, int steps);
  HistoryModel* model() const { return model_; }
  HistoryList* list() const { return list_; }
  Banner* banner() const { return banner_; }
  Button* original() const { return original_; }
  void setTheme(const Theme& theme) override;

 signals:
  void jumpAsked(int steps);
  void recipeSwitched(const std::string& name, bool on);
  void keepAsked(const std::vector<orrery::edit::Edit>& recipe);
  void wordsChanged(const QString& words);  // "4 of 6 steps"

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void showRecipes(const std::vector<api::StackedRecipe>& recipes);

  Theme theme_;
  HistoryModel* model_;
  HistoryList* list_;
  Banner* banner_;
  QWidget* recipes_;
  Button* original_;
  graph::GraphVersion opened_;  // of the model whose steps are shown
  std::vector<edit::Edit> replaced_;
};

}  // namespace orrery::ui
