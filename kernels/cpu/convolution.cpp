// Rows of Convolution (convolution.h). cpu.onednn convolves part by part in float32, channels last:
//   A part is some rows of some columns of dst for a block of channels. A thread brings what the part reads
//   into its own memory, converted and turned so that channels are next to each other, with the zeros of the
//   padding around it; oneDNN multiplies; the thread turns the result back, adds the bias and rounds it.
//   A transpose is a convolution of what lies `stride` apart between zeros, with its taps in reverse.
//   Groups of few channels are taken several at a time. All parts have one shape, which depends on the
//   problem only: one primitive, created when the row is chosen. The last ones compute more than is kept.
//   workspace  packed weights; then per thread: the part of src, that of dst (or a block of weights before it
//              is packed), oneDNN's scratch
//   traffic    src once per block of 128 outputs, with the overlap of parts; weights three times (they are
//              packed in each call), dst once
#include "kernels/convolution.h"

#include <xmmintrin.h>

#include <algorithm>
#include <atomic>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/onednn_convolution.h"
#include "kernels/cpu/onednn_thread.h"

namespace orrery::kernels {
namespace {

using onednn::PartShape;

constexpr int64_t kPartPlaces = 512;       // of dst: enough for a call into the library
constexpr int64_t kWidest = 512;           // columns of a part, where rows are not cut
constexpr int64_t kPartBytes = 512 << 10;  // of src, which stays in L2
constexpr int64_t kMostOutputs = 128;      // of a block
constexpr int64_t kFewChannels = 16;       // of a group; they are taken by 64
constexpr int64_t kTurned = 16;            // channels that are turned at a time: a cache line
constexpr int64_t kAlign = 64;

int64_t parts_of(int64_t count, int64_t of) { return (count + of - 1) / of; }

/// to[c * to_stride + r] = from[r * from_stride + c], four by four.
void turn(const float* from, int64_t from_stride, int64_t rows, int64_t cols, float* to, int64_t to_stride) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* row = from + r * from_stride;
    int64_t c = 0;
    for (; c + 4 <= cols; c += 4) {
      __m128 a = _mm_loadu_ps(row + c), b = _mm_loadu_ps(row + from_stride + c),
             d = _mm_loadu_ps(row + 2 * from_stride + c), e = _mm_loadu_ps(row + 3 * from_stride + c);
      _MM_TRANSPOSE4_PS(a, b, d, e);
      float* place = to + c * to_stride + r;
      _mm_storeu_ps(place, a);
      _mm_storeu_ps(place + to_stride, b);
      _mm_storeu_ps(place + 2 * to_stride, d);
      _mm_storeu_ps(place + 3 * to_stride, e);
    }
    for (; c < cols; ++c)
      for (int64_t k = 0; k < 4; ++k) to[c * to_stride + r + k] = row[k * from_stride + c];
  }
  for (; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) to[c * to_stride + r] = from[r * from_stride + c];
}

/// How a problem is cut up.
struct Plan {
  PartShape part{};
  int64_t groups = 1, units = 1;  // of a part, and how many such
  int64_t blocks = 1;             // of outputs
  int64_t parts[kSpatial];        // of dst
  int64_t reach[kSpatial];        // where the first tap of place 0 reads, before element 0
  int64_t apart[kSpatial];        // elements of src lie so far from each other

