#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "engine/edit/recipe_file.h"

namespace orrery::edit {
namespace {

using ::testing::HasSubstr;

TEST(ParseEdit, WordsAndQuotes) {
  auto edit = parse_edit("  bypass   scope=layers.3 ");
  ASSERT_TRUE(edit.ok()) << edit.error().to_string();
  EXPECT_EQ(edit->op, "bypass");
  EXPECT_EQ(edit->fields.at("scope"), "layers.3");
  EXPECT_EQ(edit->to_string(), "bypass scope=layers.3");
  auto quoted = parse_edit(R"(bypass scope="a \"b\" c\\d")");
  ASSERT_TRUE(quoted.ok()) << quoted.error().to_string();
  EXPECT_EQ(quoted->fields.at("scope"), R"(a "b" c\d)");
  EXPECT_EQ(parse_edit(quoted->to_string())->fields, quoted->fields);
  auto object = parse_edit(R"(insert op=add as=b inputs={"b": "x:dst", "c": {"}": 1}} after=a:dst)");
  ASSERT_TRUE(object.ok()) << object.error().to_string();
  EXPECT_EQ(object->fields.at("inputs"), R"({"b": "x:dst", "c": {"}": 1}})");
  EXPECT_EQ(object->fields.at("after"), "a:dst");
  EXPECT_EQ(parse_edit(object->to_string())->fields, object->fields);
  for (const char* space : {" ", "\t", "\n", "\r"}) {
    const Edit edit{"bypass", {{"scope", std::string("a") + space + "b"}}};
    EXPECT_EQ(parse_edit(edit.to_string())->fields, edit.fields) << int{*space};
  }
}

