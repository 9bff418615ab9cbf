// The recipes of a model in the library, on the real engine: found, checked, applied, shown, compared,
// renamed, deleted and brought back.
#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QTest>
#include <QTimer>

#include "engine/api/metadata.h"
#include "engine/api/recipe_files.h"
#include "engine/api/recipes.h"
#include "support/real_services.h"
#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/library/recipe_dialog.h"

namespace orrery::ui::testing {
namespace {

class LibraryRecipesTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    qputenv("XDG_DATA_HOME", path("data").toUtf8());
    QDir(folder_.path()).mkpath("data/orrery/recipes");
    QDir(folder_.path()).mkpath("models");
    copyModel("tiny");
  }
  void TearDown() override { qunsetenv("XDG_DATA_HOME"); }

  /// Three layers, said to have no vocabulary.
  void copyModel(const QString& name) {
    const MetadataEdit edit{MetadataEdit::Action::set, "tokenizer.ggml.model", "no_vocab"};
    const auto saved = api::save_metadata(ORRERY_TEST_DATA "/models/llama/model.gguf", std::span(&edit, 1),
                                          model(name).toStdString(), {}, {});
    ASSERT_TRUE(saved.ok()) << saved.error().to_string();
  }
  QString model(const QString& name = "tiny") const { return path("models/" + name + ".gguf"); }
  QString kept(const QString& name) const { return path("data/orrery/recipes/" + name); }

  void open(ThemeChoice theme = ThemeChoice::dark) {
    Services services = realServices();
    services.recipes.list = api::list_recipes;
    services.recipes.check = api::recipe_misfits;
    services.recipes.folder = api::recipes_folder();
    services.listModels = [models = path("models").toStdString()](const auto&) {
      std::vector<api::LibraryEntry> found;
      for (api::LibraryEntry& entry : api::list_models({models}))
        if (entry.path.starts_with(models)) found.push_back(std::move(entry));
      return found;
    };
    window_ = makeWindow(services, theme);
    ASSERT_TRUE(opened(*window_, model())) << window_->graphPage()->banner()->body().toStdString();
    page_ = window_->libraryPage();
    ASSERT_TRUE(waitUntil([&] { return page_->model()->models().size() > 0; }));
  }
  std::string identity() const { return api::identity_of(window_->session()->session()->info()); }
  static QByteArray text(const QStringList& edits, const std::string& identity = {},
                         const std::string& name = {}) {
    edit::Recipe recipe{{}, name, {}, identity};
    for (const QString& words : edits) recipe.edits.push_back(*edit::parse_edit(words.toStdString()));
    return QByteArray::fromStdString(edit::write_recipe(recipe));
  }
  /// As it is looked at when something in the window was saved.
  void look() { page_->model()->modelsChanged(); }
  QModelIndex row(const QString& file) const { return page_->model()->findRecipe(file); }
  QString state(const QString& file) const { return row(file).data(LibraryModel::stateRole).toString(); }
  bool becomes(const QString& file, const QString& words) const {
    const bool so = waitUntil([&] { return row(file).isValid() && state(file) == words; });
    EXPECT_TRUE(so) << file.toStdString() << " is \"" << state(file).toStdString() << "\"";
    return so;
  }
  static QStringList lines(const RecipeDialog& dialog) {
    QStringList lines;
    for (int at = 0; at < dialog.lines()->rowCount(); ++at)
      lines += dialog.lines()->index(at).data().toString();
    return lines;
  }
  void doubleClick(const QString& file) {
    page_->list()->scrollTo(row(file));
    const QRect rect = page_->list()->visualRect(row(file));
    QTest::mouseClick(page_->list()->viewport(), Qt::LeftButton, {}, rect.center());
    QTest::mouseDClick(page_->list()->viewport(), Qt::LeftButton, {}, rect.center());
  }
  /// The entry of the row's menu.
  void choose(const QString& file, const QString& words) {
    const QPoint at = page_->list()->visualRect(row(file)).center();
    emit page_->list()->customContextMenuRequested(at);
    auto* menu = page_->findChild<QMenu*>();
    ASSERT_NE(menu, nullptr);
    QAction* action = actionOf(menu, words);
    ASSERT_NE(action, nullptr) << words.toStdString();
    EXPECT_TRUE(action->isEnabled());
    action->trigger();
    delete menu;
  }

  std::unique_ptr<MainWindow> window_;
  LibraryPage* page_ = nullptr;
};