  explicit Plan(const Convolution::Problem& problem) {
    if (problem.channels < kFewChannels)
      groups = std::min(problem.groups, kMostOutputs / 2 / std::min(problem.channels, kMostOutputs / 2));
    units = parts_of(problem.groups, groups);
    int64_t outputs = problem.outputs;
    if (groups == 1 && outputs > kMostOutputs) {
      const int64_t each = parts_of(outputs, parts_of(outputs, kMostOutputs));
      outputs = parts_of(each, kTurned) * kTurned;
    }
    blocks = parts_of(problem.outputs, outputs);
    part.groups = groups;
    part.channels = problem.channels;
    part.outputs = outputs;
    const Window& window = problem.window;
    for (size_t d = 0; d < kSpatial; ++d) {
      const auto at = static_cast<int>(d);
      part.kernel[d] = window.kernel[d];
      part.dilation[d] = window.kernel[d] > 1 ? window.dilation[d] : 1;
      part.stride[d] = problem.transposed ? 1 : window.stride[d];
      apart[d] = problem.transposed ? window.stride[d] : 1;
      reach[d] = problem.transposed ? window.extent(at) - 1 - window.padding[d] : window.padding[d];
    }
    const int64_t *size = problem.dst_size, width = size[2] <= kWidest ? size[2] : kWidest / 2;
    part.dst = {1, std::min(size[1], std::max<int64_t>(1, kPartPlaces / width)), width};
    while (part.dst[1] > 1 && part.src_elements() * int64_t{sizeof(float)} > kPartBytes) --part.dst[1];
    part.dst[1] = parts_of(size[1], parts_of(size[1], part.dst[1]));  // of nearly the same size
    for (size_t d = 0; d < kSpatial; ++d) parts[d] = parts_of(size[d], part.dst[d]);
  }
  int64_t all_parts() const { return volume(parts); }
};

/// Where things lie in the workspace of one call, in bytes.
struct Memory {
  int64_t packed, weights;  // of a block, of all
  int64_t dst, scratch, thread;

  Memory(const Plan& plan, const onednn::PartConvolution& convolution) {
    const auto aligned = [](int64_t bytes) { return parts_of(bytes, kAlign) * kAlign; };
    constexpr int64_t kFloat = sizeof(float);
    packed = aligned(static_cast<int64_t>(onednn::packed_bytes(convolution)));
    weights = packed * plan.units * plan.blocks;
    dst = aligned(plan.part.src_elements() * kFloat);  // after src
    scratch = std::max(dst + aligned(plan.part.dst_elements() * kFloat),
                       aligned(plan.part.weight_elements() * kFloat));
    thread = scratch + aligned(static_cast<int64_t>(onednn::scratch_bytes(convolution)));
  }
};

/// One call.
class ConvolutionRun {
 public:
  ConvolutionRun(const Convolution::Args& args, const Launch& launch,
                 const onednn::PartConvolution& convolution)
      : args_(args),
        p_(args.problem),
        launch_(launch),
        convolution_(convolution),
        plan_(p_),
        memory_(plan_, convolution) {}

  /// False when oneDNN failed; dst is then undefined.
  bool operator()() {
    split(launch_, plan_.units * plan_.blocks, plan_.part.weight_elements(),
          [&](int64_t begin, int64_t end, int thread) {
            const onednn::OneThread one;
            for (int64_t block = begin; block < end; ++block) pack(block, own(thread));
          });
    // Blocks of the same part share what is brought of src, unless that leaves threads without work.
    const int64_t places = p_.batch * plan_.units * plan_.all_parts();
    const int threads = launch_.team ? launch_.team->size() : 1;
    const int64_t each = places >= 4 * threads ? plan_.blocks : 1;
    split(launch_, places * (plan_.blocks / each), plan_.part.dst_elements() * p_.depth(),
          [&](int64_t begin, int64_t end, int thread) {
            const onednn::OneThread one;
            for (int64_t item = begin; item < end; ++item) {
              const int64_t place = item / (plan_.blocks / each), first = item % (plan_.blocks / each);
              convolve(place, first, first + each, own(thread));
            }
          });
    return !failed_;
  }

 private:
  std::byte* own(int thread) const { return launch_.workspace + memory_.weights + thread * memory_.thread; }
  std::byte* packed(int64_t unit, int64_t block) const {
    return launch_.workspace + (unit * plan_.blocks + block) * memory_.packed;
  }

