// Graphs of one's own from files and to files, constants and single ops.
#include <filesystem>
#include <fstream>

#include "engine/api/own_op.h"
#include "engine/api/shown_session.h"
#include "tests/engine/api/arrays.h"
#include "tests/engine/own/own_graphs.h"

namespace orrery::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OwnFile : public testing::Test {
 protected:
  OwnFile() : folder_(std::filesystem::path(testing::TempDir()) / "orrery_own_file") {
    std::filesystem::create_directories(folder_ / "arrays");
  }
  ~OwnFile() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string write(const std::string& name, const Array& array) const {
    EXPECT_TRUE(write_array((folder_ / name).string(), array).ok());
    return (folder_ / name).string();
  }
  static OpenOptions options(const std::string& path = {}) {
    OpenOptions options;
    options.model = path;
    options.precision = "exact";
    options.threads = 1;
    return options;
  }
  static std::shared_ptr<Session> open(const std::string& path) {
    auto session = open_graph_file(options(path));
    EXPECT_TRUE(session.ok()) << (session.ok() ? "" : session.error().to_string());
    return session.ok() ? session.value() : nullptr;
  }
  static std::vector<float> run(Session& session, const Array& x) {
    const auto ran = run_graph(session, {{{"x", x}}}, {});
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
    return ran.ok() ? values(ran->outputs.at(0).array) : std::vector<float>();
  }
  /// x [n, 2] by a linear whose weight is a file, times a half.
  std::string layer() const {
    write("arrays/w.npy", floats({3, 2}, {1, 0, 0, 1, 1, 1}));
    return write("layer.json",
                 R"({"orrery_graph": 1, "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 2]}],
        "constants": [{"name": "w", "file": "arrays/w.npy"}],
        "nodes": [{"op": "linear", "name": "y", "inputs": {"src": "x", "weight": "w"}, "layout": {"x": 7, "y": 8}},
                  {"op": "scale", "name": "half", "inputs": {"src": "y"}, "attributes": {"factor": 0.5}}],
        "outputs": ["half"]})");
  }

  std::filesystem::path folder_;
};

TEST_F(OwnFile, ALinearReadsAConstantOfAFile) {
  const auto session = open(layer());
  EXPECT_EQ(session->info().name, "layer");
  EXPECT_THAT(run(*session, floats({2, 2}, {2, 4, 6, 8})), ElementsAre(1, 2, 3, 3, 4, 7));
}

TEST_F(OwnFile, IsSavedAsItIsEditedAndOpenedAgain) {
  const auto session = open(layer());
  ASSERT_TRUE(session->apply({"set", {{"node", "half"}, {"attribute", "factor"}, {"value", "2"}}}).ok());
  std::filesystem::create_directories(folder_ / "other");
  const std::string saved = (folder_ / "other/saved.json").string();
  const Places places{{"y", {1, 2}}, {"x", {-3.5, 0}}};
  ASSERT_TRUE(save_graph(*session, saved, {places, {{"x", "1, 2"}}}).ok());
  EXPECT_EQ(read_canvas(saved)->places, places);
  EXPECT_EQ(read_canvas(saved)->given, (Given{{"x", "1, 2"}}));
  const auto again = open(saved);
  EXPECT_THAT(run(*again, floats({1, 2}, {1, 2})), ElementsAre(2, 4, 6));
  EXPECT_EQ(print(*again->model_graph()), print(*session->model_graph()));
  ASSERT_TRUE(save_graph(*again, saved, {places, {}}).ok()) << "over itself";
  EXPECT_EQ(read_canvas(layer())->places, (Places{{"y", {7, 8}}}));
  EXPECT_FALSE(save_graph(*session, "/no/such/folder/graph.json").ok());
}

TEST_F(OwnFile, IsOpenedLikeAModelIs) {
  const std::string path = layer();
  EXPECT_TRUE(is_graph_file(path));
  EXPECT_FALSE(is_graph_file(std::string(ORRERY_TEST_DATA) + "/io/recipes/two.json"));
  EXPECT_FALSE(is_graph_file(folder_.string()));
  OpenOptions asked = options(path);
  asked.precision = "balanced";
  const auto session = open_or_show(asked, {}, {});
  ASSERT_TRUE(session.ok()) << session.error().to_string();
  EXPECT_EQ(session.value()->info().task, Task::tensors);
  EXPECT_EQ(session.value()->options().precision, "exact");
}

TEST_F(OwnFile, WhatCannotBeReadIsRefusedWithItsPlace) {
  const auto refusal = [&](const std::string& path) {
    return open_graph_file(options(path)).error().to_string();
  };
  EXPECT_THAT(refusal((folder_ / "missing.json").string()), HasSubstr("The graph cannot be read"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("The graph cannot be read"));
  EXPECT_THAT(
      refusal(write("bad.json", R"({"orrery_graph": 1, "constants": [{"name": "w", "file": "none.npy"}]})")),
      HasSubstr("The file is not there"));
  write("text.npy", "no array");
  EXPECT_THAT(
      refusal(write("bad.json", R"({"orrery_graph": 1, "constants": [{"name": "w", "file": "text.npy"}]})")),
      HasSubstr("The file is of no known format"));
}

TEST_F(OwnFile, AnOpRunsAlone) {
  const std::string a = write("a.npy", floats({1, 2}, {1, 2})), b = write("b.npy", floats({1, 2}, {3, 4}));
  auto opened = open_op({"concat", {{"parts", a}, {"parts", b}, {"parts", a}}, {{"axis", "0"}}}, options());
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const auto ran = run_graph(*opened->session, opened->request, {});
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_THAT(ran->outputs[0].array.shape, ElementsAre(3, 2));
  EXPECT_THAT(values(ran->outputs[0].array), ElementsAre(1, 2, 3, 4, 1, 2));
  auto typed = open_op({"add", {{"a", a}, {"b", "5, 6"}}, {}}, options());
  ASSERT_TRUE(typed.ok()) << typed.error().to_string();
  EXPECT_THAT(values(run_graph(*typed->session, typed->request, {})->outputs[0].array), ElementsAre(6, 8));
  const auto refusal = [&](const OpRequest& request) {
    const auto refused = open_op(request, options());
    return refused.ok() ? std::string("it is opened") : refused.error().to_string();
  };
  EXPECT_THAT(refusal({"add", {{"a", a}}, {}}), HasSubstr("add needs its input b"));
  EXPECT_THAT(refusal({"add", {{"a", a}, {"a", b}}, {}}), HasSubstr("a is given twice"));
  EXPECT_THAT(refusal({"add", {{"a", a}, {"c", b}}, {}}), HasSubstr("add has no input \"c\""));
  EXPECT_THAT(refusal({"scale", {{"src", a}}, {{"factor", "much"}}}),
              HasSubstr("\"much\" is no value of factor: it is a number"));
  EXPECT_THAT(refusal({"scale", {{"src", a}}, {{"speed", "1"}}}), HasSubstr("scale has no attribute speed"));
  EXPECT_THAT(refusal({"reduce_everything", {}, {}}), HasSubstr("There is no op"));
  const auto found = [](const OpRequest& request) { return find_op(request)->op->name; };
  EXPECT_EQ(found({"permute", {}, {}}), "transpose");
  EXPECT_EQ(found({"reduce_max", {{"src", a}}, {}}), "max");
  EXPECT_EQ(found({"max", {{"a", a}, {"b", b}}, {}}), "maximum");
  EXPECT_THAT(list_ops(), testing::SizeIs(testing::Ge(40U)));
}

}  // namespace
}  // namespace orrery::api