TEST_F(LibraryRecipesTest, StandUnderTheirModelAndSayWhetherTheyFit) {
  copyModel("other");
  writeFile(model("other") + ".x", "x");
  open();
  const QString mine =
                    writeFile(kept("mine.json"), text({"bypass scope=layers.1"}, identity(), "Without one")),
                bad = writeFile(kept("bad.json"),
                                text({"bypass scope=layers.1", "bypass scope=layer.2"}, identity())),
                foreign =
                    writeFile(kept("foreign.json"), text({"bypass scope=layers.1"}, "0123456789abcdef")),
                named = writeFile(path("models/tiny.fast.json"),
                                  text({"bypass scope=layers.7"}, "0123456789abcdef")),
                broken = writeFile(path("models/tiny.broken.json"),
                                   R"({"orrery_recipe": 1, "edits": [{"op": "explode"}]})"),
                plain = writeFile(path("models/plain.json"), R"({"x": 1})");
  look();
  ASSERT_TRUE(becomes(mine, "fits"));
  ASSERT_TRUE(becomes(bad, "1 of 2 does not fit"));
  ASSERT_TRUE(becomes(named, "does not fit"));
  ASSERT_TRUE(becomes(broken, "cannot be read"));
  EXPECT_FALSE(row(foreign).isValid()) << "it is another model's";
  EXPECT_FALSE(row(plain).isValid()) << "it is no recipe";
  EXPECT_EQ(row(mine).data().toString(), "Without one");
  EXPECT_EQ(row(bad).data().toString(), "bad");
  EXPECT_EQ(row(bad).data(LibraryModel::detailRole).toString(), "2 edits");
  const QString help = row(bad).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(help.contains("layers.2")) << "the nearest name: " << help.toStdString();
  EXPECT_EQ(row(named).data(LibraryModel::pathRole).toString(), model());
  int of_other = 0;
  for (int at = 0; at < page_->model()->rowCount(); ++at) {
    const QModelIndex index = page_->model()->index(at);
    if (page_->model()->recipe(index) && index.data(LibraryModel::pathRole).toString() == model("other"))
      ++of_other;
  }
  EXPECT_EQ(of_other, 2) << "the same weights: what is kept for one is for the other, what is named is not";
  takePicture(*window_, "library-recipes-dark");
}

TEST_F(LibraryRecipesTest, ADoubleClickStacksARecipeAndItsMenuSwitchesIt) {
  open();
  const QString first = writeFile(kept("first.json"), text({"bypass scope=layers.1"}, identity())),
                second = writeFile(kept("second.json"), text({"bypass scope=layers.2"}, identity()));
  look();
  ASSERT_TRUE(becomes(first, "fits"));
  ASSERT_TRUE(becomes(second, "fits"));
  doubleClick(first);
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.1"}));
  ASSERT_TRUE(becomes(first, "applied"));
  doubleClick(second);
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.1", "bypass scope=layers.2"}));
  ASSERT_TRUE(becomes(second, "applied"));
  choose(first, "Switch off");
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.2"}));
  ASSERT_TRUE(becomes(first, "switched off"));
  choose(first, "Switch on");
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.1", "bypass scope=layers.2"}));
  ASSERT_TRUE(becomes(first, "applied"));
}

TEST_F(LibraryRecipesTest, AModelThatIsNotLoadedIsLoadedWithTheRecipe) {
  copyModel("other");
  open();
  const QString file = writeFile(path("models/other.fast.json"), text({"bypass scope=layers.0"}));
  look();
  ASSERT_TRUE(becomes(file, "fits"));
  choose(file, "Load the model with it");
  ASSERT_TRUE(waitUntil([&] {
    const SessionPtr session = window_->session()->session();
    return session && session->options().model == model("other").toStdString();
  }));
  EXPECT_TRUE(recipeIs(*window_, {"bypass scope=layers.0"}));
  EXPECT_TRUE(becomes(file, "applied"));
}

TEST_F(LibraryRecipesTest, IsShownAndComparedWithWhatIsApplied) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    open(theme);
    const QString file =
        writeFile(kept("three.json"),
                  text({"bypass scope=layers.1", "repeat scope=layers.0 times=2", "bypass scope=layers.77"},
                       identity()));
    look();
    ASSERT_TRUE(becomes(file, "1 of 3 does not fit"));
    window_->session()->apply({"bypass", {{"scope", "layers.1"}}});
    window_->session()->apply({"bypass", {{"scope", "layers.2"}}});
    ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.1", "bypass scope=layers.2"}));
    RecipeDialog* dialog = page_->showRecipe(row(file), RecipeDialog::View::edits);
    const QStringList edits = lines(*dialog);
    ASSERT_EQ(edits.size(), 4) << edits.join("\n").toStdString();
    EXPECT_EQ(edits[0], "1   Bypass layers.1");
    EXPECT_EQ(edits[1], "2   Repeat layers.0, times 2");
    EXPECT_EQ(edits[2], "3   Bypass layers.77");
    EXPECT_TRUE(edits[3].contains("layers.77")) << edits[3].toStdString();
    EXPECT_FALSE(dialog->applyButton()->isEnabled()) << "all of it or nothing";
    EXPECT_TRUE(dialog->verdict().startsWith("1 of 3 edits does not fit")) << dialog->verdict().toStdString();
    takePicture(*dialog, theme == ThemeChoice::dark ? "recipe-dark" : "recipe-light");
    dialog->setView(RecipeDialog::View::difference);
    EXPECT_EQ(lines(*dialog),
              QStringList({"-   Bypass layers.2", "+   Repeat layers.0, times 2", "+   Bypass layers.77"}));
    takePicture(*dialog, theme == ThemeChoice::dark ? "recipe-difference-dark" : "recipe-difference-light");
    takePicture(*window_, theme == ThemeChoice::dark ? "library-recipe-dark" : "library-recipe-light");
    dialog->close();
    quit(*window_);
  }
}