TEST(ParseEdit, RefusesWithTheWords) {
  const std::pair<std::string, const char*> cases[] = {{"", "empty"},
                                                       {"   ", "empty"},
                                                       {"bypass", "scope is missing"},
                                                       {"bypass scope=", "scope is missing"},
                                                       {"bypass layers.3", "FIELD=VALUE"},
                                                       {"bypass =3", "FIELD=VALUE"},
                                                       {"bypass scope=a scope=b", "twice"},
                                                       {"bypass scope=a extra=1", "extra"},
                                                       {"place scope=a", "device is missing"},
                                                       {"explode scope=a", "bypass, delete"},
                                                       {"bypass scope=\"a", "not closed"},
                                                       {"insert op=a as=b inputs={\"a\": {}", "not closed"},
                                                       {std::string(100'000, 'x'), "too long"}};
  for (const auto& [words, part] : cases) {
    SCOPED_TRACE(words.substr(0, 40));
    auto edit = parse_edit(words);
    ASSERT_FALSE(edit.ok());
    EXPECT_EQ(edit.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(edit.error().to_string(), HasSubstr(part));
    EXPECT_FALSE(edit.error().advice.empty());
  }
}

TEST(Recipe, WritesWhatItReads) {
  std::vector<Edit> edits;
  for (int i = 0; i < 12; ++i) edits.push_back({"bypass", {{"scope", "layers." + std::to_string(i)}}});
  edits.push_back({"place", {{"scope", "layers.2-3"}, {"device", "cuda:0"}}});
  edits.push_back({"bypass", {{"scope", "quote \" and \xC3\xA9"}}});
  const std::string text = write_recipe({edits});
  auto read = parse_recipe(text);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->edits, edits);
  EXPECT_EQ(read->name + read->notes + read->model, "");
  EXPECT_EQ(write_recipe(*read), text);
  auto none = parse_recipe(write_recipe({}));
  ASSERT_TRUE(none.ok()) << none.error().to_string();
  EXPECT_TRUE(none->edits.empty());
}

TEST(Recipe, SaysWhatItIsCalledAndOfWhichModelItIs) {
  const Recipe recipe{{{"bypass", {{"scope", "layers.3"}}}}, "Shallow", "drops a layer", "0123456789abcdef"};
  const auto read = parse_recipe(write_recipe(recipe));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->name, "Shallow");
  EXPECT_EQ(read->notes, "drops a layer");
  EXPECT_EQ(read->model, "0123456789abcdef");
  EXPECT_EQ(read->edits, recipe.edits);
}

TEST(Recipe, FieldsThatAreObjectsAreWrittenAsObjects) {
  const Edit insert{"insert",
                    {{"op", "scale"},
                     {"as", "x"},
                     {"after", "a:dst"},
                     {"attributes", R"({"factor": 0.5, "flags": [1, 2]})"},
                     {"inputs", R"({"b": "c:dst"})"}}};
  const std::string text = write_recipe({{insert}});
  EXPECT_THAT(text, HasSubstr("\"factor\": 0.5"));
  EXPECT_THAT(text, HasSubstr("\"new_op\": \"scale\"")) << "op is the verb";
  const auto read = parse_recipe(text);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->edits[0].fields.at("attributes"), R"({"factor":0.5,"flags":[1,2]})");
  EXPECT_EQ(write_recipe(*read), text);
  EXPECT_EQ(read->edits[0].fields.at("op"), "scale");
  const auto by_hand = parse_recipe(
      R"({"orrery_recipe":1,"edits":[{"op":"insert","new_op":"concat","as":"x","inputs":{"parts":["a:b","c:d"]}}]})");
  ASSERT_TRUE(by_hand.ok()) << by_hand.error().to_string();
  EXPECT_EQ(by_hand->edits[0].fields.at("inputs"), R"({"parts":["a:b","c:d"]})");
}

TEST(Recipe, InvalidUtf8IsReplacedNotThrown) {
  EXPECT_THAT(write_recipe({{{"bypass", {{"scope", "a\xff"}}}}}), HasSubstr("a\xEF\xBF\xBD"));
}

TEST(Recipe, RefusesWhatIsNoRecipe) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "JSON"},
      {"[]", "root"},
      {"{}", "orrery_recipe is missing"},
      {R"({"orrery_recipe":"1","edits":[]})", "orrery_recipe is missing"},
      {R"({"orrery_recipe":2,"edits":[]})", "version 2"},
      {R"({"orrery_recipe":1})", "no edits"},
      {R"({"orrery_recipe":1,"edits":3})", "array of objects"},
      {R"({"orrery_recipe":1,"edits":[],"name":3})", "name is no text"},
      {R"({"orrery_recipe":1,"edits":["bypass"]})", "array of objects"},
      {R"({"orrery_recipe":1,"edits":[[1]]})", "array of objects"},
      {R"({"orrery_recipe":1,"edits":[{"op":"bypass","scope":"a"}],"eddits":1})", "eddits"},
      {R"({"orrery_recipe":1,"edits":[{"op":"bypass","scope":"a"},{"op":"explode"}]})", "edit 2"},
      {R"({"orrery_recipe":1,"edits":[{"scope":"a"}]})", "edit 1"},
      {R"({"orrery_recipe":1,"edits":[{},{"op":"bypass","scope":"a"}]})", "Edit 1 is empty"},
      {R"({"orrery_recipe":1,"edits":[{"op":"bypass","scope":"a","op":"bypass"}]})", "twice"},
      {R"({"orrery_recipe":1,"edits":[{"op":"bypass","scope":{"a":1}}]})", "scope is missing"},
      {R"({"orrery_recipe":1,"edits":)" + std::string(100'000, '['), "levels"},
      {std::string(2'000'000, ' '), "larger"}};
  for (const auto& [json, part] : cases) {
    SCOPED_TRACE(json.substr(0, 80));
    auto recipe = parse_recipe(json);
    ASSERT_FALSE(recipe.ok());
    EXPECT_THAT(recipe.error().to_string(), HasSubstr(part));
  }
}

class RecipeFile : public ::testing::Test {
 protected:
  RecipeFile() : folder_(std::filesystem::temp_directory_path() / fmt::format("recipes.{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~RecipeFile() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(RecipeFile, IsReadWithItsFilesAndKeepsThemWhenItIsRenamed) {
  const auto path = folder_ / "r.json";
  const Recipe recipe{{{"adapter", {{"dir", "lora"}}}}, "", "notes", "0123"};
  ASSERT_TRUE(save_recipe(recipe, path).ok());
  const auto read = read_recipe(path);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->edits[0].fields.at("dir"), (folder_ / "lora").string());
  ASSERT_TRUE(rename_recipe(path, "of its own").ok());
  std::ifstream file(path);
  const auto kept = parse_recipe(std::string(std::istreambuf_iterator<char>(file), {}));
  ASSERT_TRUE(kept.ok()) << kept.error().to_string();
  EXPECT_EQ(kept->name, "of its own");
  EXPECT_EQ(kept->notes, "notes");
  EXPECT_EQ(kept->model, "0123");
  EXPECT_EQ(kept->edits[0].fields.at("dir"), "lora") << "as it was written";
}

TEST_F(RecipeFile, IsRefusedWithTheReason) {
  EXPECT_THAT(read_recipe(folder_ / "none.json").error().to_string(), HasSubstr("cannot be read"));
  std::ofstream(folder_ / "large.json") << std::string(kLargestRecipe + 10, ' ');
  EXPECT_THAT(read_recipe(folder_ / "large.json").error().to_string(), HasSubstr("larger than 1 MB"));
  EXPECT_FALSE(save_recipe({}, folder_ / "no" / "such" / "r.json").ok());
  EXPECT_FALSE(rename_recipe(folder_ / "none.json", "x").ok());
}

TEST(RecipeDifferenceTest, CountsWhatIsThereTwice) {
  const Edit a{"bypass", {{"scope", "a"}}}, b{"bypass", {{"scope", "b"}}};
  const RecipeDifference told = difference({a, a, b}, {b, a});
  EXPECT_EQ(told.removed, std::vector<Edit>{a});
  EXPECT_TRUE(told.added.empty());
  EXPECT_FALSE(told.reordered);
  EXPECT_TRUE(difference({a, b}, {b, a}).reordered);
  EXPECT_FALSE(difference({a, b}, {a, b}).reordered);
  EXPECT_EQ(difference({}, {a}).added, std::vector<Edit>{a});
}

}  // namespace
}  // namespace orrery::edit
