// The window on the real engine and the default model, its model graph drawn without motion.
#pragma once

#include <fmt/format.h>

#include "engine/api/export.h"
#include "engine/api/session.h"
#include "support/real_services.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {

class RealModelTest : public WindowTest {
 protected:
  /// With this page in front. `model`: a file, or a name of the library.
  void openAt(const QString& page, ThemeChoice theme, const QString& model = "smollm2") {
    window_ = makeWindow(realServices(), theme);
    ASSERT_TRUE(opened(*window_, model)) << window_->graphPage()->banner()->body().toStdString();
    window_->graphPage()->showTab(false);
    view()->setReducedMotion(true);
    window_->showPage(page);
  }
  /// The model's first layers as a file: what runs it for each of its nodes takes a while.
  QString firstLayers(int count) const {
    const std::string file = path("first-layers.gguf").toStdString();
    api::OpenOptions options;
    options.model = "smollm2";
    const auto session = api::Session::open(options, {}, {});
    EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().to_string());
    if (!session.ok()) return {};
    const auto edited = (*session)->apply({"delete", {{"scope", fmt::format("layers.{}-29", count)}}});
    EXPECT_TRUE(edited.ok()) << (edited.ok() ? "" : edited.error().to_string());
    const auto written = api::export_model(**session, file, {}, {}, {});
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().to_string());
    return QString::fromStdString(file);
  }
  GraphView* view() const { return window_->graphPage()->view(); }

  std::unique_ptr<MainWindow> window_;
};

}  // namespace orrery::ui::testing
