// Files as a person opens them: recipes from the dialog, the menu and by dropping, and what is told while
// files are dragged over the window.
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QTest>
#include <QTimer>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

const QByteArray kTwoEdits =
    R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.1"}, {"op": "bypass", "scope": "layers.2"}]})";

class OpeningTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    window_ = makeWindow();
    recipe_ = writeFile(path("two.recipe.json"), kTwoEdits);
  }
  const Banner* banner() const { return window_->graphPage()->banner(); }
  std::vector<edit::Edit> edits() const { return window_->session()->session()->recipe(); }
  bool hasEdits(size_t count) const {
    return waitUntil([&] { return edits().size() == count && window_->session()->recipe().size() == count; });
  }
  /// Ctrl+O, a name and Enter, as a person does.
  void openByDialog(const QString& file) {
    QTimer::singleShot(0, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      EXPECT_TRUE(dialog->nameFilters().front().contains("*.json"));
      dialog->findChild<QLineEdit*>()->setText(file);
      dialog->setResult(QDialog::Accepted);
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
    QTest::keyClick(window_.get(), Qt::Key_O, Qt::ControlModifier);
    window_->activateWindow();  // there is no window manager to do it
  }
  static QMimeData* files(const QStringList& paths, QMimeData* data) {
    QList<QUrl> urls;
    for (const QString& path : paths) urls += QUrl::fromLocalFile(path);
    data->setUrls(urls);
    return data;
  }
  bool drag(QWidget* over, const QStringList& paths) {
    QMimeData data;
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, files(paths, &data), Qt::LeftButton,
                          Qt::NoModifier);
    QCoreApplication::sendEvent(over, &enter);
    QDragMoveEvent move(QPoint(12, 12), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(over, &move);
    return enter.isAccepted() && move.isAccepted();
  }
  void drop(QWidget* over, const QStringList& paths) {
    QMimeData data;
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, files(paths, &data), Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(over, &event);
    EXPECT_TRUE(event.isAccepted());
  }
  QString hint(const QStringList& paths) {
    EXPECT_TRUE(drag(window_->graphPage()->view()->viewport(), paths));
    const DropPreview* preview = window_->dropPreview();
    EXPECT_TRUE(preview->isVisible());
    const QString words = preview->title() + (preview->body().isEmpty() ? "" : ": " + preview->body());
    QDragLeaveEvent leave;
    QCoreApplication::sendEvent(window_->graphPage()->view()->viewport(), &leave);
    EXPECT_FALSE(preview->isVisible());
    return words;
  }

  std::unique_ptr<MainWindow> window_;
  QString recipe_;
};

TEST_F(OpeningTest, ARecipeOpenedByTheDialogIsMadeOnTheModelAndUndone) {
  ASSERT_TRUE(opened(*window_, "chat"));
  openByDialog(recipe_);
  ASSERT_TRUE(hasEdits(2)) << banner()->title().toStdString() << banner()->body().toStdString();
  EXPECT_EQ(edits()[0].to_string(), "bypass scope=layers.1");
  EXPECT_EQ(banner()->title(),
            "Done: 2 edits of two.recipe.json; the context is read again at the next message");
  EXPECT_EQ(window_->status()->facts().edits, "2 edits") << "they are in a file";
  EXPECT_EQ(window_->latencyPage()->series().marks().size(), 1U);
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(hasEdits(1));
  EXPECT_EQ(window_->status()->facts().edits, "1 edit, not saved");
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(hasEdits(0));
  EXPECT_EQ(window_->status()->facts().edits, "no edits");
}

TEST_F(OpeningTest, ARecentRecipeIsInTheMenuAndNotInTheLibrary) {
  ASSERT_TRUE(opened(*window_, "chat"));
  window_->openPaths({recipe_});
  ASSERT_TRUE(hasEdits(2));
  EXPECT_EQ(window_->settings().recent.front(), recipe_);
  EXPECT_FALSE(window_->libraryPage()->model()->find(recipe_).isValid());
  QAction* entry = nullptr;
  for (QMenu* menu : window_->findChildren<QMenu*>())
    if (menu->title() == "Open &recent") entry = menu->actions().front();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->text(), "&1  two.recipe.json");
  entry->trigger();
  EXPECT_TRUE(hasEdits(4));
}

