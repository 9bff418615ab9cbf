// lab: the kernels by themselves, as they are listed, run, refused and stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "run_cli.h"
#include "tests/support/variable.h"

namespace orrery::cli::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A run in JSON whose rows are all right or refused; by their names.
std::map<std::string, nlohmann::json> right_versions(const nlohmann::json& run) {
  std::map<std::string, nlohmann::json> versions;
  for (const auto& version : run["versions"]) {
    const std::string name = version["name"];
    versions[name] = version;
    for (const char* key : {"ok", "max_error", "us", "gflops", "gbytes_per_second", "share_of_limit", "p10",
                            "p90", "samples", "refused"})
      EXPECT_TRUE(version.contains(key)) << name << " lacks " << key;
    if (!version["refused"].is_null()) {
      EXPECT_NE(version["refused"], "") << name;
      EXPECT_TRUE(version["ok"].is_null()) << name;
      EXPECT_TRUE(version["us"].is_null()) << name;
      continue;
    }
    EXPECT_EQ(version["ok"], true) << name << ": " << version["where"];
    EXPECT_LE(version["max_error"], version["tolerance"]) << name;
    EXPECT_GT(version["us"], 0) << name;
    EXPECT_LE(version["p10"], version["us"]) << name;
    EXPECT_LE(version["us"], version["p90"]) << name;
    EXPECT_GT(version["gflops"], 0) << name;
    EXPECT_GT(version["gbytes_per_second"], 0) << name;
  }
  return versions;
}

TEST(Lab, ListsTheKernels) {
  std::map<std::string, nlohmann::json> kernels;
  for (const auto& kernel : run({"lab", "list", "--json"}).json()) kernels[kernel["kernel"]] = kernel;
  for (const char* name : {"linear", "attention", "softmax", "norm", "matmul", "copy", "sample"}) {
    ASSERT_TRUE(kernels.count(name)) << name;
    EXPECT_FALSE(kernels[name]["problems"].empty()) << name;
    EXPECT_EQ(kernels[name]["rows"]["cpu"].back(), "cpu.reference") << name;
  }
  EXPECT_THAT(kernels["softmax"]["shape"].get<std::string>(), StartsWith("OUTERxCOUNTxINNER"));
  const std::string all = run({"lab", "list"}).out, one = run({"lab", "list", "softmax"}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("\nsoftmax\n"), StartsWith("linear\n"), HasSubstr("5, as 512x1536x1")));
  EXPECT_THAT(one, AllOf(StartsWith("softmax\n"), HasSubstr("OUTERxCOUNTxINNER"), Not(HasSubstr("linear")),
                         HasSubstr("attention map 512x512x1 inputs=masked\n")));
}

TEST(Lab, EveryRowIsHeldAgainstTheReferenceAndTimed) {
  const auto softmax = run({"lab", "run", "softmax", "--shape", "3x70x5", "--json"}).json();
  EXPECT_EQ(softmax["kernel"], "softmax");
  EXPECT_EQ(softmax["problem"], "3x70x5");
  EXPECT_EQ(softmax["device"], "cpu");
  EXPECT_TRUE(softmax.contains("busy"));
  EXPECT_TRUE(softmax.contains("others"));
  auto versions = right_versions(softmax);
  EXPECT_EQ(versions["cpu.columns"]["ok"], true);
  EXPECT_EQ(versions["cpu.reference"]["max_error"], 0);
  EXPECT_GT(versions["cpu.columns"]["share_of_limit"], 0);
  EXPECT_GT(versions["cpu.columns"]["samples"], 2);
  // The words of a shape are put together, and a row that does not take them says why.
  const Words words{"lab",     "run",      "linear", "--threads", "1",
                    "--shape", "3x256x40", "q4_0",   "exact",     "--json"};
  const auto linear = run(words).json();
  EXPECT_EQ(linear["problem"], "3x256x40 q4_0 exact");
  EXPECT_EQ(linear["threads"], 1);
  versions = right_versions(linear);
  ASSERT_TRUE(versions.count("cpu.onednn.f32"));
  EXPECT_EQ(versions["cpu.onednn.f32"]["refused"], "Q4_0 weights are not dense");
  EXPECT_EQ(versions["cpu.reference"]["ok"], true);
}

