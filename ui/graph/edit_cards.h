// Cards beside the drawing that a gesture brings: why something cannot be, with both shapes, and what a wire
// carries. They take no clicks but the cross of a refusal.
#pragma once

#include <QAbstractButton>
#include <QWidget>
#include <optional>

#include "ui/graph/wire_look.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

/// Why an edit cannot be. Of two types that should have been one, both.
struct Refusal {
  QString title;  // "mul.b does not take this"
  QString cause, advice;
  struct Type {
    QString whose;     // "o_proj gives"
    QStringList dims;  // "1", "576"
    QString dtype;
  };
  std::optional<Type> gives, takes;
};

/// What the gesture was refused for, in words and shapes. `gives` and `takes` may be null.
Refusal refusalOf(const QString& title, const Error& error);

class RefusalCard : public QWidget {
  Q_OBJECT
 public:
  RefusalCard(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  void setRefusal(const Refusal& refusal);
  const Refusal& refusal() const { return refusal_; }
  QSize sizeHint() const override;

 signals:
  void closeAsked();

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent*) override;

 private:
  QRectF textArea() const;
  int textHeight(const QString& words) const;

  Theme theme_;
  Refusal refusal_;
};

/// What a wire carries.
struct WireFacts {
  QString ends;  // "kv_append → attend"
  QString shape, dtype, bytes;
  Carried kind = Carried::f32;
  QString range;  // of the last value, where it is kept: "−3.1 … 4.8"
  int more = 0;   // values that it carries beside this one
};

class WireCard : public QWidget {
  Q_OBJECT
 public:
  WireCard(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  void setFacts(const WireFacts& facts);
  const WireFacts& facts() const { return facts_; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  QString lastLine() const;

  Theme theme_;
  WireFacts facts_;
};

}  // namespace orrery::ui
