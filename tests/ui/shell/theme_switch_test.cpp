// A window whose theme is switched looks like one that was opened in that theme.
#include <gtest/gtest.h>

#include <QDir>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class ThemeSwitchTest : public WindowTest {
 protected:
  std::unique_ptr<MainWindow> opened(ThemeChoice theme, const QString& page) {
    QDir(folder_.path()).removeRecursively();  // the window before left its sizes there
    auto window = makeWindow(theme);
    window->resize(1280, 800);
    EXPECT_TRUE(WindowTest::opened(*window, "chat"));
    window->showPage(page);
    return window;
  }
  static QImage settled(MainWindow& window) {
    window.graphPage()->view()->waitForLayout();
    QImage before, now;
    waitUntil([&] {
      before = std::exchange(now, window.grab().toImage());
      return now == before;
    });
    return now;
  }
  /// The widget whose pixels are not those of the same place in another picture; empty: they are the same.
  static QString difference(MainWindow& window, const QImage& picture, const QImage& other) {
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x)
        if (picture.pixel(x, y) != other.pixel(x, y)) {
          QString path;
          for (const QWidget* at = window.childAt(x, y); at; at = at->parentWidget())
            path += QString("%1 (%2) < ").arg(at->metaObject()->className(), at->accessibleName());
          return QString("%1, %2: %3").arg(x).arg(y).arg(path);
        }
    return {};
  }
};

TEST_F(ThemeSwitchTest, TheWindowLooksAsIfOpenedInThatTheme) {
  for (const auto& [before, after] :
       {std::pair(ThemeChoice::dark, ThemeChoice::light), std::pair(ThemeChoice::light, ThemeChoice::dark)})
    for (const char* page : {"chat", "classify", "compare"}) {
      auto window = opened(before, page);
      settled(*window);
      window->setThemeChoice(after);
      const QImage switched = settled(*window);
      quit(*window);
      window = opened(after, page);
      const QString found = difference(*window, settled(*window), switched);
      EXPECT_TRUE(found.isEmpty()) << page << " at " << found.toStdString();
      quit(*window);
    }
}

TEST_F(ThemeSwitchTest, NothingThatWasShownKeepsAColourOfTheOldTheme) {
  auto window = opened(ThemeChoice::dark, "chat");
  window->chatPage()->send("Why?");
  ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
  window->applyEdit("bypass", "layers.1");
  ASSERT_TRUE(waitUntil([&] { return window->session()->canUndo(); }));
  settled(*window);
  window->setThemeChoice(ThemeChoice::light);
  const QImage picture = settled(*window);
  takePicture(*window, "switched-to-light");
  const Theme old(Theme::Mode::dark);
  // Greys are mixed of others at the edges of letters; these are not.
  for (const Token token : {Token::accent, Token::cpu, Token::cuda, Token::ok, Token::warn, Token::error,
                            Token::edited, Token::selectionBg, Token::okBg, Token::editedBg})
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x)
        ASSERT_NE(picture.pixelColor(x, y).rgb(), old(token).rgb())
            << old(token).name().toStdString() << " at " << x << ", " << y << " of "
            << (window->childAt(x, y) ? window->childAt(x, y)->metaObject()->className() : "the window");
  quit(*window);
}

}  // namespace
}  // namespace orrery::ui::testing
