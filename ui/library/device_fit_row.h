// One device in the list of where a model may be loaded: its name, whether the model fits, and a bar of
// weights, KV cache and scratch against the memory that is free. A radio button.
#pragma once

#include <QAbstractButton>

#include "engine/api/memory_estimate.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

/// The parts of the bar, in their order.
enum class MemoryPart : uint8_t { weights, kvCache, scratch };
QColor colorOf(MemoryPart part, const Theme& theme);

class DeviceFitRow : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  DeviceFitRow(const Theme& theme, const api::DeviceMemory& memory, QWidget* parent = nullptr);

  void setMemory(const api::DeviceMemory& memory);
  const api::DeviceMemory& memory() const { return memory_; }
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintTitle(QPainter& painter, const QRectF& line) const;
  void paintBar(QPainter& painter, const QRectF& line) const;

  Theme theme_;
  api::DeviceMemory memory_;
};

}  // namespace orrery::ui
