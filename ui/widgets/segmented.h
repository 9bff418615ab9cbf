// A row of two or more exclusive choices in one field: Decode | Prefill, CPU | CUDA 0.
#pragma once

#include <QMenu>
#include <QString>
#include <QWidget>
#include <vector>

#include "ui/widgets/themed.h"

namespace orrery::ui {

class Segmented : public QWidget, public Themed {
  Q_OBJECT
 public:
  enum class Mark { none, circle, square };
  explicit Segmented(const Theme& theme, QWidget* parent = nullptr);

  void addChoice(const QString& text, Mark mark = Mark::none, Token markColor = Token::text2);
  /// A choice that cannot be taken stays visible and says why.
  void setRefused(int choice, const QString& reason);
  void setText(int choice, const QString& text);
  /// Of this choice, instead of the field's own.
  void setTip(int choice, const QString& tip);
  /// The choice opens the menu instead of being taken; null: as the others.
  void setMenu(int choice, QMenu* menu);
  QString text(int choice) const { return choices_.at(static_cast<size_t>(choice)).text; }
  QString refusal(int choice) const { return choices_.at(static_cast<size_t>(choice)).refused; }
  void setCurrent(int choice);
  int current() const { return current_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  void chosen(int choice);  // by the person

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Choice {
    QString text, refused, tip;
    Mark mark;
    Token color;
    QMenu* menu = nullptr;
  };
  double widthOf(const Choice& choice) const;
  double leftOf(int choice) const;
  int choiceAt(const QPoint& position) const;
  void choose(int choice);

  Theme theme_;
  std::vector<Choice> choices_;
  int current_ = 0;
};

}  // namespace orrery::ui
