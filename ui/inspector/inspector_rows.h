// The rows that the inspector's sections are made of.
#pragma once

#include <QAbstractButton>
#include <QGridLayout>
#include <QMap>
#include <QWidget>

#include "ui/inspector/inspector_facts.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

/// The family's glyph in a box of 36.
class GlyphBox : public QWidget, public Themed {
  Q_OBJECT
 public:
  GlyphBox(const Theme& theme, const QString& icon, std::optional<graph::OpFamily> family,
           QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  QString icon_;
  std::optional<graph::OpFamily> family_;
};

/// One kernel that was asked, or would have been.
class KernelRow : public QWidget, public Themed {
  Q_OBJECT
 public:
  enum class Verdict { refused, chosen, notAsked };
  KernelRow(const Theme& theme, Verdict verdict, const QString& kernel, const QString& reason,
            QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const QRectF& reasonRect(int width) const;
  Theme theme_;
  Verdict verdict_;
  QString kernel_, reason_;
  mutable QMap<int, QRectF> reasonRects_;  // by width: layouts ask again and again
};

/// "memory 24.0 GB/s [meter] 69 %"
struct RateRow {
  Text *value = nullptr, *share = nullptr;
  Meter* meter = nullptr;
};
RateRow addRateRow(const Theme& theme, QGridLayout* grid, const QString& name, QWidget* parent);

/// Words that jump to a node.
class LinkButton : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  LinkButton(const Theme& theme, const QString& text, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {40, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  Theme theme_;
};

}  // namespace orrery::ui
