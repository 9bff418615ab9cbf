// The verb custom: an op from source and one from a library that its own project builds, used by op, run and
// recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "run_cli.h"
#include "tests/support/npy.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kSdk = ORRERY_SOURCE_DIR "/resources/sdk";

std::vector<float> floats_in(const std::string& path) {
  const std::string text = read_file(path);
  const size_t begin = 10 + static_cast<unsigned char>(text[8]) + 256 * static_cast<unsigned char>(text[9]);
  std::vector<float> values((text.size() - begin) / sizeof(float));
  std::memcpy(values.data(), text.data() + begin, values.size() * sizeof(float));
  return values;
}

/// Ops in a home of the test's own.
class CustomVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    home_ = std::filesystem::path(scratch_file("custom_home")).string() + ".d";
    setenv("XDG_DATA_HOME", (home_ + "/data").c_str(), 1);
    if (const char* cache = std::getenv("XDG_CACHE_HOME")) cache_ = cache;
    const char* user = std::getenv("HOME");
    const std::string cache = cache_.empty() ? std::string(user ? user : "") + "/.cache" : cache_;
    std::filesystem::create_directories(home_ + "/cache/orrery");
    std::filesystem::create_directory_symlink(cache + "/orrery/models", home_ + "/cache/orrery/models");
    setenv("XDG_CACHE_HOME", (home_ + "/cache").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_DATA_HOME");
    if (cache_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    std::filesystem::remove_all(home_);
  }
  std::string home_, cache_;
};

