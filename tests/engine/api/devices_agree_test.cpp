// One graph on the CPU and on a device gives the same numbers, node by node and token by token. The device is
// the one under test, else cuda:0 of the test module; the model is ORRERY_TEST_MODEL (tools/make_gguf.py
// writes large ones with random weights), else SmolLM2.
#include <gtest/gtest.h>

#include "engine/api/compare.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

constexpr double kExactNmse = 1e-7, kExactKl = 1e-6;        // float32 sums in another order
constexpr double kBalancedNmse = 1e-3, kBalancedKl = 2e-3;  // activations rounded, each device in its way

OpenOptions model_under_test() {
  OpenOptions options = smollm2();
  if (const char* path = std::getenv("ORRERY_TEST_MODEL"); path && *path) options.model = path;
  options.context = 512;
  return options;
}

CompareRequest long_prompt(double divergent_nmse) {
  CompareRequest request;
  for (int i = 0; i < 5; ++i) request.raw += "Planets wander, moons follow, comets return after many years. ";
  request.max_tokens = 8;
  request.divergent_nmse = divergent_nmse;
  return request;
}

/// The comparison of the CPU with the device, or nothing and a failed or skipped test.
std::optional<CompareResult> compare_devices(const std::string& precision, double divergent_nmse) {
  const std::string device = device_under_test().empty() ? "cuda:0" : device_under_test();
  OpenOptions options = model_under_test();
  options.precision = precision;
  auto cpu = Session::open(options, {}, {});
  EXPECT_TRUE(cpu.ok()) << (cpu.ok() ? "" : cpu.error().to_string());
  options.device = device;
  auto card = Session::open(options, {}, {});
  if (!card.ok()) {
    ADD_FAILURE() << (card.error().code == ErrorCode::device ? "no device to test: " : "")
                  << card.error().to_string();
    return {};
  }
  if (!cpu.ok()) return {};
  auto result = compare(*cpu.value(), *card.value(), long_prompt(divergent_nmse), {}, {}, {});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? std::optional(std::move(result).value()) : std::nullopt;
}

size_t compared(const CompareResult& result) {
  size_t count = 0;
  for (const NodeComparison& node : result.nodes) count += node.difference.has_value();
  return count;
}

TEST(DevicesAgreeTest, ExactArithmetic) {
  const auto result = compare_devices("exact", kExactNmse);
  if (!result) return;
  EXPECT_EQ(result->first_divergent, "");
  EXPECT_LT(*result->kl, kExactKl);
  EXPECT_GE(*result->top1_agreement, 0.98);
  EXPECT_GT(compared(*result), 150U);
  EXPECT_EQ(result->probed_tokens, 64);
}

TEST(DevicesAgreeTest, BalancedArithmetic) {
  const auto result = compare_devices("balanced", kBalancedNmse);
  if (!result) return;
  EXPECT_EQ(result->first_divergent, "");
  EXPECT_LT(*result->kl, kBalancedKl);
  EXPECT_GE(*result->top1_agreement, 0.9);
  EXPECT_GT(compared(*result), 150U);
}

}  // namespace
}  // namespace orrery::api
