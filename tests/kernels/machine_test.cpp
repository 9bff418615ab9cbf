// Which rows are chosen for machines described by hand, and what this machine is found to be.
#include "kernels/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/rows.h"
#include "kernels/device_module.h"
#include "tests/support/machines.h"

namespace orrery::kernels {
namespace {

using ::testing::HasSubstr;
using namespace machines;  // NOLINT: names of machines

struct Named {
  const char* name;
  Machine machine;
};
const Named kCpus[] = {{"baseline", baseline},
                       {"Haswell", haswell},
                       {"Alder Lake", alder_lake},
                       {"Skylake-X", skylake_x},
                       {"Cascade Lake", cascade_lake},
                       {"Ice Lake", ice_lake},
                       {"Zen 4", zen4},
                       {"Sapphire Rapids", sapphire_rapids}};
const Named kCards[] = {{"A100", a100},
                        {"RTX 3090", rtx3090},
                        {"RTX 4090", rtx4090},
                        {"H100", h100},
                        {"H200", h200},
                        {"B200", b200},
                        {"RTX 5090", rtx5090},
                        {"H100 by PTX", by_ptx(h100)},
                        {"RTX 5090 by PTX", by_ptx(rtx5090)}};

Linear::Problem linear(DType weight, int64_t tokens, int64_t cols = 4096, int64_t rows = 4096) {
  Linear::Problem problem;
  problem.tokens = tokens;
  problem.cols = cols;
  problem.segments[0] = {rows, weight};
  return problem;
}

/// Of a step; decode: one token.
Attention::Problem attention(int64_t tokens, DType kv = DType::f16, int64_t head_dim = 128,
                             int64_t heads = 32) {
  return {.kv = kv, .heads = heads, .kv_heads = heads / 4, .head_dim = head_dim, .tokens = tokens};
}

Attention::Problem encoder(int64_t tokens) {
  return {.keys = Attention::Keys::packed,
          .kv = DType::f32,
          .heads = 12,
          .kv_heads = 12,
          .head_dim = 64,
          .tokens = tokens,
          .causal = false};
}

template <class Op>
std::string_view chosen(DeviceKind device, const typename Op::Problem& problem, const Machine& machine) {
  const Row<Op>* row = select(rows_of<Op>(device), problem, machine).row;
  return row != nullptr ? row->name : "none";
}
template <class Op>
std::string_view on_cpu(const typename Op::Problem& problem, const Machine& machine) {
  return chosen<Op>(DeviceKind::cpu, problem, machine);
}
template <class Op>
std::string_view on_card(const typename Op::Problem& problem, const Machine& machine) {
  return chosen<Op>(DeviceKind::cuda, problem, machine);
}

/// Why the named row does not take the problem.
template <class Op>
std::string refusal(DeviceKind device, std::string_view name, const typename Op::Problem& problem,
                    const Machine& machine) {
  for (const Row<Op>& row : rows_of<Op>(device))
    if (row.name == name) return row.supports(problem, machine);
  return "there is no such row";
}

bool has_module() {
  std::string reason;
  return cuda_module(reason) != nullptr;
}

/// Each op with the problems of models of usual sizes: body.template operator()<Op>(problem).
template <class Body>
void each_typical_problem(Body&& body) {
  for (const int64_t tokens : {1, 3, 8, 16, 17, 64, 512, 4096}) {
    for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
      const auto type = static_cast<DType>(i);
      if (!is_quantised(type) && !is_f8(type) && type != DType::f32 && type != DType::f16 &&
          type != DType::bf16)
        continue;
      for (const int64_t cols : {256, 4096, 28672})
        body.template operator()<Linear>(linear(type, tokens, cols));
    }
    for (const DType kv : {DType::f32, DType::f16, DType::bf16, DType::q8_0})
      for (const int64_t head_dim : {64, 96, 128, 256})
        for (const int64_t heads : {4, 32, 64})
          body.template operator()<Attention>(attention(tokens, kv, head_dim, heads));
    body.template operator()<Attention>(encoder(tokens));
    body.template operator()<Norm>({Norm::Kind::rms, 4096, false});
    body.template operator()<Rope>({Rope::Style::half, 128, 128});
    body.template operator()<Sample>({128256});
  }
}

// ---- CPUs ----

TEST(MachineRows, every_cpu_has_a_row_for_every_problem) {
  for (const Named& cpu : kCpus) {
    SCOPED_TRACE(cpu.name);
    each_typical_problem([&]<class Op>(const typename Op::Problem& problem) {
      EXPECT_NE(on_cpu<Op>(problem, cpu.machine), "none") << Op::kName;
    });
  }
}

TEST(MachineRows, int8_is_multiplied_where_there_are_products_of_bytes_and_int16_elsewhere) {
  const struct {
    Machine machine;
    const char *one, *many;
  } rows[] = {
      {baseline, "cpu.reference", "cpu.reference"},
      {haswell, "cpu.avx2.matvec", "cpu.avx2.matvec"},
      {alder_lake, "cpu.avx2_vnni.matvec_int8", "cpu.avx2_vnni.matvec_int8"},
      {skylake_x, "cpu.avx2.matvec", "cpu.avx2.matvec"},
      {cascade_lake, "cpu.avx512_vnni.matvec_int8", "cpu.avx512_vnni.tiles_int8"},
      {zen4, "cpu.avx512_vnni.matvec_int8", "cpu.avx512_vnni.tiles_int8"},
  };
  for (const auto& [machine, one, many] : rows) {
    SCOPED_TRACE(summary_of(machine.cpu.features));
    for (const DType type : {DType::q4_0, DType::q8_0, DType::q4_k, DType::iq4_xs}) {
      Linear::Problem problem = linear(type, 1);
      problem.precision = Precision::int8;
      EXPECT_EQ(on_cpu<Linear>(problem, machine), one);
      problem.tokens = 64;
      EXPECT_EQ(on_cpu<Linear>(problem, machine), many);
    }
  }
}

TEST(MachineRows, float32_weights_and_packed_keys_use_bf16_where_a_cpu_multiplies_it) {
  const struct {
    Machine machine;
    const char *linear, *attention;
  } rows[] = {{zen4, "cpu.avx512_bf16.tiles", "cpu.avx512_bf16.flash"},
              {sapphire_rapids, "cpu.amx_bf16.tiles", "cpu.amx_bf16.flash"}};
  for (const auto& [machine, linear_row, attention_row] : rows) {
    SCOPED_TRACE(summary_of(machine.cpu.features));
    EXPECT_EQ(on_cpu<Linear>(linear(DType::f32, 8), machine), linear_row);
    EXPECT_EQ(on_cpu<Attention>(encoder(128), machine), attention_row);
    for (const Precision finer : {Precision::exact, Precision::int16}) {
      Linear::Problem problem = linear(DType::f32, 8);
      problem.precision = finer;
      EXPECT_EQ(on_cpu<Linear>(problem, machine), "cpu.onednn.f32");
      Attention::Problem packed = encoder(128);
      packed.precision = finer;
      EXPECT_EQ(on_cpu<Attention>(packed, machine), "cpu.avx512.flash");
    }
  }
  EXPECT_EQ(on_cpu<Attention>(encoder(128), ice_lake), "cpu.avx512.flash");
  EXPECT_EQ(on_cpu<Attention>(encoder(128), haswell), "cpu.avx2.flash");
}

TEST(MachineRows, quantised_weights_use_the_products_of_bytes_that_a_cpu_has) {
  const struct {
    Machine machine;
    const char *one, *many;
  } rows[] = {
      {baseline, "cpu.reference", "cpu.reference"},
      {haswell, "cpu.avx2.matvec", "cpu.avx2.matvec"},
      {alder_lake, "cpu.avx2_vnni.matvec", "cpu.avx2_vnni.matvec"},
      {skylake_x, "cpu.avx2.matvec", "cpu.avx2.matvec"},
      {cascade_lake, "cpu.avx512_vnni.matvec", "cpu.avx512_vnni.tiles"},
      {ice_lake, "cpu.avx512_vnni.matvec", "cpu.avx512_vnni.tiles"},
      {zen4, "cpu.avx512_vnni.matvec", "cpu.avx512_vnni.tiles"},
      {sapphire_rapids, "cpu.avx512_vnni.matvec", "cpu.avx512_vnni.tiles"},
  };
  for (const auto& [machine, one, many] : rows) {
    SCOPED_TRACE(summary_of(machine.cpu.features));
    for (const DType type : {DType::q4_0, DType::q8_0, DType::q4_k, DType::q6_k, DType::iq4_xs}) {
      EXPECT_EQ(on_cpu<Linear>(linear(type, 1), machine), one);
      EXPECT_EQ(on_cpu<Linear>(linear(type, 64), machine), many);
    }
  }
}

TEST(MachineRows, bf16_is_multiplied_where_a_cpu_multiplies_it_and_else_read_as_stored) {
  EXPECT_EQ(on_cpu<Linear>(linear(DType::bf16, 8), haswell), "cpu.avx2.dot");
  EXPECT_EQ(on_cpu<Linear>(linear(DType::bf16, 8), alder_lake), "cpu.avx2.dot");
  EXPECT_EQ(on_cpu<Linear>(linear(DType::bf16, 8), cascade_lake), "cpu.avx512.dot");
  EXPECT_EQ(on_cpu<Linear>(linear(DType::f16, 8), ice_lake), "cpu.avx512.dot");
  EXPECT_EQ(on_cpu<Linear>(linear(DType::bf16, 8), zen4), "cpu.avx512_bf16.tiles");
  for (const int64_t tokens : {1, 8, 4096})  // in one form for all of them
    EXPECT_EQ(on_cpu<Linear>(linear(DType::f16, tokens), sapphire_rapids), "cpu.amx_bf16.tiles");
  EXPECT_EQ(on_cpu<Linear>(linear(DType::f32, 8), ice_lake), "cpu.onednn.f32");
}

TEST(MachineRows, floats_use_all_vectors_whether_or_not_there_is_more) {
  for (const Machine& machine : {skylake_x, cascade_lake, ice_lake, zen4, sapphire_rapids}) {
    EXPECT_EQ(on_cpu<Attention>(attention(1), machine), "cpu.avx512.flash");
    EXPECT_EQ(on_cpu<Norm>({Norm::Kind::rms, 4096, false}, machine), "cpu.avx512");
  }
  EXPECT_EQ(on_cpu<Attention>(attention(1), alder_lake), "cpu.avx2.flash");
}

TEST(MachineRows, a_cpu_is_told_what_it_lacks) {
  const Linear::Problem problem = linear(DType::q4_k, 1);
  const auto why = [&](std::string_view row, const Machine& machine) {
    return refusal<Linear>(DeviceKind::cpu, row, problem, machine);
  };
  EXPECT_EQ(why("cpu.avx512_vnni.matvec", haswell), "needs AVX-512, AVX-512 VNNI; the CPU has AVX2 FMA");
  EXPECT_EQ(why("cpu.avx512_vnni.matvec", skylake_x), "needs AVX-512 VNNI; the CPU has AVX-512");
  EXPECT_EQ(why("cpu.avx2_vnni.matvec", zen4), "needs AVX-VNNI; the CPU has AVX-512 VNNI BF16");
  EXPECT_EQ(why("cpu.avx2.matvec", baseline), "needs AVX2, FMA, F16C; the CPU has baseline x86-64");
  EXPECT_EQ(refusal<Linear>(DeviceKind::cpu, "cpu.amx_bf16.tiles", linear(DType::bf16, 8), zen4),
            "needs AMX, AMX BF16; the CPU has AVX-512 VNNI BF16");
  EXPECT_EQ(summary_of(alder_lake.cpu.features), "AVX2 FMA VNNI");
  EXPECT_EQ(summary_of(sapphire_rapids.cpu.features), "AVX-512 VNNI BF16 FP16 AMX");
}

// ---- cards ----

class CardRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_module()) GTEST_SKIP() << "the CUDA module was not built";
  }
};

