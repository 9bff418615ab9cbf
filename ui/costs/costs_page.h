// What each edit costs alone and all of them together: a card each, measured over a text that a person can
// change.
#pragma once

#include <QPlainTextEdit>
#include <QScrollArea>

#include "ui/costs/cost_card.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class CostsPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  CostsPage(const Theme& theme, EditCosts* costs, QWidget* parent = nullptr);
  void setSource(SessionController* source);
  /// In the order of the edits; the total is last.
  std::vector<CostCard*> cards() const { return cards_; }
  Text* words() const { return words_; }
  Button* change() const { return change_; }
  QPlainTextEdit* text() const { return text_; }
  /// Measures over the text of a file; refused is what is no text, or longer than one is read.
  void takeFile(const QString& path);
  void setTheme(const Theme& theme) override;

 signals:
  /// What an edit was done to.
  void targetAsked(const QString& scope);
  void wordsChanged(const QString& words);
  void failed(const orrery::ui::UiError& error);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  /// Of a text file, which is measured over.
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void refresh();
  void changeText();
  void measureOver(const QString& text);
  void askFile();

  Theme theme_;
  EditCosts* costs_;
  SessionController* source_ = nullptr;
  Text* words_;
  Button *change_, *own_, *file_;
  QPlainTextEdit* text_;
  QScrollArea* scroll_;
  QWidget* row_;
  Text* hint_;
  std::vector<CostCard*> cards_;
};

}  // namespace orrery::ui
