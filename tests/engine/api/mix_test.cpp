// Mixes of types for a size, against all that there could be.
#include "engine/api/mix.h"

#include <gmock/gmock.h>

#include <random>

namespace orrery::api {
namespace {

using testing::HasSubstr;

/// A tensor in a type: its bytes and what it costs.
struct Cost {
  uint64_t bytes;
  double kl;
};

Sweep sweep_of(const std::string& type, const std::vector<Cost>& costs, uint64_t before = 1000) {
  Sweep sweep{{SweepKind::quantise_tensors, type, ""}, costs.size()};
  for (size_t i = 0; i < costs.size(); ++i) {
    const std::string scope = "t." + std::to_string(i);
    SweepRow row{{scope, {"quantise", {{"scope", scope}, {"type", type}}}, {before, costs[i].bytes}}};
    row.change.kl = costs[i].kl;
    sweep.rows.push_back(row);
  }
  sweep.other_bytes = 50;
  return sweep;
}

MixTable table_of(const std::vector<Sweep>& sweeps) {
  const auto table = mix_table(sweeps);
  EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().to_string());
  return table.ok() ? *table : MixTable{};
}

/// The least distance of all mixes of at most so many bytes, of whatever each sweep measured.
double best_of_all(const std::vector<Sweep>& sweeps, uint64_t most_bytes, size_t tensor = 0,
                   uint64_t bytes = 50) {
  if (bytes > most_bytes) return std::numeric_limits<double>::infinity();
  if (tensor == sweeps.front().rows.size()) return 0;
  double best = best_of_all(sweeps, most_bytes, tensor + 1, bytes + 1000);
  for (const Sweep& sweep : sweeps) {
    const SweepRow& row = sweep.rows[tensor];
    best = std::min(best,
                    *row.change.kl + best_of_all(sweeps, most_bytes, tensor + 1, bytes + row.stored.after));
  }
  return best;
}

std::vector<Sweep> random_sweeps(std::mt19937& random, size_t tensors) {
  const auto cost = [&](uint64_t bytes, double scale) {
    std::vector<Cost> costs;
    for (size_t i = 0; i < tensors; ++i)
      costs.push_back({bytes + random() % 50, scale * std::uniform_real_distribution(0.1, 3.0)(random)});
    return costs;
  };
  return {sweep_of("q8_0", cost(800, 0.001)), sweep_of("q5_0", cost(550, 0.02)),
          sweep_of("q4_0", cost(450, 0.1)), sweep_of("q2_k", cost(250, 1))};
}

TEST(Mix, TakesWhatBringsTheMostForItsBytes) {
  const MixTable table = table_of({sweep_of("q4_0", {{400, 0.3}, {400, 0.01}, {400, 0.02}})});
  EXPECT_EQ(table.least_bytes(), 50 + 3 * 400U);
  EXPECT_EQ(table.most_bytes(), 50 + 3 * 1000U);
  const auto mix = mix_for(table, 50 + 400 + 400 + 1000);
  ASSERT_TRUE(mix.ok()) << mix.error().to_string();
  EXPECT_EQ(mix->bytes, 1850U);
  EXPECT_NEAR(mix->distance, 0.03, 1e-12) << "the first one stays as it is";
  const auto edits = edits_of(table, *mix);
  ASSERT_EQ(edits.size(), 1U);
  EXPECT_EQ(edits[0].to_string(), "quantise scope=t.1,t.2 type=q4_0");
  EXPECT_NEAR(table.bits_of(table.bytes_of(4.5)), 4.5, 0.02);
}

TEST(Mix, IsAsGoodAsTheBestOfAllWhereOneChoiceMoreDoesNotFit) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<Sweep> sweeps = random_sweeps(random, 5);
    const MixTable table = table_of(sweeps);
    const std::vector<Mix> curve = mix_curve(table);
    for (size_t i = 0; i < curve.size(); ++i) {
      const auto mix = mix_for(table, curve[i].bytes);
      ASSERT_TRUE(mix.ok());
      EXPECT_NEAR(mix->distance, best_of_all(sweeps, curve[i].bytes), 1e-9) << "at a point of the curve";
      if (i + 1 == curve.size()) break;
      const uint64_t between = (curve[i].bytes + curve[i + 1].bytes) / 2;
      const auto less = mix_for(table, between);
      ASSERT_TRUE(less.ok());
      EXPECT_LE(less->bytes, between);
      EXPECT_LE(less->distance, curve[i].distance + 1e-12);
      EXPECT_GE(best_of_all(sweeps, between), curve[i + 1].distance - 1e-9) << "no mix beats the next point";
    }
  }
}

TEST(Mix, LeavesOutWhatOthersBeat) {
  const MixTable table = table_of({sweep_of("q4_0", {{400, 0.3}}), sweep_of("q5_0", {{500, 0.4}}),
                                   sweep_of("q8_0", {{1100, 0.001}}), sweep_of("q6_k", {{950, 0.29}})});
  ASSERT_EQ(table.tensors.size(), 1U);
  const auto& choices = table.tensors[0].choices;
  ASSERT_EQ(choices.size(), 2U) << "q5_0 is worse and larger, q8_0 larger than as it is, q6_k hardly better";
  EXPECT_EQ(choices[0].type, "q4_0");
  EXPECT_EQ(choices[1].type, "");
}

TEST(Mix, RefusesWhatItCannotBeMadeOf) {
  EXPECT_FALSE(mix_table({}).ok());
  const std::vector<Sweep> layers{Sweep{{SweepKind::bypass_layers, "", ""}, 1}};
  EXPECT_THAT(mix_table(layers).error().to_string(), HasSubstr("types of tensors"));
  Sweep other = sweep_of("q5_0", {{500, 0.1}});
  other.conditions["precision"] = "exact";
  std::vector<Sweep> different{sweep_of("q4_0", {{400, 0.3}}), other};
  different[0].conditions["precision"] = "balanced";
  EXPECT_THAT(mix_table(different).error().to_string(), HasSubstr("(precision)"));
  std::vector<Sweep> old{sweep_of("q4_0", {{400, 0.3}}, 0)};
  EXPECT_THAT(mix_table(old).error().to_string(), HasSubstr("sweep again"));
  const MixTable table = table_of({sweep_of("q4_0", {{400, 0.3}})});
  EXPECT_THAT(mix_for(table, 449).error().to_string(), HasSubstr("takes 450 bytes"));
}

}  // namespace
}  // namespace orrery::api
