// Metadata of GGUF files edited in the window and saved by the real engine.
#include <QTest>

#include "engine/api/metadata.h"
#include "engine/api/shown_session.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

const QString kTiny = QString(ORRERY_TEST_DATA) + "/io/tiny.gguf";

class MetadataEditorTest : public WindowTest {
 protected:
  std::unique_ptr<MainWindow> window(ThemeChoice theme = ThemeChoice::dark) {
    Services services;
    services.open = api::open_or_show;
    services.listModels = [](const auto&) { return std::vector<api::LibraryEntry>(); };
    services.canBypass = edit::can_bypass;
    services.metadata = {api::list_metadata, api::check_metadata_value, api::save_metadata};
    return makeWindow(services, theme);
  }
  static bool ready(const MetadataEditor& editor) {
    return waitUntil([&] { return !editor.busy(); });
  }
  static MetadataEditor* edit(MainWindow& window, const QString& file = kTiny) {
    MetadataEditor* editor = window.editMetadata(file);
    EXPECT_TRUE(ready(*editor));
    return editor;
  }
  /// Finds the key by typing it, and chooses it.
  static void choose(MetadataEditor& editor, const QString& key) {
    editor.search()->clear();
    QTest::keyClicks(editor.search(), key);
    ASSERT_EQ(editor.table()->model()->rowCount(), 1) << key.toStdString();
    editor.table()->setCurrentIndex(editor.table()->model()->index(0, 0));
    ASSERT_EQ(editor.keyField()->text(), key);
  }
  static void type(MetadataEditor& editor, const QString& value) {
    editor.valueField()->selectAll();
    QTest::keyClicks(editor.valueField(), value);
  }
  static QString valueIn(const QString& file, const std::string& key) {
    const auto keys = api::list_metadata(file.toStdString());
    if (!keys.ok()) return QString::fromStdString(keys.error().to_string());
    for (const api::MetadataKey& listed : *keys)
      if (listed.name == key) return QString::fromStdString(listed.type + " " + listed.value);
    return "none";
  }
  /// The bytes of all tensors, which end the file.
  static QByteArray tensorsOf(const QString& path) {
    const auto info = api::inspect(path.toStdString(), "", 0, "f16");
    EXPECT_TRUE(info.ok()) << info.error().to_string();
    qsizetype size = 0;
    for (const api::TensorRow& tensor : info->tensors) size += static_cast<qsizetype>(tensor.bytes);
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_GT(size, 500);
    return file.readAll().right(size);
  }
  static void press(const Banner& banner, const QString& words) {
    for (Button* button : banner.findChildren<Button*>())
      if (button->text() == words) return button->click();
    FAIL() << "no button " << words.toStdString() << " in: " << banner.title().toStdString();
  }
};

TEST_F(MetadataEditorTest, EditsAreSavedAsANewFileWithTheSameTensors) {
  auto shown = window();
  MetadataEditor* editor = edit(*shown);
  choose(*editor, "general.name");
  type(*editor, "Renamed");
  choose(*editor, "test.ints");
  EXPECT_EQ(editor->valueField()->toPlainText(), "[1, -2, 3]");
  type(*editor, "[7, 8]");
  choose(*editor, "test.f32");
  editor->keyField()->selectAll();
  QTest::keyClicks(editor->keyField(), "test.real");
  choose(*editor, "test.u16");
  QTest::keyClick(editor->table(), Qt::Key_Delete);
  editor->addButton()->click();
  QTest::keyClicks(editor->keyField(), "test.note");
  editor->typeField()->setCurrentText("u8");
  type(*editor, "3");
  EXPECT_EQ(editor->model()->changeCount(), 5);
  takePicture(*editor, "metadata-dark");

  const QString out = path("edited.gguf");
  editor->saveAs(out);
  ASSERT_TRUE(waitUntil([&] { return editor->file() == out && !editor->busy(); }))
      << editor->banner()->body().toStdString();
  EXPECT_FALSE(editor->changed());
  EXPECT_EQ(valueIn(out, "general.name"), "string Renamed");
  EXPECT_EQ(valueIn(out, "test.ints"), "i32[] [7, 8]");
  EXPECT_EQ(valueIn(out, "test.real"), "f32 0.5");
  EXPECT_EQ(valueIn(out, "test.note"), "u8 3");
  EXPECT_EQ(valueIn(out, "test.u16"), "none");
  EXPECT_EQ(tensorsOf(out), tensorsOf(kTiny));
  EXPECT_EQ(valueIn(kTiny, "general.name"), "string Tiny") << "the file itself stays";
  EXPECT_EQ(shown->settings().recent.first(), out);
}