TEST(Lab, AProblemInUseIsRunWhereNoneIsTold) {
  const Outcome outcome = run({"lab", "run", "norm"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("norm SmolLM2 decode 1x576, on cpu: "), HasSubstr(" threads of "),
                                 HasSubstr("\ncpu.reference "), HasSubstr(" GFLOP/s"),
                                 HasSubstr("of the limit"), HasSubstr("off by ")));
}

TEST(Lab, TheReferenceIsNotTimedForMinutes) {
  const Words words{"lab", "run", "matmul", "--shape", "4x512x512x256", "--json"};
  auto versions = right_versions(run(words).json());
  EXPECT_THAT(versions["cpu.reference"]["refused"].get<std::string>(), HasSubstr("held against it"));
  EXPECT_GE(versions.size(), 2U);
}

TEST(Lab, WhatIsNotThereIsRefused) {
  const Outcome kernel = run({"lab", "run", "softmx"});
  expect_refused(kernel);
  EXPECT_THAT(kernel.err, HasSubstr("(softmx): did you mean softmax?"));
  EXPECT_THAT(run({"lab", "list", "selective"}).err, HasSubstr("did you mean selective_scan?"));
  EXPECT_THAT(run({"lab", "run", "teapot"}).err, HasSubstr("orrery-cli lab list"));
  const auto refused = [](const Words& shape) {
    Words words{"lab", "run", "linear", "--shape"};
    words.insert(words.end(), shape.begin(), shape.end());
    const Outcome outcome = run(words);
    expect_refused(outcome);
    return outcome.err;
  };
  EXPECT_THAT(refused({"3x64"}), AllOf(HasSubstr("(--shape 3x64): tell it as TOKENSxCOLSxROWS"),
                                       HasSubstr("for example decode 1x576x1536 Q4_1")));
  EXPECT_THAT(refused({"1x64x4", "quickly"}), HasSubstr("not understood: quickly"));
  EXPECT_THAT(refused({"1x577x4", "q8_0"}), HasSubstr("no whole blocks"));
  const Outcome device = run({"lab", "run", "softmax", "--device", "abacus"});
  expect_refused(device);
  EXPECT_THAT(device.err, HasSubstr("(--device): use cpu, or cuda:0"));
}

TEST(Lab, WrongUsage) {
  for (const Words& words :
       {Words{"lab"}, Words{"lab", "run"}, Words{"lab", "softmax"}, Words{"lab", "list", "linear", "softmax"},
        Words{"lab", "list", "--shape", "3x70x5"}, Words{"lab", "run", "softmax", "--threads", "-1"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(words) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Lab, StopsBetweenCalls) {
  // Its rows take half a second and more each; the first line is of one that is refused.
  const Words words{"lab", "run", "linear", "--shape", "prompt 512x8192x2048 Q6_K exact"};
  const Outcome outcome = run_and_interrupt(words, 60000);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("error:")));
  EXPECT_THAT(outcome.out, AllOf(StartsWith("linear prompt"), Not(HasSubstr("\ncpu.reference"))));
}

TEST(Lab, RowsOfACard) {
  const Variable module("ORRERY_CUDA_MODULE", ORRERY_FAKE_DEVICE);
  const Words words{"lab", "run", "softmax", "--shape", "3x70x5", "--device", "cuda:1", "--json"};
  const auto result = run(words).json();
  EXPECT_EQ(result["device"], "cuda:1");
  size_t timed = 0;
  for (const auto& [name, version] : right_versions(result)) {
    EXPECT_THAT(name, StartsWith("cuda."));
    if (version["ok"] == true) timed += version["launched_us"] > 0 ? 1 : 0;
  }
  EXPECT_GT(timed, 0U);
  for (const auto& kernel : run({"lab", "list", "--json"}).json())
    EXPECT_FALSE(kernel["rows"]["cuda"].empty()) << kernel["kernel"];
  EXPECT_THAT(run({"lab", "run", "softmax", "--device", "cuda:9"}).err, HasSubstr("--device"));
}

}  // namespace
}  // namespace orrery::cli::test
