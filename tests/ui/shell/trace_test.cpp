// "Save trace...": what ran in every open session, into the file that was named.
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QTest>
#include <QTimer>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class TraceTest : public WindowTest {
 protected:
  /// Names the file in the dialog that the action opens, as a person does.
  void saveAs(MainWindow& window, const QString& file) {
    QTimer::singleShot(0, &window, [file] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      auto* name = dialog->findChild<QLineEdit*>();
      name->setText(file);
      QTest::keyClick(name, Qt::Key_Return);
    });
    window.action("Save trace")->trigger();
  }
  static bool told(MainWindow& window, const QString& words) {
    return waitUntil([&] {
      const Banner* banner = window.graphPage()->banner();
      return banner->isVisible() && (banner->title() + banner->body()).contains(words);
    });
  }
  static QByteArray content(const QString& file) {
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
  }
};

TEST_F(TraceTest, WhatRanInAllSessionsIsSaved) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  EXPECT_TRUE(window->action("Save trace")->isEnabled());
  window->chatPage()->send("One");
  ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
  saveAs(*window, path("first.json"));
  ASSERT_TRUE(told(*window, "Saved first.json"));
  EXPECT_EQ(content(path("first.json")), "chat on cpu: 48 spans\n") << "24 steps of one node";
  saveAs(*window, path("again.json"));
  ASSERT_TRUE(told(*window, "Saved again.json"));
  EXPECT_EQ(content(path("again.json")), content(path("first.json"))) << "saving takes nothing away";
}

TEST_F(TraceTest, NothingRanIsSaid) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  saveAs(*window, path("empty.json"));
  ASSERT_TRUE(told(*window, "Nothing has run yet"));
  EXPECT_FALSE(QFileInfo::exists(path("empty.json")));
}

TEST_F(TraceTest, AFileThatCannotBeWrittenIsTold) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->chatPage()->send("One");
  ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
  const QString folder = path("folder.json");
  ASSERT_TRUE(QDir().mkdir(folder));
  window->traces()->save(folder);
  ASSERT_TRUE(told(*window, "folder.json"));
  EXPECT_TRUE(told(*window, "Choose another folder"));
}

}  // namespace
}  // namespace orrery::ui::testing