TEST_F(CardRows, every_card_has_a_row_for_every_problem) {
  for (const Named& card : kCards) {
    SCOPED_TRACE(card.name);
    each_typical_problem([&]<class Op>(const typename Op::Problem& problem) {
      EXPECT_NE(on_card<Op>(problem, card.machine), "none") << Op::kName;
    });
  }
}

TEST_F(CardRows, linear_is_the_same_on_all_cards_but_for_rows_that_shared_memory_does_not_hold) {
  for (const Named& card : kCards) {
    SCOPED_TRACE(card.name);
    EXPECT_EQ(on_card<Linear>(linear(DType::q4_k, 1), card.machine), "cuda.matvec");
    EXPECT_EQ(on_card<Linear>(linear(DType::q4_k, 64), card.machine), "cuda.tiles");
    EXPECT_EQ(on_card<Linear>(linear(DType::q4_k, 1024), card.machine), "cuda.dense");
  }
  const Linear::Problem wide = linear(DType::q4_k, 1, 28672, 8192);
  EXPECT_EQ(on_card<Linear>(wide, h200), "cuda.matvec");
  EXPECT_EQ(on_card<Linear>(wide, a100), "cuda.matvec");
  for (const Machine& machine : {rtx3090, rtx4090, rtx5090}) {
    EXPECT_EQ(on_card<Linear>(wide, machine), "cuda.tiles");
    EXPECT_THAT(refusal<Linear>(DeviceKind::cuda, "cuda.matvec", wide, machine),
                HasSubstr("exceed shared memory"));
  }
}

