// The window on the real engine and the default model, its model graph drawn without motion.
#pragma once

#include "support/real_services.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {

class RealModelTest : public WindowTest {
 protected:
  /// With this page in front.
  void openAt(const QString& page, ThemeChoice theme) {
    window_ = makeWindow(realServices(), theme);
    ASSERT_TRUE(opened(*window_, "smollm2")) << window_->graphPage()->banner()->body().toStdString();
    window_->graphPage()->showTab(false);
    view()->setReducedMotion(true);
    window_->showPage(page);
  }
  GraphView* view() const { return window_->graphPage()->view(); }

  std::unique_ptr<MainWindow> window_;
};

}  // namespace orrery::ui::testing
