// Turns what the rows of convolution_channels.cuh read, and the row cuda.channels.
#include "kernels/cuda/convolution_channels.cuh"

namespace orrery::kernels::cuda {
namespace channels {
namespace {

constexpr int64_t kFewChannels = 16;  // below, most of a step would be zeros
constexpr int64_t kMostTaps = 128;    // more would leave stages no room beside their table
constexpr size_t kMostRoom = size_t{1} << 30;

constexpr int64_t padded(int64_t channels) { return (channels + kProduct - 1) / kProduct * kProduct; }

/// `count` matrices [channels][cols] become rows of channels, of which there are `padded`, the last ones
/// zeros.
struct Turning {
  const uint16_t* from;
  uint16_t* to;
  int count, channels, cols, padded;
  // Where column j of matrix i goes. Columns come in runs of `period`, of which first all first ones go, then
  // all second ones; `inner` matrices share rows, column after column of all.
  int period, inner;

  __device__ int64_t row(int i, int j) const {
    const int dealt = j % period * (cols / period) + j / period;
    return static_cast<int64_t>(i / inner) * inner * cols + static_cast<int64_t>(dealt) * inner + i % inner;
  }
  /// A block turns so many columns, and of matrices that have few of them more channels.
  static constexpr int kCols = 64;
  __host__ __device__ int channels_of_block() const { return cols <= kCols / 4 ? 256 : 64; }
  __host__ __device__ int across() const { return (cols + kCols - 1) / kCols; }
  __host__ __device__ int down() const { return (padded + channels_of_block() - 1) / channels_of_block(); }
  int blocks() const { return count * across() * down(); }
  /// Whether rows of matrices of many columns, or what a block takes of those of few, begin at multiples of
  /// 16 bytes.
  bool is_wide() const { return is_aligned(from) && (cols > kCols ? cols : channels * cols) % 8 == 0; }
};

constexpr int kTurnThreads = 256;

// Of what a block turns: rows of 64 columns begin an odd number of banks apart; those of few lie as in
// memory.
constexpr int kTileStride = Turning::kCols + 2;

/// Of matrices of few columns: what lies next to each other. Without a division, which would take longer than
/// the rest.
__device__ void load_run(const uint16_t* from, int count, int there, bool wide, uint16_t* to) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (wide) {
    for (int i = 8 * thread; i < count; i += 8 * kTurnThreads)
      *reinterpret_cast<uint4*>(to + i) =
          i < there ? *reinterpret_cast<const uint4*>(from + i) : uint4{0, 0, 0, 0};
  } else {
#pragma unroll 4
    for (int i = thread; i < count; i += kTurnThreads) to[i] = i < there ? from[i] : uint16_t{0};
  }
}

/// Of others: 64 channels of 64 columns, as far as there are any.
__device__ void load_rows(const uint16_t* from, int stride, int channels, int cols, bool wide, uint16_t* to) {
  constexpr int kChannels = 64;
  const auto thread = static_cast<int>(threadIdx.x);
  if (wide) {
    constexpr int kEach = Turning::kCols / 8;
#pragma unroll
    for (int i = thread; i < kChannels * kEach; i += kTurnThreads) {
      const int channel = i / kEach, col = i % kEach * 8;
      uint4 x{0, 0, 0, 0};
      if (channel < channels && col < cols)
        x = *reinterpret_cast<const uint4*>(from + static_cast<int64_t>(channel) * stride + col);
      auto* const at = reinterpret_cast<uint32_t*>(to + channel * kTileStride + col);
      at[0] = x.x, at[1] = x.y, at[2] = x.z, at[3] = x.w;
    }
  } else {
#pragma unroll 4
    for (int i = thread; i < kChannels * Turning::kCols; i += kTurnThreads) {
      const int channel = i / Turning::kCols, col = i % Turning::kCols;
      to[channel * kTileStride + col] =
          channel < channels && col < cols ? from[static_cast<int64_t>(channel) * stride + col] : uint16_t{0};
    }
  }
}

/// src and the weights, whose blocks come after those of src.
__global__ void __launch_bounds__(kTurnThreads)
    turn_kernel(const __grid_constant__ Turning src, const __grid_constant__ Turning weight,
                int blocks_of_src, bool src_is_wide, bool weight_is_wide) {
  __shared__ __align__(16) uint16_t tile[64 * kTileStride];
  const auto index = static_cast<int>(blockIdx.x);
  const bool is_src = index < blocks_of_src, wide = is_src ? src_is_wide : weight_is_wide;
  const Turning& turn = is_src ? src : weight;
  const int block = is_src ? index : index - blocks_of_src;
  const int channels = turn.channels_of_block();
  const int first_col = block % turn.across() * Turning::kCols;
  const int first_channel = block / turn.across() % turn.down() * channels;
  const int matrix = block / turn.across() / turn.down();
  const int cols = min(turn.cols - first_col, Turning::kCols),
            there = min(turn.channels - first_channel, channels);
  const uint16_t* const from =
      turn.from + (static_cast<int64_t>(matrix) * turn.channels + first_channel) * turn.cols + first_col;
  const bool is_run = turn.cols <= Turning::kCols;
  const int stride = is_run ? cols : kTileStride;
  pdl_wait();
  if (is_run)
    load_run(from, channels * cols, there * cols, wide, tile);
  else
    load_rows(from, turn.cols, there, cols, wide, tile);
  __syncthreads();
  const int chunks = channels / 8;  // a power of two
  for (int i = static_cast<int>(threadIdx.x); i < cols * chunks; i += kTurnThreads) {
    const int col = channels == 64 ? i / 8 : i / 32, channel = i % chunks * 8;
    if (first_channel + channel >= turn.padded) continue;
    const auto pair = [&](int k) {
      const uint16_t* const low = tile + (channel + k) * stride + col;
      return low[0] | static_cast<uint32_t>(low[stride]) << 16;
    };
    *reinterpret_cast<uint4*>(turn.to + turn.row(matrix, first_col + col) * turn.padded + first_channel +
                              channel) = {pair(0), pair(2), pair(4), pair(6)};
  }
}

/// Elements of the workspace.
struct Room {
  int64_t src, weight;
  explicit Room(const Convolution::Problem& problem) {
    const int64_t channels = padded(problem.channels);
    src = problem.batch * problem.groups * volume(problem.src_size) * channels;
    weight = problem.groups * problem.window.taps() * problem.outputs * channels;
  }
};

}  // namespace

bool reads_plainly(const Convolution::Args& args) {
  const Convolution::Problem& problem = args.problem;
  for (int d = 0; d < kSpatial; ++d)
    if (problem.window.kernel[d] != 1 || problem.window.stride[d] != 1 || problem.window.padding[d] != 0 ||
        problem.src_size[d] != problem.dst_size[d])
      return false;
  return !problem.transposed && problem.channels % kProduct == 0 && volume(problem.src_size) % 8 == 0 &&
         is_aligned(args.src) && is_aligned(args.weight);
}

Turned turn_operands(const Convolution::Args& args, const Launch& launch) {
  const Convolving c(args);
  if (reads_plainly(args))
    return {static_cast<const uint16_t*>(args.src), static_cast<const uint16_t*>(args.weight), c.channels};
  const auto channels = static_cast<int>(padded(c.channels));
  const auto turning = [&](const void* from, uint16_t* to, int count, int cols, int period, int inner) {
    return Turning{.from = static_cast<const uint16_t*>(from),
                   .to = to,
                   .count = count,
                   .channels = c.channels,
                   .cols = cols,
                   .padded = channels,
                   .period = period,
                   .inner = inner};
  };
  auto* const to = reinterpret_cast<uint16_t*>(launch.workspace);
  const Turning src = turning(args.src, to, c.batch * c.groups, c.src_volume, 1, 1);
  uint16_t* const weights = to + Room(args.problem).src;
  const Turning weight =
      args.problem.transposed
          ? turning(args.weight, weights, c.groups, c.outputs * c.taps, c.taps, 1)      // of [output][tap]
          : turning(args.weight, weights, c.groups * c.outputs, c.taps, 1, c.outputs);  // of [tap]
  launch_kernel(launch, turn_kernel, dim3(static_cast<unsigned>(src.blocks() + weight.blocks())),
                dim3(kTurnThreads), 0, src, weight, src.blocks(), src.is_wide(), weight.is_wide());
  return {to, weights, channels};
}

size_t turned_bytes(const Convolution::Problem& problem) {
  const Room room(problem);
  return static_cast<size_t>(room.src + room.weight) * sizeof(uint16_t);
}

Row<Convolution> row_of(std::string_view name,
                        std::string (*supports)(const Convolution::Problem&, const Machine&),
                        void (*run)(const Convolution::Args&, const Launch&)) {
  return {.name = name,
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run,
          .workspace = [](const Convolution::Problem& problem, const Machine&,
                          int) { return turned_bytes(problem); },
          .arithmetic = Arithmetic::bf16,
          .source = "cuda/convolution_channels.cuh"};
}

std::string refusal(const Convolution::Problem& problem) {
  if (std::string reason = refusal_of_tiles(problem); !reason.empty()) return reason;
  if (problem.src == DType::f32) return "f32; the tensor cores would round it";
  if (problem.channels < kFewChannels)
    return std::to_string(problem.channels) + " channels of a group; it pays from " +
           std::to_string(kFewChannels);
  if (problem.window.taps() > kMostTaps)
    return std::to_string(problem.window.taps()) + " taps; it takes at most " + std::to_string(kMostTaps);
  if (const size_t bytes = turned_bytes(problem); bytes > kMostRoom)
    return std::to_string(bytes >> 20) + " MiB for src and weights turned; it takes at most " +
           std::to_string(kMostRoom >> 20);
  return {};
}

namespace {

using MmaShape = Shape<1, 3>;  // of which two fit on most cards

template <DType kType, Reads kReads>
struct MmaSums {
  static constexpr DType type = kType;
  static constexpr int kDown = 2, kAcross = 8;  // products of 16 x 8
  float at[kDown][kAcross][4] = {};

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int output() { return static_cast<int>(threadIdx.x) / 64 * 32; }
  __device__ static int place() { return static_cast<int>(threadIdx.x) / 32 % 2 * 64; }

