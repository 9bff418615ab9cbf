// The verbs on arrays: ops, op and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A file of NumPy with float32 elements, as numpy.save writes it.
std::string npy(const std::string& name, const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(117 - header.size(), ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += header;
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return scratch_file(name, text);
}

/// The float32 elements of such a file.
std::vector<float> floats(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<float> values((text.size() - 128) / sizeof(float));
  std::memcpy(values.data(), text.data() + 128, values.size() * sizeof(float));
  return values;
}

TEST(OpsVerb, ListsTheRegistry) {
  const auto ops = run({"ops", "--json"}).json();
  ASSERT_GE(ops.size(), 40U);
  const auto matmul = std::ranges::find_if(ops, [](const auto& op) { return op["name"] == "matmul"; });
  ASSERT_NE(matmul, ops.end());
  EXPECT_EQ((*matmul)["inputs"][1]["name"], "b");
  EXPECT_EQ((*matmul)["attributes"][0]["name"], "transpose_a");
  EXPECT_EQ((*matmul)["attributes"][0]["default"], false);
  EXPECT_THAT((*matmul)["devices"], Contains("cpu"));
  EXPECT_EQ((*matmul)["backward"], true);
  const auto equal = std::ranges::find_if(ops, [](const auto& op) { return op["name"] == "equal"; });
  ASSERT_NE(equal, ops.end());
  EXPECT_EQ((*equal)["backward"], false);
  EXPECT_EQ((*matmul)["family"], "linear");
  EXPECT_THAT(run({"ops"}).out, HasSubstr("softmax"));
}

TEST(OpVerb, TellsItsSchemaWithoutArrays) {
  const auto schema = run({"op", "softmax", "--json"}).json();
  EXPECT_EQ(schema["name"], "softmax");
  EXPECT_EQ(schema["attributes"][0]["default"], -1);
  EXPECT_THAT(run({"op", "linear"}).out, HasSubstr("linear(src, weight, bias?) -> dst"));
}

TEST(OpVerb, RunsOnFiles) {
  const std::string src = npy("op_src.npy", "(2, 2)", {1, 2, 3, 4});
  const std::string out = scratch_file("op_out") + "_folder";
  const Outcome ran =
      run({"op", "transpose", "--in", "src=" + src, "--set", "perm=1,0", "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = ran.json();
  EXPECT_EQ(json["outputs"][0]["name"], "dst");
  EXPECT_EQ(json["outputs"][0]["dtype"], "f32");
  EXPECT_EQ(json["outputs"][0]["shape"], (std::vector<int>{2, 2}));
  EXPECT_EQ(json["outputs"][0]["file"], out + "/dst.npy");
  EXPECT_THAT(floats(out + "/dst.npy"), ElementsAre(1, 3, 2, 4));
  EXPECT_TRUE(json["kernel"].is_string());
  EXPECT_TRUE(json["refused"].is_array());
  EXPECT_GT(json["us"], 0);
  EXPECT_THAT(run({"op", "softmax", "--in", "src=" + src, "--repeat", "3"}).out, HasSubstr("dst"));
  EXPECT_THAT(run({"op", "top_k", "--in", "src=3, 1, 9; 4, 6, 5", "--set", "k=2"}).out,
              HasSubstr("9, 3; 6, 5"));
  std::filesystem::remove_all(out);
}

TEST(OpVerb, MultipliesByTheStepThatIsNamed) {
  const Words words = {"op", "matmul_ladder", "--in", "a=1, 2; 3, 4", "b=0, 1; 1, 0", "--set"};
  const auto with = [&](const std::string& step) {
    Words all = words;
    all.push_back("step=" + step);
    return run(all);
  };
  EXPECT_THAT(with("naive").out, AllOf(HasSubstr("2, 1; 4, 3"), HasSubstr("cpu.naive")));
  const Outcome unknown = with("nope");
  expect_refused(unknown);
  EXPECT_THAT(unknown.err, HasSubstr("There is no step nope here"));
  EXPECT_THAT(unknown.err, HasSubstr("name one of naive, blocked"));
}

/// Without --in the verb describes the op, unless another option asks for a run.
TEST(OpVerb, RunsOnNothing) {
  EXPECT_THAT(run({"op", "range", "--set", "start=1", "stop=4", "step=1"}).out, HasSubstr("1, 2, 3"));
  const Outcome without = run({"op", "softmax", "--set", "axis=0"});
  expect_refused(without);
  EXPECT_THAT(without.err, HasSubstr("src"));
  expect_refused(run({"op", "random_uniform", "--set", "shpe=3"}));
}

TEST(OpVerb, AWeightIsReadFromItsFile) {
  const std::string src = npy("linear_src.npy", "(1, 2)", {1, 2}),
                    weight = npy("linear_w.npy", "(3, 2)", {1, 0, 0, 1, 1, 1});
  const std::string out = scratch_file("linear_out") + "_folder";
  const Outcome ran = run({"op", "linear", "--in", "src=" + src, "weight=" + weight, "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(floats(out + "/dst.npy"), ElementsAre(1, 2, 3));
  const Outcome typed = run({"op", "linear", "--in", "src=" + src, "weight=1, 2; 3, 4"});
  expect_refused(typed);
  EXPECT_THAT(typed.err, HasSubstr("weight is a weight, which is read from a file"));
  std::filesystem::remove_all(out);
}

TEST(OpVerb, SaysWhatDoesNotFit) {
  const std::string src = npy("bad_src.npy", "(2, 2)", {1, 2, 3, 4}),
                    other = npy("bad_other.npy", "(3,)", {1, 2, 3});
  expect_refused(run({"op", "frobnicate"}));
  expect_refused(run({"op", "softmax", "--in", "x=" + src}));
  expect_refused(run({"op", "softmax", "--in", "src=" + src, "--set", "axis=two"}));
  expect_refused(run({"op", "softmax", "--in", "src"}));
  expect_refused(run({"op", "softmax", "--in", "src=/no/such.npy"}));
  const Outcome mismatch = run({"op", "add", "--in", "a=" + src, "b=" + other});
  expect_refused(mismatch);
  EXPECT_THAT(mismatch.err, HasSubstr("b is f32[3], but a is f32[2, 2]"));
}

TEST(OpVerb, GivesGradientsOfItsInputs) {
  const std::string a = npy("grad_a.npy", "(2, 2)", {1, 2, 3, 4}), b = npy("grad_b.npy", "(2,)", {5, 6}),
                    dst = npy("grad_dst.npy", "(2, 2)", {1, 1, 2, 1});
  const std::string out = scratch_file("grad_out") + "_folder";
  const Outcome ran =
      run({"op", "mul", "--in", "a=" + a, "b=" + b, "--grad", "dst=" + dst, "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto outputs = ran.json()["outputs"];
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_EQ(outputs[0]["name"], "dst");
  EXPECT_EQ(outputs[1]["name"], "grad_a");
  EXPECT_EQ(outputs[2]["shape"], (std::vector<int>{2}));
  EXPECT_GT(ran.json()["steps"].size(), 2U);
  EXPECT_THAT(floats(out + "/dst.npy"), ElementsAre(5, 12, 15, 24));
  EXPECT_THAT(floats(out + "/grad_a.npy"), ElementsAre(5, 6, 10, 6));
  EXPECT_THAT(floats(out + "/grad_b.npy"), ElementsAre(1 + 6, 2 + 4));
  std::filesystem::remove_all(out);
}

TEST(OpVerb, GradientsOfSignalsWindowsAndBoxes) {
  const std::string out = scratch_file("grad_images") + "_folder";
  const auto gradient = [&](const std::string& op, const std::vector<std::string>& in, const std::string& dst,
                            const std::string& name, const std::vector<std::string>& attributes) {
    std::vector<std::string> words{"op", op, "--in"};
    words.insert(words.end(), in.begin(), in.end());
    words.insert(words.end(), {"--grad", "dst=" + dst, "--out", out});
    if (!attributes.empty()) words.emplace_back("--set");
    words.insert(words.end(), attributes.begin(), attributes.end());
    const Outcome ran = run(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return floats(out + "/grad_" + name + ".npy");
  };
  EXPECT_THAT(gradient("irfft", {"src=" + npy("spectrum.npy", "(3, 2)", {1, 0, 2, 1, 3, 0})},
                       npy("of_signal.npy", "(4,)", {4, 0, 0, 0}), "src", {}),
              ElementsAre(1, 0, 2, 0, 1, 0));
  EXPECT_THAT(
      gradient("fold", {"src=" + npy("windows.npy", "(1, 2, 2)", {1, 2, 3, 4})},
               npy("of_image.npy", "(1, 1, 1, 3)", {5, 6, 7}), "src", {"output_size=1,3", "kernel=1,2"}),
      ElementsAre(5, 6, 6, 7));
  const std::vector<std::string> in{"src=" + npy("image.npy", "(1, 1, 2, 2)", {1, 2, 3, 4}),
                                    "boxes=" + npy("boxes.npy", "(1, 5)", {0, 0, 0, 1, 1})};
  const std::string cell = npy("of_cell.npy", "(1, 1, 1, 1)", {8});
  const std::vector<std::string> one{"output_height=1", "output_width=1"};
  EXPECT_THAT(gradient("roi_align", in, cell, "src", one), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(gradient("roi_align", in, cell, "boxes", one), ElementsAre(0, 0, 0, 0, 0));
  std::filesystem::remove_all(out);
}

TEST(OpVerb, GradientsOfALinearAndWhatHasNone) {
  const std::string src = npy("grad_src.npy", "(1, 2)", {1, 2}),
                    weight = npy("grad_w.npy", "(3, 2)", {1, 0, 0, 1, 1, 1}),
                    dst = npy("grad_of_linear.npy", "(1, 3)", {1, 10, 100});
  const std::string out = scratch_file("grad_linear") + "_folder";
  const Outcome ran = run({"op", "linear", "--in", "src=" + src, "weight=" + weight, "--grad", "dst=" + dst,
                           "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(floats(out + "/grad_src.npy"), ElementsAre(101, 110));
  EXPECT_THAT(floats(out + "/grad_weight.npy"), ElementsAre(1, 2, 10, 20, 100, 200));
  std::filesystem::remove_all(out);
  const Outcome stepped = run({"op", "equal", "--in", "a=" + src, "b=" + src, "--grad", "dst=" + src});
  expect_refused(stepped);
  EXPECT_THAT(stepped.err, HasSubstr("equal has no backward form"));
  const Outcome shape = run({"op", "exp", "--in", "src=" + src, "--grad", "dst=" + dst});
  expect_refused(shape);
  EXPECT_THAT(shape.err, HasSubstr("f32[1, 2], but its gradient is f32[1, 3]"));
  expect_refused(run({"op", "exp", "--in", "src=" + src, "--grad", "out=" + src}));
}

TEST(RunVerb, RunsAGraphFromItsFile) {
  const std::string x = npy("graph_x.npy", "(2, 3)", {1, 2, 3, 4, 5, 6});
  npy("graph_w.npy", "(3, 2)", {1, 0, 0, 1, 1, 1});
  const std::string graph = scratch_file("graph.json", R"({"orrery_graph": 1,
      "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 3]}],
      "constants": [{"name": "w", "file": "graph_w.npy"}],
      "nodes": [{"op": "matmul", "name": "y", "inputs": {"a": "x", "b": "w"}},
                {"op": "top_experts", "name": "best", "inputs": {"logits": "y"}, "attributes": {"active": 1}}],
      "outputs": ["y", "best:experts"]})");
  const std::string out = scratch_file("graph_out") + "_folder";
  const Outcome ran = run({"run", graph, "--in", "x=" + x, "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = ran.json();
  EXPECT_THAT(json["outputs"], SizeIs(2));
  EXPECT_EQ(json["outputs"][1]["name"], "best:experts");
  EXPECT_EQ(json["outputs"][1]["dtype"], "i32");
  EXPECT_THAT(floats(out + "/y.npy"), ElementsAre(4, 5, 10, 11));
  EXPECT_TRUE(std::filesystem::exists(out + "/best.experts.npy"));
  EXPECT_THAT(json["steps"], SizeIs(2));
  EXPECT_EQ(json["steps"][0]["node"], "y");
  EXPECT_GT(json["us"], 0);
  const auto all = run({"run", graph, "--in", "x=" + x, "--all", "--json"}).json();
  EXPECT_EQ(all["values"][0]["name"], "best:weights");
  EXPECT_TRUE(all["outputs"][0]["file"].is_null());
  EXPECT_THAT(run({"graph", graph}).out, HasSubstr("matmul(%i1, %w2)"));
  ASSERT_EQ(run({"run", graph, "--in", "x=1, 2, 3; 4, 5, 6", "--out", out}).exit_code, 0);
  EXPECT_THAT(floats(out + "/y.npy"), ElementsAre(4, 5, 10, 11)) << "typed as in the window";
  std::filesystem::remove_all(out);
}

TEST(RunVerb, GivesGradientsOfAValue) {
  const std::string x = npy("loss_x.npy", "(2, 3)", {1, 2, 3, 4, 5, 6});
  npy("loss_w.npy", "(3, 1)", {1, 0, 2});
  const std::string graph = scratch_file("loss.json", R"({"orrery_graph": 1,
      "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 3]}],
      "constants": [{"name": "w", "file": "loss_w.npy"}],
      "nodes": [{"op": "matmul", "name": "y", "inputs": {"a": "x", "b": "w"}},
                {"op": "sum", "name": "loss", "inputs": {"src": "y"}}],
      "outputs": ["loss"]})");
  const std::string out = scratch_file("loss_out") + "_folder";
  const Outcome ran = run({"run", graph, "--in", "x=" + x, "--grad", "loss", "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_THAT(ran.json()["outputs"], SizeIs(3));
  EXPECT_THAT(floats(out + "/loss.npy"), ElementsAre(7 + 16));
  EXPECT_THAT(floats(out + "/grad_x.npy"), ElementsAre(1, 0, 2, 1, 0, 2));
  EXPECT_THAT(floats(out + "/grad_w.npy"), ElementsAre(5, 7, 9));
  const auto one = run({"run", graph, "--in", "x=" + x, "--grad", "loss", "--wrt", "y,w", "--json"}).json();
  ASSERT_THAT(one["outputs"], SizeIs(3));
  EXPECT_EQ(one["outputs"][1]["name"], "grad_y");
  EXPECT_THAT(run({"run", graph, "--in", "x=" + x, "--grad", "y"}).err, HasSubstr("which is not one number"));
  const std::string drawn = run({"graph", graph, "--grad", "loss", "--wrt", "w"}).out;
  EXPECT_THAT(drawn, HasSubstr("# grad.y_matmul"));
  EXPECT_THAT(run({"run", graph, "--in", "x=" + x, "--grad", "z"}).err,
              HasSubstr("The graph has no value z"));
  std::filesystem::remove_all(out);
}

TEST(RunVerb, SaysWhatDoesNotFit) {
  const std::string x = npy("misfit_x.npy", "(3, 4)", std::vector<float>(12));
  const std::string graph = scratch_file("misfit.json", R"({"orrery_graph": 1,
      "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 64]}],
      "nodes": [{"op": "relu", "name": "y", "inputs": {"src": "x"}}], "outputs": ["y"]})");
  const Outcome misfit = run({"run", graph, "--in", "x=" + x});
  expect_refused(misfit);
  EXPECT_THAT(misfit.err, HasSubstr("x is f32[3, 4], but the graph asks f32[n, 64]"));
  expect_refused(run({"run", graph}));
  EXPECT_THAT(run({"run", graph, "--in", "x=1, 2"}).err, HasSubstr("It is [2], and f32[n, 64] is asked"));
  expect_refused(run({"run", graph, "--in", "z=" + x}));
  EXPECT_THAT(run({"run", graph, "--in", "z=1, 2"}).err, HasSubstr("no input \"z\""));
  expect_refused(run({"run", scratch_file("no_graph.json", "{}")}));
  expect_refused(run({"run", "/no/such/graph.json"}));
  expect_refused(run({"chat", graph, "--prompt", "Hello"}));
  EXPECT_EQ(run({"run"}).exit_code, 2);
  EXPECT_EQ(run({"run", graph, "--in", "x=" + x, "--wrt", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace orrery::cli::test