  /// The weights of a block, (groups, outputs, channels, kernel) with zeros for those that are too many.
  void pack(int64_t number, std::byte* mine) {
    const int64_t unit = number / plan_.blocks, block = number % plan_.blocks;
    const int64_t taps = p_.window.taps();
    auto* plain = reinterpret_cast<float*>(mine);
    float* to = plain;
    for (int64_t g = unit * plan_.groups; g < (unit + 1) * plan_.groups; ++g)
      for (int64_t o = block * plan_.part.outputs; o < (block + 1) * plan_.part.outputs; ++o)
        for (int64_t c = 0; c < p_.channels; ++c, to += taps) {
          if (g >= p_.groups || o >= p_.outputs) {
            std::fill_n(to, taps, 0.0F);
            continue;
          }
          const int64_t pair =
              p_.transposed ? (g * p_.channels + c) * p_.outputs + o : (g * p_.outputs + o) * p_.channels + c;
          load_run(p_.weight, at(p_.weight, args_.weight, pair * taps), 1, taps, to);
          if (p_.transposed) std::reverse(to, to + taps);
        }
    if (!onednn::pack(convolution_, plain, packed(unit, block), mine + memory_.scratch)) failed_ = true;
  }

  void convolve(int64_t item, int64_t first_block, int64_t end_block, std::byte* mine) {
    const int64_t part = item % plan_.all_parts(), unit = item / plan_.all_parts() % plan_.units;
    const int64_t n = item / plan_.all_parts() / plan_.units;
    const int64_t place[kSpatial] = {part / (plan_.parts[1] * plan_.parts[2]) * plan_.part.dst[0],
                                     part / plan_.parts[2] % plan_.parts[1] * plan_.part.dst[1],
                                     part % plan_.parts[2] * plan_.part.dst[2]};
    auto* src = reinterpret_cast<float*>(mine);
    auto* dst = reinterpret_cast<float*>(mine + memory_.dst);
    bring(n, unit, place, src);
    for (int64_t block = first_block; block < end_block; ++block) {
      if (!onednn::run(convolution_, src, packed(unit, block), dst, mine + memory_.scratch)) failed_ = true;
      keep(n, unit, block, place, dst);
    }
  }

  /// What the part reads: (spatial, channels of the unit).
  void bring(int64_t n, int64_t unit, const int64_t (&place)[kSpatial], float* to) const {
    const int64_t wide = plan_.groups * p_.channels, row = plan_.part.src(2) * wide;
    int64_t from[kSpatial];  // the first element that is brought, counted with what lies between
    for (size_t d = 0; d < kSpatial; ++d) from[d] = place[d] * plan_.part.stride[d] - plan_.reach[d];
    const auto element = [&](int d, int64_t i) {  // -1: there is none
      const int64_t at = from[d] + i;
      return at < 0 || at % plan_.apart[d] != 0 || at / plan_.apart[d] >= p_.src_size[d]
                 ? -1
                 : at / plan_.apart[d];
    };
    for (int64_t z = 0; z < plan_.part.src(0); ++z)
      for (int64_t y = 0; y < plan_.part.src(1); ++y, to += row) {
        const int64_t deep = element(0, z), high = element(1, y);
        std::fill_n(to, row, 0.0F);
        if (deep >= 0 && high >= 0)
          bring_row(n, unit, (deep * p_.src_size[1] + high) * p_.src_size[2], from[2], to);
      }
  }

  /// A row of src that begins `offset` into a plane, to places from `from` on.
  void bring_row(int64_t n, int64_t unit, int64_t offset, int64_t from, float* to) const {
    const int64_t apart = plan_.apart[2], wide = plan_.groups * p_.channels;
    const int64_t first = std::max<int64_t>(0, parts_of(from, apart));  // element of src
    const int64_t end = std::min(p_.src_size[2], parts_of(from + plan_.part.src(2), apart));
    const int64_t all = p_.groups * p_.channels, begin = unit * wide, size = volume(p_.src_size);
    float rows[kTurned][kRun + kTurned];
    for (int64_t c = 0; c < wide && begin + c < all; c += kTurned) {
      const int64_t channels = std::min({kTurned, wide - c, all - begin - c});
      for (int64_t x = first; x < end; x += kRun) {
        const int64_t count = std::min(kRun, end - x);
        const int64_t element = (n * all + begin + c) * size + offset + x;
        const float* given = rows[0];
        int64_t given_stride = kRun + kTurned;
        if (p_.src == DType::f32) {
          given = static_cast<const float*>(args_.src) + element;
          given_stride = size;
        } else {
          for (int64_t j = 0; j < channels; ++j)
            load_run(p_.src, at(p_.src, args_.src, element + j * size), 1, count, rows[j]);
        }
        turn(given, given_stride, channels, count, to + (x * apart - from) * wide + c, apart * wide);
      }
    }
  }