  __device__ void meet() const { __syncthreads(); }
  __device__ void begin(uint32_t stage) {
    const uint32_t places = stage + MmaShape::outputs * kRowBytes;
    for (int k = 0; k < kDepth / kProduct; ++k) {
      uint4 a[kDown], b[kAcross / 2];
#pragma unroll
      for (int r = 0; r < kDown; ++r)
        a[r] = load_matrices(chunk_at(stage, output() + 16 * r + lane() % 16, 2 * k + lane() / 16));
#pragma unroll
      for (int p = 0; p < kAcross / 2; ++p)
        if constexpr (kReads == Reads::plain)
          b[p] = load_transposed(
              chunk_at(places + place() / 64 * kHalfBytes, 16 * k + lane() % 16, 2 * p + lane() / 16));
        else
          b[p] = load_matrices(
              chunk_at(places, place() + 16 * p + lane() % 8 + lane() / 16 * 8, 2 * k + lane() / 8 % 2));
#pragma unroll
      for (int r = 0; r < kDown; ++r)
#pragma unroll
        for (int p = 0; p < kAcross / 2; ++p) {
          multiply_halves<kType>(at[r][2 * p], a[r], b[p].x, b[p].y);
          multiply_halves<kType>(at[r][2 * p + 1], a[r], b[p].z, b[p].w);
        }
    }
  }
  __device__ void wait() const {}
  __device__ void finish() const {}
  /// visit(output, place, sum, that of the next place)
  template <class Visit>
  __device__ void each_pair(Visit&& visit) const {
#pragma unroll
    for (int r = 0; r < kDown; ++r)
#pragma unroll
      for (int p = 0; p < kAcross; ++p)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          visit(output() + 16 * r + lane() / 4 + 8 * half, place() + 8 * p + lane() % 4 * 2,
                at[r][p][2 * half], at[r][p][2 * half + 1]);
  }
};

template <DType kType, Reads kReads>
__global__ void __launch_bounds__(MmaShape::threads, 2)
    channels_kernel(const __grid_constant__ Convolving c, const __grid_constant__ Turned turned) {
  convolve<MmaShape, MmaSums<kType, kReads>, kReads>(c, turned);
}

template <DType kType>
void start(const Convolution::Args& args, const Launch& launch) {
  const Turned turned = turn_operands(args, launch);
  with_reads(args, [&]<Reads kReads>() {
    start_blocks<MmaShape>(channels_kernel<kType, kReads>, Convolving(args), turned, launch);
  });
}

void run(const Convolution::Args& args, const Launch& launch) {
  if (args.problem.batch <= 0) return;
  args.problem.src == DType::f16 ? start<DType::f16>(args, launch) : start<DType::bf16>(args, launch);
}

std::string supports(const Convolution::Problem& problem, const Machine& machine) {
  if (std::string reason = refusal(problem); !reason.empty()) return reason;
  return without_shared(MmaShape::shared_bytes(problem.window.taps()), machine.card);
}

}  // namespace
}  // namespace channels

Row<Convolution> channels_convolution_row() {
  return channels::row_of("cuda.channels", channels::supports, channels::run);
}

}  // namespace orrery::kernels::cuda
