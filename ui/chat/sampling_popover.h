// How the next token is chosen, and what the model is told first. Shows what the model's sampling node is set
// to; what the person changes here is asked for with every message, until it is reset.
#pragma once

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <map>

#include "engine/api/types.h"
#include "ui/chat/sampler_order.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"
#include "ui/widgets/themed.h"

class QGridLayout;
class QStackedWidget;

namespace orrery::ui {

class SamplingPopover : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit SamplingPopover(const Theme& theme, QWidget* parent = nullptr);

  /// What differs from the sampling node.
  api::SamplingOptions sampling() const;
  /// What is unset is as the sampling node has it.
  void setSampling(const api::SamplingOptions& sampling);
  /// What the sampling node is set to now (api::drawn_sampling). Fields that were not changed follow it.
  void setDrawn(const api::SamplingOptions& drawn);
  QString systemPrompt() const;
  void setSystemPrompt(const QString& text);
  int64_t maximumTokens() const { return maximum_->value(); }
  void setMaximumTokens(int64_t tokens) { maximum_->setValue(static_cast<int>(tokens)); }
  /// The field of a setting, by its name: "top_k".
  QDoubleSpinBox* field(std::string_view name) const { return fields_.at(std::string(name)); }
  SamplerOrder* order() const { return order_; }
  Segmented* bar() const { return bar_; }
  Button* resetButton() const { return reset_; }
  /// Whether a full context forgets what is oldest instead of ending the reply.
  bool contextShift() const { return shift_->isChecked(); }
  void setContextShift(bool shift) { shift_->setChecked(shift); }
  /// Opens above or below `anchor`, inside its screen.
  void popupAt(QWidget* anchor);
  /// With the system prompt to be typed.
  void popupAtSystemPrompt(QWidget* anchor);
  void setTheme(const Theme& theme) override;

 signals:
  void changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// A page of settings, behind a choice of the bar at the top.
  QGridLayout* addPage(const QString& title);
  void addSettings(const QString& title, std::initializer_list<std::pair<const char*, const char*>> settings);
  Text* addRow(QGridLayout* grid, const QString& label, const QString& help, QWidget* field);
  QSpinBox* addWhole(QGridLayout* grid, const QString& label, const QString& help, int minimum, int maximum,
                     int value);
  void setupOrder();
  void setupReply();
  void setupSystem(QGridLayout* grid);
  void setupReset();
  void showChanges();

  Theme theme_;
  api::SamplingOptions drawn_;  // all of it
  Segmented* bar_;
  QStackedWidget* pages_;
  std::map<std::string, QDoubleSpinBox*> fields_;  // by the name of the setting
  std::map<std::string, Text*> labels_;
  QSpinBox *maximum_ = nullptr, *seed_ = nullptr;
  QCheckBox *fixed_ = nullptr, *shift_ = nullptr;
  SamplerOrder* order_ = nullptr;
  Button* reset_ = nullptr;
  QPlainTextEdit* system_ = nullptr;
};

}  // namespace orrery::ui