  /// Brings what was convolved to dst, with its bias.
  void keep(int64_t n, int64_t unit, int64_t block, const int64_t (&place)[kSpatial],
            const float* from) const {
    const int64_t wide = plan_.groups * plan_.part.outputs, all = p_.groups * p_.outputs;
    const int64_t unit_outputs = plan_.groups * p_.outputs;
    const int64_t begin = unit * unit_outputs + block * plan_.part.outputs;
    const int64_t end = std::min({begin + wide, (unit + 1) * unit_outputs, all});
    const int64_t rows = std::min(plan_.part.dst[1], p_.dst_size[1] - place[1]);
    const int64_t columns = std::min(plan_.part.dst[2], p_.dst_size[2] - place[2]);
    const int64_t size = volume(p_.dst_size);
    float turned[kTurned][kRun + kTurned];
    for (int64_t o = begin; o < end; o += kTurned) {
      const int64_t outputs = std::min(kTurned, end - o);
      for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < columns; x += kRun) {
          const int64_t count = std::min(kRun, columns - x);
          const float* row = from + (y * plan_.part.dst[2] + x) * wide + o - begin;
          const int64_t to = (n * all + o) * size +
                             (place[0] * p_.dst_size[1] + place[1] + y) * p_.dst_size[2] + place[2] + x;
          float* kept = turned[0];
          int64_t kept_stride = kRun + kTurned;
          if (p_.dst == DType::f32) {
            kept = static_cast<float*>(args_.dst) + to;
            kept_stride = size;
          }
          turn(row, wide, count, outputs, kept, kept_stride);
          for (int64_t j = 0; j < outputs; ++j) {
            float* values = kept + j * kept_stride;
            add_bias(o + j, count, values);
            if (p_.dst != DType::f32)
              store_run(p_.dst, values, count, at(p_.dst, args_.dst, to + j * size), 1);
          }
        }
    }
  }

  void add_bias(int64_t output, int64_t count, float* values) const {
    if (args_.bias == nullptr) return;
    float bias = 0;
    load_run(p_.bias, at(p_.bias, args_.bias, output), 1, 1, &bias);
    for (int64_t i = 0; i < count; ++i) values[i] += bias;
  }

  const Convolution::Args& args_;
  const Convolution::Problem& p_;
  const Launch& launch_;
  const onednn::PartConvolution& convolution_;
  Plan plan_;
  Memory memory_;
  std::atomic<bool> failed_ = false;
};

void run_by_parts(const Convolution::Args& args, const Launch& launch) {
  if (args.problem.batch <= 0) return;
  const auto convolution = onednn::part_convolution(Plan(args.problem).part);
  if (convolution != nullptr && ConvolutionRun(args, launch, *convolution)()) return;
  ref::convolution(args, launch);  // for the day when the library fails in the middle of a run
}

std::string supports_by_parts(const Convolution::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = missing(kAvx2, machine); !reason.empty()) return reason;
  const bool elsewhere = !(machine.cpu == this_machine().cpu);  // where the library cannot be asked
  if (!elsewhere && onednn::part_convolution(Plan(problem).part) == nullptr)
    return "oneDNN has no fast convolution of this shape";
  return {};
}

size_t workspace_by_parts(const Convolution::Problem& problem, const Machine&, int threads) {
  const Plan plan(problem);
  const auto convolution = onednn::part_convolution(plan.part);
  if (convolution == nullptr) return 0;
  const Memory memory(plan, *convolution);
  return static_cast<size_t>(memory.weights + threads * memory.thread);
}

}  // namespace

std::span<const Row<Convolution>> convolution_rows() {
  static const Row<Convolution> rows[] = {
      {.name = "cpu.onednn",
       .supports = supports_by_parts,
       .run = run_by_parts,
       .workspace = workspace_by_parts,
       .library = "oneDNN"},
      {.name = "cpu.reference", .supports = on_any_machine<Convolution, ref::legal>, .run = ref::convolution},
  };
  return rows;
}

}  // namespace orrery::kernels
