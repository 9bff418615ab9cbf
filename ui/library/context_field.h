// A context length: a slider over powers of two and what lies between, and the exact number.
#pragma once

#include <QSlider>
#include <QSpinBox>
#include <QWidget>

namespace orrery::ui {

class ContextField : public QWidget {
  Q_OBJECT
 public:
  explicit ContextField(QWidget* parent = nullptr);

  /// Tokens that the model was made for, 1 or more.
  void setMaximum(int tokens);
  void setValue(int tokens);
  int value() const { return number_->value(); }
  QSlider* slider() const { return slider_; }
  QSpinBox* number() const { return number_; }

 signals:
  void changed(int tokens);

 private:
  int tokensAt(int position) const;
  int positionOf(int tokens) const;

  QSlider* slider_;
  QSpinBox* number_;
};

}  // namespace orrery::ui
