// One side of a comparison: what it runs on, the reply as it streams, and its figures.
#pragma once

#include <QPlainTextEdit>

#include "ui/session/compare_controller.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class CompareCard : public QWidget, public Themed {
  Q_OBJECT
 public:
  CompareCard(const Theme& theme, api::Side side, QWidget* parent = nullptr);

  DropButton* choice() const { return choice_; }
  /// The setting's name; a device of its own colour.
  void setSetting(const QString& title, bool device);
  void setWords(const QString& words);
  void begin();
  void add(const api::PrefillEvent& event);
  void add(const TokenBatch& tokens);
  void finish(const api::ChatResult& result, double totalMs);
  void stop();
  QString text() const { return text_->toPlainText(); }
  QString figures() const { return figures_->text(); }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Token token() const { return device_ ? Token::cuda : side_ == api::Side::b ? Token::edited : Token::cpu; }
  void showFigures();

  Theme theme_;
  api::Side side_;
  bool device_ = false;
  Text* letter_;
  DropButton* choice_;
  Text *words_, *state_, *figures_;
  QPlainTextEdit* text_;
  qint64 tokens_ = 0;
  double decodeMs_ = 0, firstMs_ = 0;
};

}  // namespace orrery::ui