TEST_F(OpeningTest, WhatDoesNotFitIsToldAndNothingChanges) {
  ASSERT_TRUE(opened(*window_, "chat"));
  window_->applyEdit("bypass", "layers.3");
  ASSERT_TRUE(hasEdits(1));
  window_->openPaths({writeFile(
      path("other.json"),
      R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.1"}, {"op": "bypass", "scope": "encoder"}]})")});
  ASSERT_TRUE(waitUntil([&] { return banner()->kind() == Banner::Kind::error; }));
  EXPECT_EQ(banner()->title(), "Could not make the edits of other.json");
  EXPECT_TRUE(banner()->body().contains(
      "Edit 2, \"bypass scope=encoder\": The scope has no residual stream (encoder): choose a layer"))
      << banner()->body().toStdString();
  EXPECT_FALSE(banner()->body().contains("Edit 1"));
  EXPECT_TRUE(banner()->body().contains("Nothing was changed"));
  EXPECT_EQ(edits().size(), 1U);
  takePicture(*window_, "recipe-refused-dark");
}

TEST_F(OpeningTest, ABrokenRecipeSaysWhere) {
  ASSERT_TRUE(opened(*window_, "chat"));
  window_->openPaths({writeFile(
      path("broken.json"), R"({"orrery_recipe": 1, "edits": [{"op": "explode", "scope": "layers.1"}]})")});
  ASSERT_TRUE(banner()->isVisible());
  EXPECT_EQ(banner()->title(), "Could not open broken.json");
  EXPECT_TRUE(banner()->body().contains("There is no edit \"explode\""));
}

TEST_F(OpeningTest, WithoutAModelARecipeSaysWhatToDo) {
  window_->openPaths({recipe_});
  EXPECT_EQ(banner()->title(), "two.recipe.json is a recipe");
  EXPECT_EQ(banner()->body(), "Open the model that it was made for, then the recipe.");
}

TEST_F(OpeningTest, FilesCanBeDroppedOnEveryPart) {
  ASSERT_TRUE(opened(*window_, "chat"));
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  size_t count = 0;
  for (QWidget* part :
       {window_->graphPage()->view()->viewport(), window_->chatPage()->input()->edit()->viewport(),
        static_cast<QWidget*>(window_->toolBar()->find()), window_->libraryPage()->list()->viewport(),
        static_cast<QWidget*>(window_->status())}) {
    EXPECT_TRUE(drag(part, {recipe_})) << part->metaObject()->className();
    drop(part, {recipe_});
    EXPECT_TRUE(hasEdits(count += 2)) << part->metaObject()->className();
  }
  EXPECT_TRUE(window_->chatPage()->input()->text().isEmpty());
  EXPECT_TRUE(window_->toolBar()->find()->text().isEmpty());
  EXPECT_FALSE(window_->dropPreview()->isVisible());
}

TEST_F(OpeningTest, AHintSaysWhatADropDoes) {
  QDir(folder_.path()).mkpath("lora");
  writeFile(path("lora/adapter_config.json"), "{}");
  const QString model = writeFile(path("model.gguf"), "x"), other = writeFile(path("other.gguf"), "x"),
                table = writeFile(path("reviews.csv"), "text\na\n");
  EXPECT_EQ(hint({path("lora")}),
            "lora is an adapter: Open the model that it was made for, then the adapter.");
  ASSERT_TRUE(opened(*window_, "chat"));
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  EXPECT_EQ(hint({model}), "Open model.gguf");
  EXPECT_EQ(hint({model, path("lora")}), "Open model.gguf: with the adapter lora");
  EXPECT_EQ(hint({path("lora")}), "Put the adapter lora on chat");
  EXPECT_EQ(hint({recipe_}), "Edit chat with two.recipe.json: Every edit can be undone");
  EXPECT_EQ(hint({table}), "Classify the texts of reviews.csv");
  EXPECT_EQ(hint({model, other}), "These are 2 models: Open one at a time.");
  drag(window_->graphPage()->view()->viewport(), {recipe_});
  takePicture(*window_, "drop-hint-dark");
  drop(window_->graphPage()->view()->viewport(), {model, other});
  EXPECT_EQ(banner()->title(), "These are 2 models");
  EXPECT_EQ(window_->session()->title(), "chat");
}

TEST_F(OpeningTest, AnAdapterGoesOnTheModelWithItsEditsAndItsChat) {
  engine_.chat.tokens = 3;
  ASSERT_TRUE(opened(*window_, "chat"));
  window_->chatPage()->send("Hello");
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
  window_->openPaths({recipe_});
  ASSERT_TRUE(hasEdits(2));
  QDir(folder_.path()).mkpath("lora");
  writeFile(path("lora/adapter_config.json"), "{}");
  window_->openPaths({path("lora")});
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->loading(); }));
  EXPECT_EQ(window_->windowTitle(), "lora - Orrery");
  EXPECT_EQ(edits().size(), 2U);
  EXPECT_EQ(window_->chatPage()->transcript()->messageCount(), 2U);
}

}  // namespace
}  // namespace orrery::ui::testing