TEST_F(CustomVerb, AnOpFromSourceIsAddedAndUsed) {
  const auto added = run({"custom", "add", kSdk + "/examples/add_one.cpp", "--json"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  const auto report = added.json();
  EXPECT_EQ(report["name"], "add_one");
  EXPECT_EQ(report["passed"], true);
  EXPECT_EQ(report["cached"], false);
  EXPECT_THAT(report["checks"], SizeIs(1));
  EXPECT_THAT(report["cases"], SizeIs(5));
  EXPECT_THAT(report["risk"].get<std::string>(), HasSubstr("with your rights"));
  EXPECT_EQ(run({"custom", "check", kSdk + "/examples/add_one.cpp", "--json"}).json()["cached"], true);

  const auto list = run({"custom", "list", "--json"}).json();
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0]["name"], "add_one");
  EXPECT_EQ(list[0]["content"], report["content"]);
  EXPECT_TRUE(list[0]["problem"].is_null());

  const std::string src = scratch_file("src.npy", orrery::test::npy("2, 2", {1, 2, 3, 4}));
  const std::string out = home_ + "/out";
  const auto made =
      run({"op", "add_one", "--in", "src=" + src, "--set", "amount=2.5", "--out", out, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.json()["kernel"], "cpu.add_one");
  EXPECT_THAT(floats_in(made.json()["outputs"][0]["file"]), ::testing::ElementsAre(3.5F, 4.5F, 5.5F, 6.5F));
  EXPECT_EQ(run({"op", "add_one", "--json"}).json()["family"], "custom");

  const std::string graph = scratch_file(
      "graph.json",
      R"({"orrery_graph": 1, "inputs": [{"name": "x", "dtype": "f32", "shape": ["n"]}], "nodes": [{"op": "add_one",
          "name": "y", "inputs": {"src": "x"}}, {"op": "add_one", "name": "z", "inputs": {"src": "y"}}], "outputs": ["z"]})");
  const auto ran = run({"run", graph, "--in", "x=1, 2, 3", "--out", out, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(floats_in(ran.json()["outputs"][0]["file"]), ::testing::ElementsAre(3, 4, 5));

  const auto lab = run({"lab", "run", "add_one", "--shape", "src=3x70", "amount=0.5", "--json"});
  ASSERT_EQ(lab.exit_code, 0) << lab.err;
  EXPECT_EQ(lab.json()["problem"], "src=3x70 amount=0.5");
  EXPECT_EQ(lab.json()["versions"][0]["name"], "cpu.add_one");
  EXPECT_EQ(lab.json()["versions"][0]["ok"], true);
  EXPECT_GT(lab.json()["versions"][0]["us"], 0);
  expect_refused(run({"lab", "run", "add_one", "--shape", "dst=3x70"}));

  EXPECT_EQ(run({"custom", "remove", "add_one"}).exit_code, 0);
  expect_refused(run({"op", "add_one"}));
  expect_refused(run({"custom", "remove", "add_one"}));
}

TEST_F(CustomVerb, GradientsAreThoseOfTheBackwardBody) {
  const auto added = run({"custom", "add", kSdk + "/examples/bias_gelu.cpp", "--json"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_EQ(added.json()["backward"], true);
  EXPECT_THAT(added.json()["devices"], SizeIs(1)) << "it has no file of CUDA";
  const std::string src = scratch_file("g_src.npy", orrery::test::npy("2, 2", {0.5F, -1, 2, 0}));
  const std::string bias = scratch_file("g_bias.npy", orrery::test::npy("2", {0.25F, 0}));
  const std::string grad = scratch_file("g_grad.npy", orrery::test::npy("2, 2", {1, 1, 1, 1}));
  const auto made = run({"op", "bias_gelu", "--in", "src=" + src, "bias=" + bias, "--grad", "dst=" + grad,
                         "--out", home_ + "/out", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto outputs = made.json()["outputs"];
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_EQ(outputs[1]["name"], "grad_src");
  EXPECT_EQ(outputs[2]["name"], "grad_bias");
  const auto slope = [](double x) {
    return (1 + std::erf(x / std::sqrt(2.0))) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
  };
  const std::vector<float> grad_src = floats_in(outputs[1]["file"]),
                           grad_bias = floats_in(outputs[2]["file"]);
  ASSERT_THAT(grad_src, SizeIs(4));
  const double expected[] = {slope(0.75), slope(-1), slope(2.25), slope(0)};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(grad_src[i], expected[i], 1e-5);
  ASSERT_THAT(grad_bias, SizeIs(2));
  EXPECT_NEAR(grad_bias[1], expected[1] + expected[3], 1e-5);

  ASSERT_EQ(run({"custom", "add", kSdk + "/examples/add_one.cpp"}).exit_code, 0);
  const auto refused = run({"op", "add_one", "--in", "src=" + src, "--grad", "dst=" + grad});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("add_one has no backward body, so it has no gradients"));
  EXPECT_THAT(refused.err, HasSubstr(".cpu_backward"));
}

TEST_F(CustomVerb, ARecipeNamesTheOp) {
  ASSERT_EQ(run({"custom", "add", kSdk + "/examples/add_one.cpp"}).exit_code, 0);
  const std::string model = "smollm2", recipe = home_ + "/recipe.json";
  const auto made =
      run({"recipe", model, "--edit", "custom op=add_one as=layers.0.more after=layers.0.mlp.residual:dst",
           "--out", recipe});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(read_file(recipe), HasSubstr("\"content\": \""));
  EXPECT_THAT(run({"recipe", "check", model, recipe, "--json"}).json()["problems"], SizeIs(0));
  ASSERT_EQ(run({"custom", "remove", "add_one"}).exit_code, 0);
  const auto problems = run({"recipe", "check", model, recipe, "--json"}).json()["problems"];
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0]["reason"].get<std::string>(), HasSubstr("There is no op add_one of content"));
}

TEST_F(CustomVerb, ALibraryOfAProjectOfItsOwn) {
  const std::string build = home_ + "/build";
  const std::string command = "cmake -S '" + kSdk + "/examples/project' -B '" + build +
                              "' >/dev/null 2>&1 && cmake --build '" + build + "' >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto added = run({"custom", "add", build + "/librms_scale.so", "--json"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_EQ(added.json()["name"], "rms_scale");
  const std::string src = scratch_file("rms.npy", orrery::test::npy("1, 2", {3, 4}));
  const auto made = run({"op", "rms_scale", "--in", "src=" + src, "--out", home_ + "/out", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto values = floats_in(made.json()["outputs"][0]["file"]);
  ASSERT_THAT(values, SizeIs(2));
  EXPECT_NEAR(values[0], 3 / std::sqrt(12.5), 1e-5);
  EXPECT_NEAR(values[1], 4 / std::sqrt(12.5), 1e-5);
}

TEST_F(CustomVerb, WhatIsWrongIsToldAndExitsWithOne) {
  const std::string source = scratch_file("broken.cpp", "#include \"orrery_op.h\"\nint x = y;\n");
  const auto broken = run({"custom", "add", source, "--json"});
  EXPECT_EQ(broken.exit_code, 1);
  const auto diagnostics = broken.json()["diagnostics"];
  ASSERT_FALSE(diagnostics.empty());
  EXPECT_EQ(diagnostics[0]["file"], "broken.cpp");
  EXPECT_EQ(diagnostics[0]["line"], 2);
  EXPECT_EQ(diagnostics[0]["severity"], "error");
  EXPECT_THAT(broken.err, HasSubstr("error: It does not compile: "));
  EXPECT_THAT(run({"custom", "list", "--json"}).json(), SizeIs(0));

  const std::string crash = scratch_file("crash.cpp",
                                         "#include \"orrery_op.h\"\nstatic void cpu(const orrery_call*, "
                                         "int64_t, int64_t) { *(volatile int*)0 = 1; }\n"
                                         "ORRERY_OP(\"crash\", \"Falls over.\", .inputs = \"src f32[...]\", "
                                         ".outputs = \"dst src\", .cpu = cpu)\n");
  const auto crashed = run({"custom", "check", crash});
  EXPECT_EQ(crashed.exit_code, 1);
  EXPECT_THAT(crashed.out, HasSubstr("failed  It writes through a null pointer"));
  expect_refused(run({"custom", "add", "/no/such.cpp"}));
  for (const Words& words : {Words{"custom"}, Words{"custom", "list", "x"}, Words{"custom", "new"},
                             Words{"custom", "add"}, Words{"custom", "list", "--cuda"}})
    EXPECT_EQ(run(words).exit_code, 2);
}

}  // namespace
}  // namespace orrery::cli::test
