// Rows of CausalConvolution and SelectiveScan, fastest first. Blocks of channels of each sequence are split
// over the team; a thread takes its block through all tokens of the step.
#include "kernels/scan.h"

#include "kernels/cpu/isa/scan.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kBlock = 64;  // channels: four cache lines of each row

/// body(run, first channel, channels) for each block of channels of what a page of a sequence gets; `cost`:
/// of a channel's token.
template <class Args, class Body>
void each_block(const Args& args, const Launch& launch, int64_t cost, const Body& body) {
  const Ragged& ragged = args.ragged;
  if (ragged.sequences == 0) return;
  const int64_t channels = args.problem.channels;
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  const int64_t tokens = (ragged.sequence_starts[ragged.sequences] + ragged.sequences - 1) / ragged.sequences;
  split(launch, ragged.sequences * blocks, std::max<int64_t>(tokens, 1) * kBlock * cost,
        [&](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t first = item % blocks * kBlock;
            const int64_t count = std::min(kBlock, channels - first);
            each_page_run(ragged, args.record, item / blocks,
                          [&](const PageRun& run) { body(run, first, count); });
          }
        });
}

const float* from_channel(const float* first, int64_t channel) {
  return first != nullptr ? first + channel : nullptr;
}

template <const ScanTable& kTable>
void convolve(const CausalConvolution::Args& args, const Launch& launch) {
  const auto [channels, kernel] = args.problem;
  each_block(args, launch, kernel, [&](const PageRun& run, int64_t first, int64_t count) {
    const int64_t offset = run.row * channels + first;
    kTable.convolve({.src = args.src + offset,
                     .dst = args.dst + offset,
                     .weight = args.weight + first,
                     .bias = from_channel(args.bias, first),
                     .before = from_channel(run.before, first),
                     .after = run.after + first,
                     .stride = channels,
                     .count = count,
                     .kernel = kernel,
                     .tokens = run.tokens});
  });
}

template <const ScanTable& kTable>
void scan(const SelectiveScan::Args& args, const Launch& launch) {
  const auto [channels, states] = args.problem;
  each_block(args, launch, 8 * states, [&](const PageRun& run, int64_t first, int64_t count) {
    const int64_t offset = run.row * channels + first;
    kTable.scan({.src = args.src + offset,
                 .delta = args.delta + offset,
                 .a = args.a + first,
                 .d = args.d + first,
                 .dst = args.dst + offset,
                 .before = from_channel(run.before, first),
                 .after = run.after + first,
                 .b = args.b + run.row * states,
                 .c = args.c + run.row * states,
                 .stride = channels,
                 .count = count,
                 .states = states,
                 .tokens = run.tokens});
  });
}

template <CpuFeatures features>
std::string scans(const SelectiveScan::Problem& problem, const Machine& machine) {
  if (problem.states > ScanRun::kMostStates) return "more than 64 states a channel";
  return legal_on<SelectiveScan, ref::legal, features>(problem, machine);
}

}  // namespace

std::span<const Row<CausalConvolution>> causal_convolution_rows() {
  static const Row<CausalConvolution> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<CausalConvolution, ref::legal, kAvx512>,
       .run = convolve<avx512::kScan>,
       .source = "cpu/isa/scan.cpp"},
      {.name = "cpu.avx2",
       .supports = legal_on<CausalConvolution, ref::legal, kAvx2>,
       .run = convolve<avx2::kScan>,
       .source = "cpu/isa/scan.cpp"},
      {.name = "cpu.reference",
       .supports = on_any_machine<CausalConvolution, ref::legal>,
       .run = ref::causal_convolution,
       .source = "ref/scan.cpp"},
  };
  return rows;
}

std::span<const Row<SelectiveScan>> selective_scan_rows() {
  static const Row<SelectiveScan> rows[] = {
      {.name = "cpu.avx512",
       .supports = scans<kAvx512>,
       .run = scan<avx512::kScan>,
       .source = "cpu/isa/scan.cpp"},
      {.name = "cpu.avx2", .supports = scans<kAvx2>, .run = scan<avx2::kScan>, .source = "cpu/isa/scan.cpp"},
      {.name = "cpu.reference",
       .supports = on_any_machine<SelectiveScan, ref::legal>,
       .run = ref::selective_scan,
       .source = "ref/scan.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