TEST_F(CardRows, attention_runs_in_clusters_from_hopper_on_and_is_split_before) {
  for (const Machine& machine : {h100, h200, b200, rtx5090}) {
    EXPECT_EQ(on_card<Attention>(attention(1), machine), "cuda.flash_decode");
    EXPECT_EQ(on_card<Attention>(attention(512), machine), "cuda.flash");
  }
  for (const Machine& machine : {a100, rtx3090, rtx4090, by_ptx(h200), by_ptx(rtx5090)}) {
    EXPECT_EQ(on_card<Attention>(attention(1), machine), "cuda.split_decode");
    EXPECT_EQ(on_card<Attention>(attention(512), machine), "cuda.split_flash");
    EXPECT_EQ(on_card<Attention>(encoder(128), machine), "cuda.flash_packed");
  }
  EXPECT_THAT(refusal<Attention>(DeviceKind::cuda, "cuda.flash_decode", attention(1), rtx3090),
              HasSubstr("compute capability 9.0 have; this one has 8.6"));
  EXPECT_THAT(refusal<Attention>(DeviceKind::cuda, "cuda.flash", attention(512), by_ptx(h100)),
              HasSubstr("built for compute capability 9.0; the module has those of 8.0"));
}

TEST_F(CardRows, fastmax_has_one_row_for_all_cards) {
  for (const Machine& machine : {h200, rtx5090, a100, rtx3090, rtx4090, by_ptx(h100)}) {
    for (const int64_t head_dim : {64, 128, 256}) {
      for (const DType kv : {DType::f32, DType::f16, DType::q8_0}) {
        Attention::Problem problem = attention(1, kv, head_dim);
        problem.kind = Attention::Kind::fastmax;
        EXPECT_EQ(on_card<Attention>(problem, machine), "cuda.fastmax");
      }
    }
  }
  Attention::Problem problem = attention(1);
  problem.kind = Attention::Kind::fastmax;
  EXPECT_THAT(refusal<Attention>(DeviceKind::cuda, "cuda.flash_decode", problem, h200),
              HasSubstr("the weights are those of Fastmax, not of a softmax"));
}

