// What the window remembers, its themes, its exports.
#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QImage>
#include <QMenu>
#include <QMimeData>
#include <QTabBar>
#include <QTest>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class StateTest : public WindowTest {};

TEST_F(StateTest, LayoutAndRecentFilesAreKept) {
  const QString first = writeFile(path("first.gguf"), "x"), second = writeFile(path("second.gguf"), "x");
  {
    auto window = makeWindow();
    window->dock("outline")->close();
    window->resize(1300, 800);
    ASSERT_TRUE(opened(*window, first));
    ASSERT_TRUE(opened(*window, second));
    window->graphPage()->showTab(false);
    window->close();
  }
  auto window = makeWindow();
  EXPECT_EQ(window->settings().recent, QStringList({second, first}));
  EXPECT_FALSE(window->dock("outline")->isVisible());
  EXPECT_TRUE(window->dock("library")->isVisible());
  EXPECT_EQ(window->size(), QSize(1300, 800));
  EXPECT_FALSE(window->graphPage()->fusedShown());
  EXPECT_TRUE(waitUntil([&] { return window->libraryPage()->model()->find(second).isValid(); }));
}

TEST_F(StateTest, DocksKeepTheirSizesFromStartToStart) {
  const auto placesOf = [](const MainWindow& window) {
    QStringList places{QString("window %1x%2").arg(window.width()).arg(window.height())};
    for (const char* name : {"library", "outline", "inspector", "chat", "classify", "latency"}) {
      const QWidget* dock = window.dock(name);
      if (!dock->visibleRegion().isEmpty())
        places += QString("%1 %2x%3").arg(name).arg(dock->width()).arg(dock->height());
    }
    return places.join(", ").toStdString();
  };
  const auto clickTab = [](const MainWindow& window, const QString& title) {
    for (QTabBar* bar : window.findChildren<QTabBar*>())
      for (int tab = 0; tab < bar->count(); ++tab)
        if (bar->tabText(tab) == title)
          QTest::mouseClick(bar, Qt::LeftButton, Qt::NoModifier, bar->tabRect(tab).center());
  };
  std::string before;
  for (int start = 0; start <= 10; ++start) {
    auto window = makeWindow();
    ASSERT_TRUE(opened(*window, "chat"));
    if (start == 0) {
      window->resizeDocks({window->dock("inspector")}, {420}, Qt::Horizontal);
      window->resizeDocks({window->dock("library")}, {301}, Qt::Horizontal);
      window->resizeDocks({window->dock("library")}, {187}, Qt::Vertical);
      window->resizeDocks({window->dock("chat")}, {311}, Qt::Vertical);
      QApplication::processEvents();
      before = placesOf(*window);
      EXPECT_NE(before.find("inspector 420x"), std::string::npos) << before;
    }
    ASSERT_TRUE(opened(*window, path("A-Model-With-A-Much-Longer-Name-Than-Others-0.5B-Instruct.gguf")));
    window->chatPage()->send("One");
    ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
    EXPECT_EQ(placesOf(*window), before) << "start " << start;
    clickTab(*window, "Classify");  // so that there is something new to remember
    clickTab(*window, "Chat");
    window->dock("compare")->setVisible(start % 2 == 1);
    QApplication::processEvents();
    quit(*window);
  }
}

TEST_F(StateTest, RecentFilesAreNineWithoutRepeats) {
  WindowSettings settings;
  for (int i = 0; i < 12; ++i) settings.addRecent(QString::number(i));
  settings.addRecent("5");
  EXPECT_EQ(settings.recent, QStringList({"5", "11", "10", "9", "8", "7", "6", "4", "3"}));
}

TEST_F(StateTest, TheThemeSwitchesEverythingAndIsKept) {
  {
    auto window = makeWindow(std::nullopt);
    ASSERT_TRUE(opened(*window, "chat"));
    window->chatPage()->send("One");
    ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
    const auto lightness = [&](QWidget* widget) {
      return widget->grab()
          .toImage()
          .scaled(1, 1, Qt::IgnoreAspectRatio, Qt::SmoothTransformation)
          .pixelColor(0, 0)
          .lightnessF();
    };
    const std::vector<QWidget*> pages = {
        window->chatPage(),     window->latencyPage(), window->inspectorPage(), window->libraryPage(),
        window->outlinePanel(), window->graphPage(),   window->toolBar(),       window->status()};
    window->setThemeChoice(ThemeChoice::dark);
    waitUntil([] { return false; }, 100);  // the plot draws at the next turns
    for (QWidget* page : pages) EXPECT_LT(lightness(page), 0.35) << page->metaObject()->className();
    window->setThemeChoice(ThemeChoice::light);
    waitUntil([] { return false; }, 100);
    for (QWidget* page : pages) EXPECT_GT(lightness(page), 0.75) << page->metaObject()->className();
    window->graphPage()->fusedView()->waitForLayout();
    waitUntil([] { return false; }, 300);
    takePicture(*window, "reply-light");
    quit(*window);
  }
  auto window = makeWindow(std::nullopt);
  EXPECT_EQ(window->settings().theme, ThemeChoice::light);
  EXPECT_FALSE(window->theme().isDark());
}

