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
  /// What is chosen for the side.
  void setSetting(const SideLook& look);
  /// On what the side runs: "2 threads, fused".
  void setWords(const QString& words);
  /// The text and the figures are of `ran`, which is not what is chosen any more.
  void setStale(const QString& ran);
  bool stale() const { return stale_; }
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
  void showState(const QString& words, Token token);
  void showFigures();

  Theme theme_;
  SideLook look_;
  QString ranWords_;
  bool stale_ = false;
  Text* letter_;
  DropButton* choice_;
  Text *words_, *state_, *figures_;
  QPlainTextEdit* text_;
  qint64 tokens_ = 0;
  double decodeMs_ = 0, firstMs_ = 0;
};

}  // namespace orrery::ui
