// The window on a screen of 1280x800, and as narrow as it goes: all of it is on the screen, nothing is cut
// off.
#include <QStatusBar>
#include <QTest>
#include <QToolButton>

#include "support/read_texts.h"
#include "support/screen.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

constexpr const char* kFirstModel = "SmolLM2-135M-Instruct";

class SmallScreenTest : public WindowTest {
 protected:
  void open() {
    window_.reset();
    window_ = makeWindow(theme_);
    ASSERT_TRUE(opened(*window_, kFirstModel));
    ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  }
  void narrow(int width) {
    window_->resize(width, window_->height());
    QApplication::processEvents();
    ASSERT_EQ(window_->width(), width);
  }
  QRect onScreen(const QWidget* widget) const { return {widget->mapToGlobal(QPoint()), widget->size()}; }
  static std::string words(const Button& button) { return button.text().toStdString(); }
  void expectNothingCutOff() const {
    const MainToolBar* tools = window_->toolBar();
    for (const QToolButton* extension : tools->findChildren<QToolButton*>())
      EXPECT_FALSE(extension->isVisible()) << "tools are behind an arrow";
    for (QAction* action : tools->actions())
      EXPECT_TRUE(!action->isVisible() || isWhole(tools->widgetForAction(action))) << "a tool";
    EXPECT_TRUE(isWhole(window_->chatPage()->input())) << "input";
    EXPECT_TRUE(isWhole(window_->chatPage()->corner())) << "chat's buttons";
    EXPECT_TRUE(isWhole(window_->latencyPage()->corner())) << "latency's buttons";
    EXPECT_TRUE(isWhole(window_->status())) << "status line";
    for (const Button* button : window_->findChildren<Button*>())
      EXPECT_TRUE(!button->isVisible() || button->width() >= button->sizeHint().width()) << words(*button);
    for (const char* dock : {"library", "outline", "inspector"})
      for (const ReadText& text : readTexts(*window_->dock(dock)->title()))
        EXPECT_FALSE(text.text.contains(QChar(0x2026))) << text.text.toStdString();
    EXPECT_EQ(readTexts(*window_->toolBar()->modelButton()).front().text, kFirstModel);
    for (const ReadText& text : readTexts(*window_->status()))
      EXPECT_LT(text.at.x(), window_->width() - 12) << text.text.toStdString();
    for (const char* dock : {"library", "outline", "inspector", "chat", "latency"}) {
      EXPECT_TRUE(isWhole(window_->dock(dock))) << dock;
      EXPECT_GE(window_->dock(dock)->width(), 180) << dock;
    }
    EXPECT_GE(window_->graphPage()->width(), window_->width() / 3);
  }

  ThemeChoice theme_ = ThemeChoice::dark;
  std::unique_ptr<MainWindow> window_;
};

TEST_F(SmallScreenTest, TheFirstWindowFitsTheScreen) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    theme_ = theme;
    open();
    EXPECT_TRUE(window_->screen()->availableGeometry().contains(window_->frameGeometry()));
    EXPECT_TRUE(window_->screen()->availableGeometry().contains(onScreen(window_->statusBar())));
    EXPECT_TRUE(window_->screen()->availableGeometry().contains(onScreen(window_->chatPage()->input())));
    expectNothingCutOff();
    takePicture(*window_, theme == ThemeChoice::dark ? "screen-1280-dark" : "screen-1280-light");
    quit(*window_);
  }
}

TEST_F(SmallScreenTest, TheWindowCanBeNarrow) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    theme_ = theme;
    open();
    window_->chatPage()->send("Why do planets farther from the Sun move more slowly?");
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
    for (const int width : {1200, 1060, 980, 900}) {
      SCOPED_TRACE(width);
      narrow(width);
      expectNothingCutOff();
    }
    EXPECT_TRUE(window_->chatPage()->input()->edit()->hasFocus());
    takePicture(*window_, theme == ThemeChoice::dark ? "narrow-900-dark" : "narrow-900-light");
    quit(*window_);
  }
}

TEST_F(SmallScreenTest, WhatANarrowToolBarLeavesOutIsInItsMenu) {
  open();
  const auto more = [&]() -> IconButton* {
    for (IconButton* button : window_->toolBar()->findChildren<IconButton*>())
      if (button->isVisible() && button->iconName() == "more") return button;
    return nullptr;
  };
  const auto leftOut = [&] {
    QTest::mouseClick(more(), Qt::LeftButton);
    const auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    EXPECT_NE(menu, nullptr);
    std::string texts;
    if (!menu) return texts;
    for (const QAction* action : menu->actions())
      if (!action->isSeparator() && action->isVisible())
        texts += (texts.empty() ? "" : ", ") + action->text().remove('&').toStdString();
    QApplication::activePopupWidget()->close();
    return texts;
  };
  const std::string icons = "Fit, Frame around the selection, Note at the node, Arrange";
  narrow(900);
  ASSERT_TRUE(more());
  EXPECT_FALSE(window_->toolBar()->phase()->isVisible());
  EXPECT_EQ(leftOut(), "Heat, Decode, Prefill, " + icons);
  narrow(1240);
  ASSERT_TRUE(more());
  EXPECT_TRUE(window_->toolBar()->phase()->isVisible());
  EXPECT_EQ(leftOut(), icons);
  narrow(1500);
  EXPECT_FALSE(more());
}

TEST_F(SmallScreenTest, WhatALargerScreenRememberedIsNotForgotten) {
  {
    const auto large = makeWindow();
    large->setGeometry(0, 0, 1600, 1000);
    QApplication::processEvents();
    quit(*large);
  }
  const auto remembered = [&] { return SettingsFile(folder_.path()).load(); };
  const QByteArray geometry = remembered().geometry;
  open();
  EXPECT_TRUE(window_->screen()->availableGeometry().contains(window_->frameGeometry()));
  quit(*window_);
  EXPECT_EQ(remembered().geometry, geometry) << "nobody changed it";
  open();
  window_->resize(1000, 700);
  quit(*window_);
  EXPECT_NE(remembered().geometry, geometry);
  open();
  EXPECT_EQ(window_->size(), QSize(1000, 700));
}

}  // namespace
}  // namespace orrery::ui::testing

int main(int argc, char** argv) {
  orrery::ui::testing::useScreen({1280, 800});
  ::testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