TEST_F(MetadataEditorTest, ValuesAreCheckedByTheirType) {
  auto shown = window();
  MetadataEditor* editor = edit(*shown);
  choose(*editor, "llama.block_count");
  EXPECT_FALSE(editor->typeField()->isEnabled()) << "a key keeps its type";
  type(*editor, "many");
  EXPECT_TRUE(editor->problem().contains("\"many\" is not a value of the type u32"))
      << editor->problem().toStdString();
  editor->saveButton()->click();
  EXPECT_EQ(editor->banner()->title(), "Not saved yet");
  type(*editor, "2");
  EXPECT_TRUE(editor->problem().isEmpty());
  editor->addButton()->click();
  EXPECT_EQ(editor->problem(), "A key needs a name");
  QTest::keyClicks(editor->keyField(), "general.name");
  EXPECT_EQ(editor->problem(), "There is already a key general.name");
  editor->removeButton()->click();
  EXPECT_EQ(editor->model()->firstProblem(), -1);
}

TEST_F(MetadataEditorTest, WhatCannotBeSavedIsToldAndKept) {
  auto shown = window();
  MetadataEditor* editor = edit(*shown);
  choose(*editor, "general.name");
  type(*editor, "Renamed");
  editor->saveAs(writeFile(path("there.gguf"), "x"));
  EXPECT_EQ(editor->banner()->title(), "Could not save there.gguf");
  EXPECT_TRUE(editor->banner()->body().startsWith("There is already a file of this name"));
  editor->saveAs(path("no/folder.gguf"));
  ASSERT_TRUE(ready(*editor));
  EXPECT_EQ(editor->banner()->title(), "Could not save folder.gguf");
  EXPECT_TRUE(editor->banner()->body().contains("cannot be written"))
      << editor->banner()->body().toStdString();
  choose(*editor, "general.architecture");
  QTest::keyClick(editor->table(), Qt::Key_Delete);
  editor->saveAs(path("refused.gguf"));
  ASSERT_TRUE(ready(*editor));
  EXPECT_EQ(editor->banner()->title(), "Could not save refused.gguf");
  EXPECT_FALSE(QFile::exists(path("refused.gguf")));
  EXPECT_EQ(editor->model()->changeCount(), 2);
}

TEST_F(MetadataEditorTest, ChangesAreAskedAboutBeforeTheyAreLost) {
  auto shown = window(ThemeChoice::light);
  QPointer<MetadataEditor> editor = edit(*shown);
  choose(*editor, "general.name");
  type(*editor, "Renamed");
  QTest::keyClick(editor, Qt::Key_Escape);
  EXPECT_TRUE(editor->isVisible());
  EXPECT_EQ(editor->banner()->title(), "A change is not saved");
  takePicture(*editor, "metadata-light");
  EXPECT_FALSE(shown->close()) << "the window stays while there are changes";
  EXPECT_EQ(shown->editMetadata(path("other.gguf")), editor.data()) << "another file does not replace them";
  press(*editor->banner(), "Discard the changes");
  EXPECT_TRUE(waitUntil([&] { return !editor || !editor->isVisible(); }));
  EXPECT_TRUE(shown->close());
}

TEST_F(MetadataEditorTest, OpensFromTheMenuForGgufFilesOnly) {
  auto shown = window();
  QAction* action = shown->action("Edit metadata");
  EXPECT_FALSE(action->isEnabled());
  ASSERT_TRUE(opened(*shown, QString(ORRERY_TEST_DATA) + "/models/llama/model.gguf"))
      << shown->graphPage()->banner()->body().toStdString();
  EXPECT_TRUE(action->isEnabled());
  action->trigger();
  const auto* editor = shown->findChild<MetadataEditor*>();
  ASSERT_NE(editor, nullptr);
  ASSERT_TRUE(ready(*editor));
  EXPECT_GT(editor->model()->rowCount(), 10);
  ASSERT_TRUE(opened(*shown, QString(ORRERY_TEST_DATA) + "/encoders/bert_tokens"));
  EXPECT_FALSE(action->isEnabled());
  editor = edit(*shown, QString(ORRERY_TEST_DATA) + "/encoders/bert_tokens");
  EXPECT_EQ(editor->banner()->title(), "Could not read the metadata");
  EXPECT_EQ(editor->model()->rowCount(), 0);
}

}  // namespace
}  // namespace orrery::ui::testing
