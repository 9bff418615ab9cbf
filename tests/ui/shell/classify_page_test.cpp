#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QTest>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class ClassifyTest : public WindowTest {
 protected:
  bool done(MainWindow& window, int texts) {
    return waitUntil([&] {
      return window.classifyPage()->model()->doneCount() == texts && !window.classifier()->running();
    });
  }
};

TEST_F(ClassifyTest, TheClassifierLoadsAtFirstUseAndTheChatModelStays) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  EXPECT_EQ(window->classifier()->session(), nullptr);
  window->showPage("classify");
  ClassifyPage* page = window->classifyPage();
  QTest::keyClicks(page->field(), "a good film");
  QTest::keyClick(page->field(), Qt::Key_Return);
  ASSERT_TRUE(done(*window, 1));
  EXPECT_EQ(
      page->model()->data(page->model()->index(0, ClassifyModel::labelColumn), Qt::DisplayRole).toString(),
      "positive");
  EXPECT_EQ(window->session()->session()->info().name, "chat");
  EXPECT_EQ(*engine_.openSessions, 2);
}

TEST_F(ClassifyTest, ACsvWithLabelsGivesAccuracyAndExports) {
  auto window = makeWindow();
  window->showPage("classify");
  ClassifyPage* page = window->classifyPage();
  page->openCsv(writeFile(
      path("reviews.csv"),
      "id,text,label\n1,a good film,positive\n2,\"dull, and long\",negative\n3,no good at all,negative\n"));
  ASSERT_TRUE(page->csvBar()->active());
  EXPECT_EQ(page->csvBar()->textColumn(), 1);
  EXPECT_EQ(page->csvBar()->labelColumn(), 2);
  page->classifyButton()->click();
  ASSERT_TRUE(done(*window, 3));
  EXPECT_EQ(page->details()->accuracy(), "accuracy 0.667");
  EXPECT_TRUE(page->details()->summary().startsWith("3 texts in"));
  takePicture(*window, "classify-dark");
  QString reason;
  ASSERT_TRUE(page->exportCsv(path("out.csv"), &reason)) << reason.toStdString();
  QFile file(path("out.csv"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(file.readAll().contains("\"dull, and long\",negative,0.800000,0.800000,0.200000,negative"));
}

TEST_F(ClassifyTest, ACsvSaysWhatRunsItAndCtrlReturnDoes) {
  auto window = makeWindow();
  window->resize(1280, 800);
  window->showPage("classify");
  ClassifyPage* page = window->classifyPage();
  page->openCsv(writeFile(path("reviews.csv"), "text,label\na good film,positive\ndull,negative\n"));
  EXPECT_EQ(page->csvBar()->title(), "2 texts from reviews.csv. Press Classify (Ctrl+Return) to run");
  EXPECT_EQ(page->model()->doneCount(), 0);
  ASSERT_TRUE(waitUntil([&] { return window->classifier()->session() != nullptr; }));
  EXPECT_TRUE(page->classifyButton()->hasFocus());
  takePicture(*window, "classify-csv-opened");
  QTest::keyClick(page->classifyButton(), Qt::Key_Return, Qt::ControlModifier);
  ASSERT_TRUE(done(*window, 2));
  EXPECT_EQ(page->csvBar()->title(), "2 texts from reviews.csv");
  page->csvBar()->choose(0, -1);
  EXPECT_TRUE(page->csvBar()->title().endsWith("to run")) << "another column has not run";
}

TEST_F(ClassifyTest, CtrlReturnRunsThePageOnceWhateverTheChatDoesWithIt) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->chatPage()->send("One");
  ASSERT_TRUE(
      waitUntil([&] { return !window->session()->running() && window->chatPage()->canRegenerate(); }));
  window->showPage("classify");
  ClassifyPage* page = window->classifyPage();
  page->field()->setText("a good film");
  for (QWidget* focus :
       {static_cast<QWidget*>(page->field()), static_cast<QWidget*>(page->classifyButton())}) {
    page->model()->setTexts({}, {});
    focus->setFocus();
    QTest::keyClick(focus, Qt::Key_Return, Qt::ControlModifier);
    EXPECT_TRUE(done(*window, 1));
  }
  EXPECT_EQ(window->chatPage()->transcript()->messageCount(), 2U);
  EXPECT_FALSE(window->session()->running()) << "the reply is not written again";
}

TEST_F(ClassifyTest, PastedLinesAreTextsOfTheirOwn) {
  auto window = makeWindow();
  window->showPage("classify");
  ClassifyPage* page = window->classifyPage();
  QGuiApplication::clipboard()->setText("a good film\r\n\ndull and long\nno good at all\n");
  QTest::keySequence(page->field(), QKeySequence::Paste);
  takePicture(*window, "classify-pasted");
  QTest::keyClick(page->field(), Qt::Key_Return);
  ASSERT_TRUE(done(*window, 3));
  QStringList texts;
  for (const ClassifyModel::Row& row : page->model()->rows()) texts += row.text;
  EXPECT_EQ(texts, QStringList({"a good film", "dull and long", "no good at all"}));
}

TEST_F(ClassifyTest, ABrokenCsvIsABanner) {
  auto window = makeWindow();
  window->showPage("classify");
  window->classifyPage()->openCsv(writeFile(path("broken.csv"), "text\n\"open\n"));
  EXPECT_TRUE(window->classifyPage()->banner()->isVisible());
  EXPECT_EQ(window->classifyPage()->banner()->title(), "Could not open broken.csv");
}

TEST_F(ClassifyTest, ItsGraphIsShownWhenAsked) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  window->classifyPage()->prepare();
  ASSERT_TRUE(waitUntil([&] { return window->classifier()->session() != nullptr; }));
  emit window->classifyPage()->graphAsked(true);
  EXPECT_EQ(window->graphPage()->source(), window->classifier());
  ASSERT_TRUE(opened(*window, "chat"));  // loading a model shows that model
  EXPECT_EQ(window->graphPage()->source(), window->session());
}

}  // namespace
}  // namespace orrery::ui::testing