TEST_F(LibraryRecipesTest, IsRenamedInItsRow) {
  open();
  const QString file = writeFile(kept("one.json"), text({"bypass scope=layers.1"}, identity()));
  look();
  ASSERT_TRUE(becomes(file, "fits"));
  page_->list()->setFocus();
  page_->list()->setCurrentIndex(row(file));
  choose(file, "Rename");
  auto* field = page_->list()->viewport()->findChild<QLineEdit*>();
  ASSERT_NE(field, nullptr);
  field->setText("Half the layers");
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(waitUntil([&] { return row(file).data().toString() == "Half the layers"; }));
  QFile saved(file);
  ASSERT_TRUE(saved.open(QIODevice::ReadOnly));
  const auto recipe = edit::parse_recipe(saved.readAll().toStdString());
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(recipe->name, "Half the layers");
  EXPECT_EQ(recipe->edits.size(), 1U);
  EXPECT_EQ(recipe->model, identity());
}

TEST_F(LibraryRecipesTest, IsDeletedByItsKeyAndBroughtBack) {
  open();
  const QByteArray before = text({"bypass scope=layers.1"}, identity(), "Once") + "\n\n";
  const QString file = writeFile(kept("one.json"), before);
  look();
  ASSERT_TRUE(becomes(file, "fits"));
  page_->list()->setFocus();
  page_->list()->setCurrentIndex(row(file));
  QTest::keyClick(page_->list(), Qt::Key_Delete);
  EXPECT_FALSE(QFile::exists(file));
  ASSERT_TRUE(waitUntil([&] { return !row(file).isValid(); }));
  EXPECT_EQ(page_->banner()->title(), "Deleted Once");
  takePicture(*window_, "library-recipe-deleted");
  ASSERT_TRUE(press(page_->banner(), "Undo"));
  ASSERT_TRUE(becomes(file, "fits"));
  QFile back(file);
  ASSERT_TRUE(back.open(QIODevice::ReadOnly));
  EXPECT_EQ(back.readAll(), before) << "as it was, to the byte";
  EXPECT_TRUE(window_->session()->recipe().empty()) << "the key was the list's, not the graph's";
}

TEST_F(LibraryRecipesTest, WhatIsSavedIsProposedWhereItIsListed) {
  open();
  window_->session()->apply({"bypass", {{"scope", "layers.1"}}});
  ASSERT_TRUE(recipeIs(*window_, {"bypass scope=layers.1"}));
  for (const char* name : {"tiny.recipe.json", "tiny-2.recipe.json"}) {
    QTimer::singleShot(0, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      EXPECT_EQ(dialog->findChild<QLineEdit*>()->text(), name);
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
    window_->action("recipe.save")->trigger();
    ASSERT_TRUE(becomes(path("models/") + name, "fits"));
  }
}

TEST_F(LibraryRecipesTest, ARecipeOfAnotherModelSaysSo) {
  open();
  const QString file = writeFile(path("foreign.json"), text({"bypass scope=layer.1"}, "0123456789abcdef"));
  window_->openPaths({file});
  const Banner* banner = window_->graphPage()->banner();
  ASSERT_TRUE(waitUntil([&] { return banner->isVisible() && banner->kind() == Banner::Kind::error; }));
  EXPECT_TRUE(banner->body().contains("The recipe was made on another model"))
      << banner->body().toStdString();
  EXPECT_TRUE(banner->body().contains("layers.1")) << "the nearest name: " << banner->body().toStdString();
}

TEST_F(LibraryRecipesTest, FilesOfARecipeAreNamedFromItsFolder) {
  QDir(folder_.path()).mkpath("models/v");
  open();
  const QString file =
      writeFile(path("models/v/steer.json"), text({"steer scope=layers.1 file=none.npy strength=1"}));
  window_->openPaths({file});
  const Banner* banner = window_->graphPage()->banner();
  ASSERT_TRUE(waitUntil([&] { return banner->isVisible() && banner->kind() == Banner::Kind::error; }));
  EXPECT_TRUE(banner->body().contains(path("models/v/none.npy"))) << banner->body().toStdString();
}

}  // namespace
}  // namespace orrery::ui::testing
