// A shown window with settings of its own, and how tests wait and take pictures.
#pragma once

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <functional>

#include "support/fake_session.h"
#include "ui/chat/chat_page.h"
#include "ui/classify/classify_page.h"
#include "ui/compare/compare_page.h"
#include "ui/inspector/inspector_page.h"
#include "ui/latency/latency_page.h"
#include "ui/library/library_page.h"
#include "ui/library/open_dialog.h"
#include "ui/metadata/metadata_editor.h"
#include "ui/session/second_device.h"
#include "ui/session/trace_saver.h"
#include "ui/shell/dock_frame.h"
#include "ui/shell/drop_preview.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/main_window.h"
#include "ui/shell/outline_panel.h"
#include "ui/shell/status_strip.h"
#include "ui/shell/tool_bar.h"
#include "ui/shell/window_options.h"

namespace orrery::ui::testing {

/// Runs the event loop until `done` holds. False when that took longer.
bool waitUntil(const std::function<bool()>& done, int milliseconds = 10000);
/// Saves what the window shows to <build>/pictures/NAME.png, to be looked at.
void takePicture(QWidget& window, const QString& name);
QString writeFile(const QString& path, const QByteArray& bytes);
/// Visible, and nothing around it cuts it off.
bool isWhole(const QWidget* widget);
/// Presses the button of a banner whose words begin so. False where there is none.
bool press(const Banner* banner, const QString& words);
/// Whether the model's edits come to be these, as they are written after --edit.
bool recipeIs(MainWindow& window, const QStringList& words);
/// What is written on a page.
QStringList texts(const QWidget& page);
/// The menu's entry whose words begin so; null: there is none.
QAction* actionOf(const QMenu* menu, const QString& words);
/// Closes the window, whatever is lost.
void quit(MainWindow& window);

class WindowTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(folder_.isValid()); }
  /// A window of 1600x1000 on the fake engine, shown; where it remembers nothing, in the workspace See, with
  /// its pages open at the foot.
  std::unique_ptr<MainWindow> makeWindow(std::optional<ThemeChoice> theme = ThemeChoice::dark);
  std::unique_ptr<MainWindow> makeWindow(const Services& services, std::optional<ThemeChoice> theme);
  /// The pages that people turn to, and latency.
  static void openFoot(MainWindow& window);
  static bool opened(MainWindow& window, const QString& model);
  QString path(const QString& name) const { return folder_.filePath(name); }

  QTemporaryDir folder_;
  FakeEngine engine_;
};

}  // namespace orrery::ui::testing
