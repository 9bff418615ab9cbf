// Recipes in the library: below their model, made and left out by Enter, foretold when they are chosen, shown
// beside what is made, renamed and thrown away.
#include <QDir>
#include <QLineEdit>
#include <QTest>

#include "support/window_fixture.h"
#include "ui/library/recipe_view.h"

namespace orrery::ui::testing {
namespace {

class LibraryRecipesTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    save("two.recipe.json",
         R"({"orrery_recipe": 1, "name": "Two layers less",
             "edits": [{"op": "bypass", "scope": "layers.1"}, {"op": "bypass", "scope": "layers.2"}]})");
    save("third.recipe.json", R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.3"}]})");
    Services services = engine_.services();
    services.listModels = [folder = path({}) + '/'](const std::vector<std::string>&) {
      api::LibraryEntry chat{"chat", (folder + "chat.gguf").toStdString(), "", "GGUF", "llama", "Q4_1", 1, 1};
      for (const QString& file : QDir(folder).entryList({"*.recipe.json"}, QDir::Files, QDir::Name)) {
        const std::string place = (folder + file).toStdString();
        const auto recipe = edit::read_recipe(place);
        if (recipe.ok())
          chat.recipes.push_back({recipe->name.empty() ? "third" : recipe->name, place, recipe->edits});
      }
      return std::vector<api::LibraryEntry>{
          chat, {"other", "/models/other.gguf", "", "GGUF", "llama", "Q4_1", 1, 1, chat.recipes}};
    };
    window_ = makeWindow(services, ThemeChoice::dark);
    ASSERT_TRUE(opened(*window_, "chat"));
    ASSERT_TRUE(waitUntil([&] { return library()->model()->rowCount() == 6; }));
  }
  void save(const QString& name, const QByteArray& text) const { writeFile(path(name), text); }
  LibraryPage* library() const { return window_->libraryPage(); }
  QModelIndex row(const QString& name, const QString& model = "chat") const {
    QString above;
    for (int i = 0; i < library()->model()->rowCount(); ++i) {
      const QModelIndex index = library()->model()->index(i);
      if (!library()->model()->recipeAt(index)) above = index.data(LibraryModel::nameRole).toString();
      if (index.data(LibraryModel::nameRole) == name && above == model) return index;
    }
    return {};
  }
  bool made(const QString& name) const { return row(name).data(LibraryModel::madeRole).toBool(); }
  void choose(const QModelIndex& index, Qt::Key key) const {
    library()->list()->setFocus();
    library()->list()->setCurrentIndex(index);
    QTest::keyClick(library()->list(), key);
  }
  bool hasEdits(size_t count) const {
    return waitUntil([&] { return window_->session()->recipe().size() == count; });
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(LibraryRecipesTest, StandBelowTheirModel) {
  EXPECT_EQ(library()->model()->modelCount(), 2);
  EXPECT_EQ(row("Two layers less").data(LibraryModel::detailRole), "2 edits");
  EXPECT_EQ(row("third").data(LibraryModel::detailRole), "1 edit");
  EXPECT_FALSE(library()->model()->recipeAt(row("chat")));
  takePicture(*window_, "library-recipes-dark");
}

TEST_F(LibraryRecipesTest, EnterMakesThemAndLeavesThemOut) {
  choose(row("Two layers less"), Qt::Key_Return);
  ASSERT_TRUE(hasEdits(2));
  EXPECT_TRUE(waitUntil([&] { return made("Two layers less"); }));
  EXPECT_FALSE(made("third"));
  choose(row("third"), Qt::Key_Return);
  ASSERT_TRUE(hasEdits(3)) << "stacked";
  EXPECT_TRUE(waitUntil([&] { return made("third"); }));
  takePicture(*window_, "library-recipes-made-dark");
  choose(row("Two layers less"), Qt::Key_Return);
  ASSERT_TRUE(hasEdits(1));
  EXPECT_TRUE(waitUntil([&] { return !made("Two layers less"); }));
  EXPECT_TRUE(made("third"));
}

TEST_F(LibraryRecipesTest, OfAnotherModelOpenIt) {
  choose(row("third", "other"), Qt::Key_Return);
  EXPECT_TRUE(waitUntil([&] {
    return window_->session()->session() &&
           window_->session()->session()->options().model == "/models/other.gguf";
  }));
  EXPECT_TRUE(window_->session()->session()->options().recipe.ends_with("third.recipe.json"));
}

TEST_F(LibraryRecipesTest, AreForetoldWhenTheyAreChosen) {
  std::vector<edit::Edit> considered;
  QObject::connect(library(), &LibraryPage::considered, library(),
                   [&](const std::vector<edit::Edit>& edits) { considered = edits; });
  library()->list()->setCurrentIndex(row("Two layers less"));
  EXPECT_EQ(considered.size(), 2U);
  library()->list()->setCurrentIndex(row("chat"));
  EXPECT_TRUE(considered.empty());
  library()->list()->setCurrentIndex(row("third", "other"));
  EXPECT_TRUE(considered.empty()) << "of a model that is not open";
}

TEST_F(LibraryRecipesTest, AreShownBesideWhatIsMade) {
  choose(row("third"), Qt::Key_Return);
  ASSERT_TRUE(hasEdits(1));
  RecipeView view(Theme{}, window_.get());
  view.RecipeView::show(*library()->model()->recipeAt(row("Two layers less")), window_->session()->recipe());
  EXPECT_EQ(view.words(),
            "+  bypass scope=layers.1\n+  bypass scope=layers.2\n\u2212  bypass scope=layers.3\n");
  takePicture(view, "recipe-view-dark");
}

TEST_F(LibraryRecipesTest, AreRenamedInPlace) {
  choose(row("third"), Qt::Key_F2);
  auto* field = library()->list()->findChild<QLineEdit*>();
  ASSERT_TRUE(field);
  field->setText("Without the third");
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_TRUE(waitUntil([&] { return row("Without the third").isValid(); }));
  const auto kept = edit::read_recipe(path("third.recipe.json").toStdString());
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->name, "Without the third");
  EXPECT_EQ(kept->edits.size(), 1U);
}

TEST_F(LibraryRecipesTest, AFileThatWasSavedIsListed) {
  save("more.recipe.json",
       R"({"orrery_recipe": 1, "name": "More", "edits": [{"op": "bypass", "scope": "layers.1"}]})");
  EXPECT_FALSE(row("More").isValid());
  emit window_->work().recipesChanged();
  EXPECT_TRUE(waitUntil([&] { return row("More").isValid(); }));
}

}  // namespace
}  // namespace orrery::ui::testing
