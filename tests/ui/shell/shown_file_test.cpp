// Files that cannot run, opened in the window to be looked at.
#include <QDir>
#include <QTreeView>
#include <filesystem>

#include "engine/api/metadata.h"
#include "engine/api/shown_session.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

const QString kData = QString(ORRERY_TEST_DATA) + "/io/";

class ShownFileTest : public WindowTest {
 protected:
  std::unique_ptr<MainWindow> window() {
    Services services;
    services.open = api::open_or_show;
    services.listModels = [](const auto&) { return std::vector<api::LibraryEntry>(); };
    services.canBypass = edit::can_bypass;
    return makeWindow(services, ThemeChoice::dark);
  }
  /// The tiny GGUF file, said to be of an architecture that nobody knows.
  QString unknownGguf() {
    const QString made = path("zamba.gguf");
    const MetadataEdit edit{MetadataEdit::Action::set, "general.architecture", "zamba"};
    const auto saved = api::save_metadata((kData + "tiny.gguf").toStdString(), std::span(&edit, 1),
                                          made.toStdString(), {}, {});
    EXPECT_TRUE(saved.ok()) << saved.error().to_string();
    return made;
  }
  QString unknownFolder() {
    const QString made = path("zamba2");
    std::filesystem::copy((kData + "tiny_hf").toStdString(), made.toStdString(),
                          std::filesystem::copy_options::recursive);
    QFile config(made + "/config.json");
    EXPECT_TRUE(config.open(QIODevice::ReadOnly));
    const QByteArray text = config.readAll().replace("\"bert\"", "\"zamba2\"");
    config.close();
    QFile::remove(config.fileName());
    writeFile(config.fileName(), text);
    return made;
  }
  static QStringList inspected(MainWindow& window) {
    QStringList words;
    for (const Text* text : window.inspectorPage()->findChildren<Text*>()) words += text->text();
    return words;
  }
};

TEST_F(ShownFileTest, AnUnknownGgufIsDrawnByItsTensorsAndNotRun) {
  auto shown = window();
  ASSERT_TRUE(opened(*shown, unknownGguf())) << shown->graphPage()->banner()->body().toStdString();
  const Banner* banner = shown->graphPage()->banner();
  EXPECT_EQ(banner->title(), "zamba can be looked at, not run");
  EXPECT_TRUE(banner->body().startsWith("The architecture \"zamba\" is not known"))
      << banner->body().toStdString();
  EXPECT_EQ(shown->status()->facts().state, "To look at, not to run");
  EXPECT_FALSE(shown->chatPage()->input()->isEnabled());
  EXPECT_FALSE(shown->action("Run")->isEnabled());

  shown->graphPage()->showTab(false);
  ASSERT_TRUE(shown->graphPage()->modelView()->waitForLayout());
  shown->graphPage()->view()->expandAll();
  ASSERT_TRUE(shown->graphPage()->modelView()->waitForLayout());
  const graph::GraphVersion graph = shown->session()->session()->model_graph();
  const NodeId tensor = graph->find_path("blk.0.ffn_up.weight");
  ASSERT_TRUE(tensor.valid());
  ASSERT_TRUE(shown->outlinePanel()->model()->indexOf(tensor).isValid());
  shown->outlinePanel()->tree()->setCurrentIndex(shown->outlinePanel()->model()->indexOf(tensor));
  ASSERT_TRUE(waitUntil([&] { return inspected(*shown).contains("blk.0.ffn_up.weight"); }));
  EXPECT_TRUE(inspected(*shown).contains("[2, 64]"));
  EXPECT_TRUE(inspected(*shown).contains("Q4_1"));
  EXPECT_TRUE(inspected(*shown).contains("80 B"));
  waitUntil([] { return false; }, 300);
  takePicture(*shown, "unknown-architecture-dark");
}

TEST_F(ShownFileTest, AnUnknownFolderIsDrawnToo) {
  auto shown = window();
  ASSERT_TRUE(opened(*shown, unknownFolder())) << shown->graphPage()->banner()->body().toStdString();
  EXPECT_TRUE(shown->graphPage()->banner()->body().contains("\"zamba2\" is not known"));
  EXPECT_EQ(shown->session()->session()->model_graph()->order().size(), 4U);
  shown->session()->undo();  // nothing to undo: nothing happens
  shown->applyEdit("bypass", "layer");
  ASSERT_TRUE(waitUntil([&] {
    return shown->graphPage()->banner()->body().startsWith("This file can be looked at, not run");
  }));
}

TEST_F(ShownFileTest, AFileThatCannotEvenBeReadIsRefused) {
  auto shown = window();
  EXPECT_FALSE(opened(*shown, writeFile(path("text.gguf"), "this is no model")));
  EXPECT_EQ(shown->graphPage()->banner()->title(), "Could not open text.gguf");
}

}  // namespace
}  // namespace orrery::ui::testing