TEST_F(CardRows, a_row_that_asks_for_more_shared_memory_than_a_block_has_is_refused) {
  const Attention::Problem wide = attention(512, DType::bf16, 256);
  EXPECT_EQ(on_card<Attention>(wide, h200), "cuda.flash");
  EXPECT_EQ(on_card<Attention>(wide, a100), "cuda.split_flash");
  EXPECT_EQ(on_card<Attention>(wide, rtx4090), "cuda.general");
  EXPECT_THAT(refusal<Attention>(DeviceKind::cuda, "cuda.split_flash", wide, rtx4090),
              HasSubstr("KB of shared memory; a block of the card has 99"));
  EXPECT_EQ(on_card<Attention>(attention(512, DType::bf16), rtx4090), "cuda.split_flash")
      << "tiles of half the keys fit";
  // Sixteen heads of 256 elements that share one of the keys: groups too large for a cluster of eight.
  const Attention::Problem heavy{.kv = DType::f16, .heads = 16, .kv_heads = 1, .head_dim = 256, .tokens = 1};
  EXPECT_EQ(on_card<Attention>(heavy, h200), "cuda.flash_decode");
  EXPECT_EQ(on_card<Attention>(heavy, rtx5090), "cuda.split_decode");
}

TEST_F(CardRows, tokens_are_drawn_by_clusters_or_by_blocks) {
  const Sample::Problem problem{128256};
  EXPECT_EQ(on_card<Sample>(problem, h200), "cuda.top");
  EXPECT_EQ(on_card<Sample>(problem, b200), "cuda.top");
  EXPECT_EQ(on_card<Sample>(problem, rtx5090), "cuda.top");
  for (const Machine& machine : {a100, rtx3090, rtx4090, by_ptx(h100)})
    EXPECT_EQ(on_card<Sample>(problem, machine), "cuda.top_by_block");
}

