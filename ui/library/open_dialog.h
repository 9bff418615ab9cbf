// How a model is to be loaded: on which device, with how much context. Tells for every device, while the
// slider moves, what the model will take there and whether that fits.
#pragma once

#include <QDialog>

#include "ui/library/context_field.h"
#include "ui/library/device_fit_row.h"
#include "ui/session/memory_estimates.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"

class QVBoxLayout;

namespace orrery::ui {

class OpenDialog : public QDialog, public Themed {
  Q_OBJECT
 public:
  /// Begins with these options; `reason`: why it is asked, empty when the person did.
  OpenDialog(const Theme& theme, MemoryEstimates* estimates, const api::OpenOptions& options,
             const QString& reason, QWidget* parent = nullptr);

  const api::OpenOptions& options() const { return options_; }
  const std::vector<DeviceFitRow*>& rows() const { return rows_; }
  ContextField* context() const { return context_; }
  Segmented* kvType() const { return kvType_; }
  Button* loadButton() const { return load_; }
  /// "Use 4 096 tokens"; hidden when there is nothing to offer.
  Button* fewerButton() const { return fewer_; }
  QString verdict() const { return verdict_->text(); }
  void setTheme(const Theme& theme) override;

 signals:
  void loadAsked(const orrery::api::OpenOptions& options);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupHead(const QString& reason, QVBoxLayout* column);
  void setupChoices(QVBoxLayout* column);
  void setupLegend(QVBoxLayout* column);
  void setupFoot(QVBoxLayout* column);
  bool isMine(const QString& model, const QString& adapter) const;
  void takeDemand();
  void refresh();
  void showVerdict(const api::DeviceMemory& memory);
  void choose(const std::string& device);
  void load();

  Theme theme_;
  MemoryEstimates* estimates_;
  api::OpenOptions options_;
  std::vector<DeviceFitRow*> rows_;
  QVBoxLayout* devices_ = nullptr;
  ContextField* context_ = nullptr;
  Segmented* kvType_ = nullptr;
  QWidget* contextBox_ = nullptr;
  Text *detail_ = nullptr, *verdict_ = nullptr;
  Text* legend_[3] = {};
  Button *load_ = nullptr, *fewer_ = nullptr;
  int64_t offered_ = 0;  // tokens of fewerButton()
};

}  // namespace orrery::ui