TEST_F(StateTest, ThePlotIsExportedInTheLightTheme) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->chatPage()->send("One");
  ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
  QString reason;
  ASSERT_TRUE(window->latencyPage()->exportTo(path("plot.png"), &reason)) << reason.toStdString();
  const QImage picture(path("plot.png"));
  ASSERT_FALSE(picture.isNull());
  EXPECT_GT(picture.pixelColor(3, 3).lightnessF(), 0.9);
  ASSERT_TRUE(window->latencyPage()->exportTo(path("plot.pdf"), &reason));
  QFile pdf(path("plot.pdf"));
  ASSERT_TRUE(pdf.open(QIODevice::ReadOnly));
  EXPECT_TRUE(pdf.read(5).startsWith("%PDF"));
  ASSERT_TRUE(window->latencyPage()->exportTo(path("plot.csv"), &reason));
  QFile csv(path("plot.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().count('\n'), 1 + 1 + 23);
  EXPECT_FALSE(window->latencyPage()->exportTo(path("plot.gif"), &reason));
  EXPECT_FALSE(window->latencyPage()->exportTo("/nowhere/plot.csv", &reason));
  EXPECT_FALSE(reason.isEmpty());
}

TEST_F(StateTest, DocksInATabGroupUseTheTabAsTitle) {
  auto window = makeWindow();
  EXPECT_TRUE(
      waitUntil([&] { return window->dock("chat")->tabbed() && window->dock("classify")->tabbed(); }));
  EXPECT_FALSE(window->dock("latency")->tabbed());
  EXPECT_TRUE(waitUntil([&] { return window->chatPage()->corner()->isVisible(); }));
  window->showPage("classify");
  EXPECT_TRUE(waitUntil([&] {
    return window->classifyPage()->corner()->isVisible() && !window->chatPage()->corner()->isVisible();
  }));
  for (const char* other : {"classify", "compare", "diff", "sweep", "values"})
    window->dock(other)->setFloating(true);
  EXPECT_TRUE(waitUntil([&] { return !window->dock("chat")->tabbed(); }));
  EXPECT_TRUE(window->dock("chat")->title()->isVisible());
  EXPECT_TRUE(window->chatPage()->corner()->isVisible());
}

TEST_F(StateTest, DroppedFilesOpenAsWhatTheyAre) {
  auto window = makeWindow();
  const auto drop = [&](const QStringList& paths) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths) urls += QUrl::fromLocalFile(path);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.get(), &event);
    return waitUntil([&] { return !window->session()->loading(); });
  };
  const auto options = [&] {
    const SessionPtr session = window->session()->session();
    return session ? session->options() : api::OpenOptions();
  };
  QDir(folder_.path()).mkpath("lora");
  writeFile(path("lora/adapter_config.json"), "{}");
  ASSERT_TRUE(drop({path("lora")}));
  EXPECT_EQ(window->graphPage()->banner()->title(), "lora is an adapter");
  ASSERT_TRUE(drop({writeFile(path("model.gguf"), "x")}));
  EXPECT_EQ(options().model, path("model.gguf").toStdString());
  EXPECT_EQ(options().adapter, "");
  ASSERT_TRUE(drop({path("lora/adapter_config.json")}));
  EXPECT_EQ(options().model, path("model.gguf").toStdString());
  EXPECT_EQ(options().adapter, path("lora").toStdString());
  ASSERT_TRUE(drop({path("lora"), writeFile(path("weights.pt"), "x")}));
  EXPECT_EQ(options().model, path("weights.pt").toStdString());
  EXPECT_EQ(options().adapter, path("lora").toStdString());
}

TEST_F(StateTest, WithoutAModelThePageSaysWhatToDo) {
  auto window = makeWindow();
  EXPECT_TRUE(window->graphPage()->hint()->isVisible());
  EXPECT_FALSE(window->toolBar()->runButton()->isEnabled());
  takePicture(*window, "empty-dark");
}

}  // namespace
}  // namespace orrery::ui::testing