TEST_F(CardRows, operands_at_any_address_go_to_the_general_rows) {
  Linear::Problem problem = linear(DType::q4_k, 1);
  problem.aligned = false;
  EXPECT_EQ(on_card<Linear>(problem, h200), "cuda.general");
  Attention::Problem attended = attention(1);
  attended.aligned = false;
  EXPECT_EQ(on_card<Attention>(attended, h200), "cuda.general");
}

TEST_F(CardRows, workspaces_follow_the_card) {
  const Linear::Problem problem = linear(DType::q4_k, 64);
  for (const Row<Linear>& row : rows_of<Linear>(DeviceKind::cuda)) {
    if (row.name != "cuda.tiles") continue;
    EXPECT_LT(row.workspace(problem, rtx3090, 0), row.workspace(problem, h200, 0));
    EXPECT_GT(row.workspace(problem, rtx5090, 0), row.workspace(problem, h200, 0));
  }
}

// ---- this machine ----

TEST(ThisMachine, has_the_features_that_the_system_names) {
  std::ifstream info("/proc/cpuinfo");
  std::string line, flags;
  while (flags.empty() && std::getline(info, line))
    if (line.rfind("flags", 0) == 0) flags = line + " ";
  if (flags.empty()) GTEST_SKIP() << "the system names no features";
  const auto named = [&](const std::string& flag) {
    return flags.find(" " + flag + " ") != std::string::npos;
  };
  const char* wish = std::getenv("ORRERY_ISA");
  const std::pair<CpuFeature, const char*> all[] = {
      {CpuFeature::avx2, "avx2"},
      {CpuFeature::fma, "fma"},
      {CpuFeature::f16c, "f16c"},
      {CpuFeature::avx_vnni, "avx_vnni"},
      {CpuFeature::avx512f, "avx512f"},
      {CpuFeature::avx512bw, "avx512bw"},
      {CpuFeature::avx512vl, "avx512vl"},
      {CpuFeature::avx512dq, "avx512dq"},
      {CpuFeature::avx512_vnni, "avx512_vnni"},
      {CpuFeature::avx512_vbmi, "avx512vbmi"},
      {CpuFeature::avx512_bf16, "avx512_bf16"},
      {CpuFeature::avx512_fp16, "avx512_fp16"},
      {CpuFeature::amx_tile, "amx_tile"},
      {CpuFeature::amx_int8, "amx_int8"},
      {CpuFeature::amx_bf16, "amx_bf16"},
  };
  for (const auto& [feature, flag] : all) {
    const bool found = this_machine().cpu.features.has(feature);
    if (wish != nullptr && *wish != '\0') {
      EXPECT_TRUE(named(flag) || !found) << flag << ": ORRERY_ISA takes features away only";
    } else {
      EXPECT_EQ(found, named(flag)) << flag;
    }
  }
  EXPECT_GE(this_machine().cpu.cores, 1);
}

/// For the runs with ORRERY_ISA (CMakeLists.txt): the set is what is used, and rows that need more are
/// refused.
TEST(ThisMachine, uses_no_more_than_orrery_isa_names) {
  const char* wish = std::getenv("ORRERY_ISA");
  if (wish == nullptr || *wish == '\0') GTEST_SKIP() << "ORRERY_ISA is not set";
  if (!isa_summary().ends_with("(by ORRERY_ISA)")) GTEST_SKIP() << isa_summary();
  const std::map<std::string, const char*> rows = {{"baseline", "cpu.reference"},
                                                   {"avx2", "cpu.avx2.matvec"},
                                                   {"avx512", "cpu.avx2.matvec"},
                                                   {"avx512_vnni", "cpu.avx512_vnni.matvec"},
                                                   {"avx512_bf16", "cpu.avx512_vnni.matvec"},
                                                   {"amx_bf16", "cpu.avx512_vnni.matvec"}};
  ASSERT_TRUE(rows.contains(wish)) << wish;
  EXPECT_EQ(on_cpu<Linear>(linear(DType::q4_k, 1), this_machine()), rows.at(wish));
  EXPECT_EQ(on_cpu<Linear>(linear(DType::bf16, 1), this_machine()) == "cpu.avx512_bf16.tiles",
            std::string_view(wish) == "avx512_bf16");
  EXPECT_EQ(on_cpu<Linear>(linear(DType::bf16, 1), this_machine()) == "cpu.amx_bf16.tiles",
            std::string_view(wish) == "amx_bf16");
}

}  // namespace
}  // namespace orrery::kernels
