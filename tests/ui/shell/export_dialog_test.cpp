// The edited model, exported from the window by the real engine.
#include <QTest>
#include <chrono>
#include <thread>

#include "engine/api/metadata.h"
#include "engine/api/shown_session.h"
#include "support/real_services.h"
#include "support/window_fixture.h"
#include "ui/exporter/export_dialog.h"
#include "ui/theme/format.h"

namespace orrery::ui::testing {
namespace {

class ExportDialogTest : public WindowTest {
 protected:
  static Services services() {
    Services services = realServices();
    services.open = api::open_or_show;
    services.listModels = [](const auto&) { return std::vector<api::LibraryEntry>(); };
    return services;
  }
  /// A tiny model of three layers, said to have no vocabulary.
  QString model(const char* key = "tokenizer.ggml.model", const char* value = "no_vocab") {
    const QString made = path("model.gguf");
    QFile::remove(made);
    const MetadataEdit edit{MetadataEdit::Action::set, key, value};
    const auto saved = api::save_metadata(ORRERY_TEST_DATA "/models/llama/model.gguf", std::span(&edit, 1),
                                          made.toStdString(), {}, {});
    EXPECT_TRUE(saved.ok()) << saved.error().to_string();
    return made;
  }
  void open(ThemeChoice theme, const Services& services) {
    window_ = makeWindow(services, theme);
    ASSERT_TRUE(opened(*window_, model())) << window_->graphPage()->banner()->body().toStdString();
  }
  void edit(const QStringList& words) {
    for (const QString& text : words) window_->session()->apply(*edit::parse_edit(text.toStdString()));
    ASSERT_TRUE(
        waitUntil([&] { return window_->session()->recipe().size() == static_cast<size_t>(words.size()); }));
  }
  ExportDialog* dialog() {
    window_->action("model.export")->trigger();
    auto* dialog = window_->findChild<ExportDialog*>();
    EXPECT_TRUE(dialog && planned(*dialog));
    return dialog;
  }
  static bool planned(const ExportDialog& dialog) {
    return waitUntil([&] { return !dialog.planning(); });
  }
  /// "cannot be written: layers.1.squashed: It is tanh, ..."
  static QStringList rows(const ExportDialog& dialog) {
    QStringList told;
    for (int row = 0; row < dialog.rows()->rowCount(); ++row) {
      QStringList cells;
      for (int column = 0; column < 3; ++column) cells += dialog.rows()->index(row, column).data().toString();
      told += cells.join(": ");
    }
    return told;
  }
  static int64_t layersOf(const QString& file) {
    const auto info = api::inspect(file.toStdString(), "", 0, "f16");
    EXPECT_TRUE(info.ok()) << info.error().to_string();
    return info.ok() ? info->layers : 0;
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(ExportDialogTest, TheEditedModelBecomesAFileThatOpens) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::dark, services()));
  ASSERT_NO_FATAL_FAILURE(
      edit({"repeat scope=layers.1 times=3", "delete scope=layers.0",
            "scale node=layers.2.mlp.down_proj factor=0.5", "precision scope=layers.2 dtype=bf16"}));
  ExportDialog* shown = dialog();
  EXPECT_EQ(rows(*shown).filter("cannot be written").size(), 0);
  EXPECT_EQ(rows(*shown).filter("left out: : the precisions").size(), 1);
  EXPECT_EQ(rows(*shown).filter("tensor: blk.3.ffn_down.weight: with what was folded in").size(), 1);
  EXPECT_TRUE(shown->summary().startsWith("GGUF of llama, ")) << shown->summary().toStdString();
  takePicture(*shown, "export-dark");

