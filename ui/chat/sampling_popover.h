// How the next token is chosen, and what the model is told first. Values stay until changed.
#pragma once

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QPlainTextEdit>
#include <QSpinBox>

#include "engine/api/types.h"
#include "ui/widgets/themed.h"

class QGridLayout;

namespace orrery::ui {

class SamplingPopover : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit SamplingPopover(const Theme& theme, QWidget* parent = nullptr);

  api::SamplingOptions sampling() const;
  void setSampling(const api::SamplingOptions& sampling);
  QString systemPrompt() const;
  void setSystemPrompt(const QString& text);
  int64_t maximumTokens() const { return maximum_->value(); }
  void setMaximumTokens(int64_t tokens) { maximum_->setValue(static_cast<int>(tokens)); }
  /// Opens above or below `anchor`, inside its screen.
  void popupAt(QWidget* anchor);
  void setTheme(const Theme& theme) override;

 signals:
  void changed();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QDoubleSpinBox* addReal(const QString& label, const QString& help, double maximum, double step,
                          double value);
  QSpinBox* addWhole(const QString& label, const QString& help, int minimum, int maximum, int value);
  void addRow(const QString& label, const QString& help, QWidget* field);
  void setupSeed();
  void setupSystem();

  Theme theme_;
  QGridLayout* grid_;
  QDoubleSpinBox *temperature_, *topP_, *minP_, *repeat_;
  QSpinBox *topK_, *maximum_, *seed_ = nullptr;
  QCheckBox* fixed_ = nullptr;
  QPlainTextEdit* system_ = nullptr;
};

}  // namespace orrery::ui
