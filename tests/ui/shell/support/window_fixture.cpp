#include "support/window_fixture.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QThread>

namespace orrery::ui::testing {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlower = 5;  // than what is not instrumented
#else
constexpr int kSlower = 1;
#endif

}  // namespace

bool waitUntil(const std::function<bool()>& done, int milliseconds) {
  milliseconds *= kSlower;
  QElapsedTimer clock;
  clock.start();
  while (!done()) {
    if (clock.elapsed() > milliseconds) return false;
    QApplication::processEvents(QEventLoop::AllEvents, 20);
    QThread::msleep(1);
  }
  QApplication::processEvents();
  return true;
}

void takePicture(QWidget& window, const QString& name) {
  QDir().mkpath(ORRERY_PICTURES);
  EXPECT_TRUE(window.grab().save(QString(ORRERY_PICTURES) + "/" + name + ".png"));
}

QString writeFile(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(bytes);
  return path;
}

bool isWhole(const QWidget* widget) {
  if (!widget->isVisible()) return false;
  for (const QWidget* around = widget->parentWidget(); around; around = around->parentWidget()) {
    if (!around->rect().contains({widget->mapTo(around, QPoint()), widget->size()})) return false;
    if (around->isWindow()) break;
  }
  return true;
}

bool press(const Banner* banner, const QString& words) {
  if (!banner->isVisible()) return false;
  for (Button* button : banner->findChildren<Button*>())
    if (button->text().startsWith(words)) return button->click(), true;
  return false;
}

bool recipeIs(MainWindow& window, const QStringList& words) {
  return waitUntil([&] {
    QStringList recipe;
    for (const edit::Edit& edit : window.session()->session()->recipe())
      recipe += QString::fromStdString(edit.to_string());
    return recipe == words;
  });
}

QStringList texts(const QWidget& page) {
  QStringList all;
  for (const Text* text : page.findChildren<Text*>()) all += text->text();
  return all;
}

QAction* actionOf(const QMenu* menu, const QString& words) {
  for (QAction* action : menu->actions())
    if (action->text().startsWith(words)) return action;
  return nullptr;
}

void quit(MainWindow& window) {
  if (!window.close()) press(window.graphPage()->banner(), "Quit without saving");
  EXPECT_FALSE(window.isVisible());
}

void WindowTest::openFoot(MainWindow& window) {
  for (const char* page : {"chat", "latency"})
    if (DockFrame* dock = window.dock(page); dock->isHidden()) dock->toggleViewAction()->trigger();
  for (const char* page : {"classify", "compare", "diff", "sweep", "values"})
    window.dock(page)->show();  // as tabs beside the chat
  QApplication::processEvents();
}

std::unique_ptr<MainWindow> WindowTest::makeWindow(std::optional<ThemeChoice> theme) {
  return makeWindow(engine_.services(), theme);
}

std::unique_ptr<MainWindow> WindowTest::makeWindow(const Services& services,
                                                   std::optional<ThemeChoice> theme) {
  WindowOptions options;
  options.configFolder = folder_.path();
  options.theme = theme;
  const bool first = !QFile::exists(SettingsFile(options.configFolder).path());
  if (first) options.workspace = "see";
  auto window = std::make_unique<MainWindow>(services, options);
  window->show();
  QApplication::processEvents();
  if (first) openFoot(*window);
  return window;
}

bool WindowTest::opened(MainWindow& window, const QString& model) {
  window.openModel(model);
  return waitUntil([&] { return !window.session()->loading(); }, 60000) &&
         window.session()->session() != nullptr;
}

}  // namespace orrery::ui::testing
