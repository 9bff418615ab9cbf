// Which recipes are a model's, below a home of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "engine/api/inspect.h"
#include "engine/api/recipe_files.h"
#include "engine/api/recipes.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecipeFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "orrery_recipes_XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    home_ = pattern;
    ::setenv("HOME", home_.c_str(), 1);
    ::unsetenv("XDG_DATA_HOME");
    fs::create_directories(home_ / "m");
    fs::copy(fs::path(ORRERY_TEST_DATA) / "models/llama/model.gguf", model());
  }
  void TearDown() override { fs::remove_all(home_); }

  fs::path model() const { return home_ / "m/tiny.gguf"; }
  fs::path kept(const std::string& name) const { return fs::path(recipes_folder()) / name; }
  std::string identity() const {
    const auto info = inspect(model().string(), "", 0, "f16");
    EXPECT_TRUE(info.ok()) << info.error().to_string();
    return identity_of(*info);
  }
  static fs::path write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static fs::path recipe(const fs::path& path, const std::string& model,
                         const std::string& edit = "bypass scope=layers.1") {
    return write(path, edit::write_recipe({{*edit::parse_edit(edit)}, "", "", model}));
  }
  std::vector<std::string> listed(const fs::path& model) const {
    std::vector<std::string> names;
    for (const RecipeFile& file : list_recipes(model.string(), ""))
      names.push_back(fs::path(file.path).filename().string());
    return names;
  }
  fs::path home_;
};

TEST_F(RecipeFiles, OfOneModelAreFoundByIdentityByNameAndByPlace) {
  recipe(home_ / "m/beside.json", "");
  recipe(home_ / "m/mine.json", identity());
  recipe(home_ / "m/other.json", "0123456789abcdef");
  recipe(home_ / "m/tiny.named.json", "0123456789abcdef");
  recipe(kept("kept.json"), identity());
  recipe(kept("unsaid.json"), "");
  recipe(home_ / "m/neighbour-fast.json", "");
  write(home_ / "m/neighbour.gguf", "");
  write(home_ / "m/settings.json", "{}");
  EXPECT_THAT(listed(model()), ElementsAre("kept.json", "beside.json", "mine.json", "tiny.named.json"));
}

TEST_F(RecipeFiles, OfAFolderLieInItOrAreNamedAfterIt) {
  fs::copy(fs::path(ORRERY_TEST_DATA) / "io/tiny_hf", home_ / "hf", fs::copy_options::recursive);
  recipe(home_ / "hf/inside.json", "");
  recipe(home_ / "hf.recipe.json", "");
  recipe(home_ / "else.json", "");
  EXPECT_THAT(listed(home_ / "hf"), ElementsAre("hf.recipe.json", "inside.json"));
}

TEST_F(RecipeFiles, NameTheirFilesFromTheirFolder) {
  recipe(kept("tiny.steer.json"), "", "steer scope=layers.1 file=v.npy strength=1");
  const auto found = list_recipes(model().string(), "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].recipe.edits[0].fields.at("file"), kept("v.npy").string());
}

TEST_F(RecipeFiles, ThatCannotBeReadSayWhy) {
  write(home_ / "m/broken.json", R"({"orrery_recipe": 1, "edits": [{"op": "explode"}]})");
  const auto found = list_recipes(model().string(), "");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_TRUE(found[0].problem);
  EXPECT_NE(found[0].problem->to_string().find("explode"), std::string::npos);
}

TEST_F(RecipeFiles, AreCheckedOnTheHeadersAlone) {
  const auto edits = [](std::vector<std::string> words) {
    std::vector<edit::Edit> edits;
    for (const std::string& one : words) edits.push_back(*edit::parse_edit(one));
    return edits;
  };
  const auto misfits =
      recipe_misfits(model().string(), "",
                     edits({"bypass scope=layers.1", "bypass scope=layer.2", "bypass scope=layers.0"}));
  ASSERT_TRUE(misfits.ok()) << misfits.error().to_string();
  ASSERT_EQ(misfits->size(), 1U);
  EXPECT_EQ(misfits->front().index, 1U);
  EXPECT_NE(misfits->front().error.to_string().find("layers.2"), std::string::npos) << "the nearest name";
  EXPECT_FALSE(recipe_misfits("/no/such.gguf", "", {}).ok());
  EXPECT_THAT(listed("/no/such.gguf"), IsEmpty());
}

TEST(RecipeDiff, CountsEditsThatAreThereTwiceTwice) {
  const edit::Edit one{"bypass", {{"scope", "layers.1"}}}, two{"bypass", {{"scope", "layers.2"}}};
  EXPECT_TRUE(diff_recipes({one, two}, {one, two}).same());
  EXPECT_TRUE(diff_recipes({one, two}, {two, one}).reordered);
  const RecipeDiff diff = diff_recipes({one, one}, {two, one});
  EXPECT_THAT(diff.removed, ElementsAre(one));
  EXPECT_THAT(diff.added, ElementsAre(two));
  EXPECT_FALSE(diff.reordered);
}

}  // namespace
}  // namespace orrery::api