  const QString out = path("edited.gguf");
  shown->writeTo(out);
  EXPECT_FALSE(shown->exportButton()->isEnabled());
  ASSERT_TRUE(waitUntil([&] { return !shown->writing(); }));
  const QString bytes = format::bytes(static_cast<double>(QFileInfo(out).size()));
  EXPECT_EQ(shown->banner()->title(), "Exported " + out + ", " + bytes);
  EXPECT_EQ(layersOf(path("model.gguf")), 3);
  EXPECT_EQ(layersOf(out), 4);
  EXPECT_EQ(window_->settings().recent.first(), out);
}

TEST_F(ExportDialogTest, WhatTheFileCannotSayIsToldBeforeAnythingIsWritten) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::light, services()));
  ASSERT_NO_FATAL_FAILURE(
      edit({"probe as=seen value=layers.0.mlp.residual:dst", "attention scope=layers.1 kind=fastmax p=2",
            "insert op=tanh as=layers.2.squashed after=layers.2.mlp.residual:dst"}));
  ExportDialog* shown = dialog();
  EXPECT_EQ(rows(*shown).filter("cannot be written: layers.2.squashed: It is tanh").size(), 1)
      << rows(*shown).join("\n").toStdString();
  EXPECT_EQ(rows(*shown).filter("cannot be written: layers.1.attention").size(), 1);
  EXPECT_FALSE(shown->exportButton()->isEnabled());
  EXPECT_TRUE(shown->summary().contains("undo the edit"));
  takePicture(*shown, "export-light");
  window_->session()->undo();
  EXPECT_TRUE(waitUntil([&] { return rows(*shown).filter("squashed").isEmpty(); }));
  EXPECT_EQ(rows(*shown).filter("cannot be written: layers.1.attention").size(), 1)
      << rows(*shown).join("\n").toStdString();
  window_->session()->undo();
  EXPECT_TRUE(waitUntil([&] { return shown->exportButton()->isEnabled(); }));
  EXPECT_EQ(rows(*shown), QStringList{"left out: : probes"});
}

TEST_F(ExportDialogTest, AStopLeavesNothingAndTheWindowWaitsForIt) {
  Services slow = services();
  slow.exports.write = [](const api::Session&, const std::string&, const api::ExportOptions&,
                          const ProgressCallback& progress,
                          std::stop_token stop) -> Result<api::ExportReport> {
    progress("Writing edited.gguf", 1, 4);
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Error{ErrorCode::cancelled, "Stopped", "", ""};
  };
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::dark, slow));
  ExportDialog* shown = dialog();
  shown->writeTo(path("edited.gguf"));
  ASSERT_TRUE(waitUntil([&] { return shown->progress()->isVisible(); }));
  takePicture(*shown, "export-writing");
  EXPECT_FALSE(window_->close()) << "a file is being written";
  EXPECT_EQ(shown->banner()->title(), "The new file is being written");
  EXPECT_EQ(window_->exportModel(), shown);
  for (Button* button : shown->progress()->findChildren<Button*>()) button->click();
  ASSERT_TRUE(waitUntil([&] { return !shown->writing(); }));
  EXPECT_EQ(shown->banner()->title(), "Nothing was written");
  EXPECT_TRUE(shown->exportButton()->isEnabled());
}

TEST_F(ExportDialogTest, WhatFailsIsToldWhereItWasAsked) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::dark, services()));
  ExportDialog* shown = dialog();
  EXPECT_EQ(rows(*shown), QStringList());
  EXPECT_TRUE(shown->summary().endsWith("all as they are, byte for byte")) << shown->summary().toStdString();
  shown->writeTo(path("model.gguf"));
  ASSERT_TRUE(waitUntil([&] { return !shown->writing(); }));
  EXPECT_EQ(shown->banner()->title(), "Could not export model.gguf");
  EXPECT_TRUE(shown->banner()->body().contains("would replace the model"))
      << shown->banner()->body().toStdString();
  shown->writeTo(path("no/edited.gguf"));
  ASSERT_TRUE(waitUntil([&] { return !shown->writing(); }));
  EXPECT_EQ(shown->banner()->title(), "Could not export edited.gguf");
}

TEST_F(ExportDialogTest, IsOfferedForModelsThatRun) {
  window_ = makeWindow(services(), ThemeChoice::dark);
  EXPECT_FALSE(window_->action("model.export")->isEnabled());
  ASSERT_TRUE(opened(*window_, model()));
  EXPECT_TRUE(window_->action("model.export")->isEnabled());
  ASSERT_TRUE(opened(*window_, model("general.architecture", "zamba")));
  EXPECT_FALSE(window_->action("model.export")->isEnabled());
}

}  // namespace
}  // namespace orrery::ui::testing
