// Rows of Fastmax and of its gradients, fastest first (fastmax_head.h does a chunk of one head). Both calls
// are passes of consumers over what producers bring them:
//   queries from keys          values, of which out follows, and in the backward call the slopes of queries
//   keys from queries          backward: grad_value and the slopes of keys, one query head of a group at a
//   time
// direct      an item is a chunk of consumers, which takes all producers that it sees, chunk by chunk
// factorised  an item is a segment: the states of all segments' producers are made, added up in their order,
//             and each segment goes through its consumers from there on; causal: its own producers are taken
//             directly, chunk by chunk, and then added to the state
// How tokens fall into segments follows from the sizes alone, so the same call gives the same bits whatever
// the threads. The workspace has kSlots states at a time, not one for each head.
#include <algorithm>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/fastmax_head.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

enum class Form : uint8_t { direct, factorised };

constexpr int64_t kChunk = kFastmaxChunk;
constexpr int64_t kEverything = int64_t{1} << 40;  // ahead of all places

int64_t slots_of(const FastmaxSizes& sizes) { return sizes.state() > (1 << 21) ? 4 : 16; }

/// Multiply-adds of the calls of one head.
double direct_cost(const Fastmax::Problem& problem, const FastmaxSizes& sizes) {
  const auto pairs = static_cast<double>(problem.queries * problem.keys);
  return pairs * (problem.causal ? 0.5 : 1.0) * static_cast<double>(sizes.dim + sizes.full);
}
double factorised_cost(const Fastmax::Problem& problem, const FastmaxSizes& sizes) {
  const double of_keys =
      static_cast<double>(problem.keys * problem.kv_heads) / static_cast<double>(problem.heads);
  const auto of_queries = static_cast<double>(problem.queries);
  const double beside =
      problem.causal ? of_queries * static_cast<double>(kChunk * (sizes.dim + sizes.full)) : 0.0;
  return static_cast<double>(sizes.features * sizes.full) * (of_keys + of_queries) + beside;
}

std::string form_refusal(const Fastmax::Problem& problem, Form form) {
  const bool masks = problem.dropping == Fastmax::Dropping::features;
  if (form == Form::direct && masks) return "features are dropped, which it does not make";
  if (form == Form::direct || masks) return {};
  const FastmaxSizes sizes(problem);
  if (factorised_cost(problem, sizes) < direct_cost(problem, sizes)) return {};
  return std::to_string(sizes.features) + " features cost more than " + std::to_string(problem.keys) +
         " keys do";
}

template <Form form, CpuFeatures features>
std::string takes(const Fastmax::Problem& problem, const Machine& machine) {
  std::string reason = legal_on<Fastmax, ref::legal, features>(problem, machine);
  return reason.empty() ? form_refusal(problem, form) : reason;
}
template <Form form, CpuFeatures features>
std::string takes_backward(const FastmaxBackward::Problem& problem, const Machine& machine) {
  return takes<form, features>(problem.forward, machine);
}

/// Where the parts of the workspace lie, of which all but the buffers are as large as the problem.
struct Workspace {
  FastmaxScale* scales;
  float *buffers, *states, *g, *of_query, *of_key, *of_value;
  int64_t buffer;  // floats of a thread
  size_t bytes = 0;

  Workspace(const Fastmax::Problem& problem, Form form, bool backward, int threads, std::byte* memory) {
    const FastmaxSizes sizes(problem);
    const auto take = [&](int64_t count, size_t each) {
      std::byte* taken = memory == nullptr ? nullptr : memory + bytes;
      bytes += static_cast<size_t>(padded(count * static_cast<int64_t>(each), 64));
      return taken;
    };
    const auto floats = [&](int64_t count) { return reinterpret_cast<float*>(take(count, sizeof(float))); };
    const int64_t queries = problem.batch * problem.heads * problem.queries;
    const int64_t keys = problem.batch * problem.kv_heads * problem.keys;
    scales = reinterpret_cast<FastmaxScale*>(
        take(problem.batch * (problem.heads + problem.kv_heads), sizeof(FastmaxScale)));
    buffer = padded(FastmaxWorker::floats(sizes), 16);
    buffers = floats(buffer * std::max(threads, 1));
    states = floats(form == Form::factorised ? slots_of(sizes) * sizes.state() : 0);
    g = floats(backward ? queries * sizes.full : 0);
    of_query = floats(backward ? queries * sizes.dim : 0);
    of_key = floats(backward ? keys * sizes.dim : 0);
    of_value = floats(backward ? keys * sizes.dim : 0);
  }
};

FastmaxScale scale_of(DType dtype, const void* rows, const HeadStrides& strides, int64_t batch, int64_t head,
                      int64_t tokens, int64_t dim, double limit) {
  FastmaxScale scale;
  float row[Fastmax::kLargestHead];
  for (int64_t t = 0; t < tokens; ++t) {
    load_run(dtype, at(dtype, rows, batch * strides.batch + head * strides.head + t * strides.token), 1, dim,
             row);
    double squares = 0;
    for (int64_t d = 0; d < dim; ++d) squares += static_cast<double>(row[d]) * row[d];
    if (scale.longest >= 0 && !(squares > scale.squares) &&
        !(std::isnan(squares) && !std::isnan(scale.squares)))
      continue;
    scale.longest = t;
    scale.squares = squares;
  }
  scale.factor = scale.squares == 0 ? 0 : limit / std::sqrt(scale.squares);
  return scale;
}

class Run {
 public:
  Run(const Fastmax::Args& args, const FastmaxTable& table, Form form, const Launch& launch,
      const FastmaxBackward::Args* backward)
      : call_(args, table),
        sizes_(call_.sizes),
        form_(form),
        launch_(launch),
        backward_(backward),
        work_(args.problem, form, backward != nullptr, launch.team != nullptr ? launch.team->size() : 1,
              launch.workspace) {
    call_.of_query = work_.scales;
    call_.of_key = work_.scales + args.batch * args.problem.heads;
    call_.g = work_.g;
  }

  void forward() {
    find_scales();
    pass(false, 0);
  }
  void backward() {
    forward();
    const int64_t keys = call_.args.batch * call_.args.problem.kv_heads * call_.args.keys;
    std::fill(work_.of_key, work_.of_key + keys * sizes_.dim, 0.0F);
    std::fill(work_.of_value, work_.of_value + keys * sizes_.dim, 0.0F);
    for (int64_t member = 0; member < call_.group(); ++member) pass(true, member);
    put_gradients();
  }

 private:
  /// The heads of one head of keys.
  struct Unit {
    FastmaxTokens producers;
    int64_t batch, first_head, consumers;  // heads of consumers
    int64_t tokens;                        // of each
    bool keys;
  };
  Unit unit_of(int64_t number, bool keys, int64_t member) const {
    const Fastmax::Args& args = call_.args;
    const int64_t batch = number / args.problem.kv_heads, head = number % args.problem.kv_heads;
    if (keys)
      return {{&call_, false, true, batch, head * call_.group() + member, args.queries},
              batch,
              head,
              1,
              args.keys,
              true};
    return {{&call_, true, false, batch, head, args.keys},
            batch,
            head * call_.group(),
            call_.group(),
            args.queries,
            false};
  }
  FastmaxTokens consumers_of(const Unit& unit, int64_t number) const {
    return {&call_, unit.keys, unit.keys, unit.batch, unit.first_head + number, unit.tokens};
  }
  int64_t ahead(bool keys) const {
    if (!call_.args.problem.causal) return kEverything;
    return keys ? 0 : call_.args.keys - call_.args.queries;
  }
  FastmaxWorker worker(int thread) { return {call_, work_.buffers + thread * work_.buffer}; }

  void find_scales() {
    const Fastmax::Args& args = call_.args;
    const Fastmax::Problem& problem = args.problem;
    const int64_t queries = args.batch * problem.heads, keys = args.batch * problem.kv_heads;
    std::fill(work_.scales, work_.scales + queries + keys, FastmaxScale{});
    if (!problem.normalise) return;
    split(launch_, queries + keys, std::max(args.queries, args.keys) * sizes_.dim,
          [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i) {
              const int64_t j = i - queries;
              work_.scales[i] =
                  i < queries ? scale_of(problem.dtype, args.query, args.query_strides, i / problem.heads,
                                         i % problem.heads, args.queries, sizes_.dim, args.limit)
                              : scale_of(problem.dtype, args.key, args.key_strides, j / problem.kv_heads,
                                         j % problem.kv_heads, args.keys, sizes_.dim, args.limit);
            }
          });
  }

  void pass(bool keys, int64_t member) {
    if (form_ == Form::direct)
      direct(keys, member);
    else
      factorised(keys, member);
  }

  void direct(bool keys, int64_t member) {
    const int64_t units = call_.args.batch * call_.args.problem.kv_heads;
    const Unit sample = unit_of(0, keys, member);
    const int64_t chunks = (sample.tokens + kChunk - 1) / kChunk, each = sample.consumers * chunks;
    split(launch_, units * each, kChunk * sample.producers.count * sizes_.full,
          [&](int64_t begin, int64_t end, int thread) {
            FastmaxWorker own = worker(thread);
            for (int64_t item = begin; item < end; ++item) {
              const Unit unit = unit_of(item / each, keys, member);
              // Of causal queries the last chunks, which see most, come first.
              const int64_t chunk = chunks - 1 - item % chunks;
              const FastmaxTokens tokens = consumers_of(unit, item % each / chunks);
              consume(own, tokens, chunk * kChunk, [&](auto&& add) {
                const int64_t last = (chunk + 1) * kChunk + ahead(keys);
                for (int64_t first = 0; first < std::min(unit.producers.count, last); first += kChunk) {
                  own.take_producers(unit.producers, first, 0, unit.producers.count);
                  add(nullptr, ahead(keys));
                }
              });
            }
          });
  }

  /// The places of producers that segments begin at.
  struct Segments {
    int64_t count, chunks;  // of consumers in each (causal), of producers (else)
    int64_t ahead, producers;
    bool causal;

    /// What slot `number` holds before they are added up.
    int64_t begin(int64_t number) const {
      if (number == 0) return 0;
      return causal ? end(number - 1) : std::min(producers, number * chunks * kChunk);
    }
    int64_t end(int64_t number) const {
      if (!causal) return std::min(producers, (number + 1) * chunks * kChunk);
      return std::clamp<int64_t>(number * chunks * kChunk + ahead, 0, producers);
    }
  };

  void factorised(bool keys, int64_t member) {
    const int64_t units = call_.args.batch * call_.args.problem.kv_heads;
    const bool causal = call_.args.problem.causal;
    const Unit sample = unit_of(0, keys, member);
    const int64_t slots = slots_of(sizes_);
    const int64_t cut = causal ? sample.tokens : sample.producers.count;
    const int64_t chunks = (cut + kChunk - 1) / kChunk;
    const int64_t wanted = std::clamp<int64_t>(slots / units, 1, std::max<int64_t>(chunks, 1));
    const Segments segments{wanted, (chunks + wanted - 1) / wanted, ahead(keys), sample.producers.count,
                            causal};
    const int64_t at_once = std::max<int64_t>(1, slots / segments.count);
    for (int64_t first = 0; first < units; first += at_once) {
      const int64_t count = std::min(at_once, units - first);
      make_states(first, count, segments, keys, member);
      add_states_up(count, segments.count);
      if (causal)
        walk_segments(first, count, segments, keys, member);
      else
        read_states(first, count, segments, keys, member);
    }
  }

  float* state(int64_t slot) { return work_.states + slot * sizes_.state(); }

  void make_states(int64_t first_unit, int64_t units, const Segments& segments, bool keys, int64_t member) {
    split(launch_, units * segments.count, segments.chunks * kChunk * sizes_.full,
          [&](int64_t begin, int64_t end, int thread) {
            FastmaxWorker own = worker(thread);
            for (int64_t item = begin; item < end; ++item) {
              const Unit unit = unit_of(first_unit + item / segments.count, keys, member);
              const int64_t low = segments.begin(item % segments.count),
                            high = segments.end(item % segments.count);
              std::fill(state(item), state(item) + sizes_.state(), 0.0F);
              for (int64_t first = low; first < high; first += kChunk) {
                own.take_producers(unit.producers, first, low, high);
                own.add_to_state(state(item));
              }
            }
          });
  }

  void add_states_up(int64_t units, int64_t segments) {
    constexpr int64_t kPiece = 4096;
    const int64_t size = sizes_.state(), pieces = (size + kPiece - 1) / kPiece;
    split(launch_, units * pieces, kPiece * segments, [&](int64_t begin, int64_t end, int) {
      for (int64_t item = begin; item < end; ++item)
        for (int64_t s = 1; s < segments; ++s) {
          const int64_t from = item % pieces * kPiece;
          float* to = state(item / pieces * segments + s);
          const float* before = to - size;
          for (int64_t i = from; i < std::min(size, from + kPiece); ++i) to[i] += before[i];
        }
    });
  }

  void walk_segments(int64_t first_unit, int64_t units, const Segments& segments, bool keys, int64_t member) {
    split(launch_, units * segments.count, segments.chunks * kChunk * sizes_.full,
          [&](int64_t begin, int64_t end, int thread) {
            FastmaxWorker own = worker(thread);
            for (int64_t item = begin; item < end; ++item) {
              const Unit unit = unit_of(first_unit + item / segments.count, keys, member);
              const int64_t chunk = item % segments.count * segments.chunks;
              const int64_t last = std::min((unit.tokens + kChunk - 1) / kChunk, chunk + segments.chunks);
              for (int64_t c = chunk; c < last; ++c) {
                const int64_t beside = c * kChunk + segments.ahead;
                const int64_t high = std::min(unit.producers.count, beside + kChunk);
                own.take_producers(unit.producers, beside, std::max<int64_t>(beside, 0), high);
                for (int64_t number = 0; number < unit.consumers; ++number)
                  consume(own, consumers_of(unit, number), c * kChunk, [&](auto&& add) {
                    add(state(item), segments.ahead);
                    add(nullptr, segments.ahead);
                  });
                if (c + 1 < last) own.add_to_state(state(item));
              }
            }
          });
  }

  void read_states(int64_t first_unit, int64_t units, const Segments& segments, bool keys, int64_t member) {
    const Unit sample = unit_of(0, keys, member);
    const int64_t chunks = (sample.tokens + kChunk - 1) / kChunk, each = sample.consumers * chunks;
    split(launch_, units * each, kChunk * sizes_.features * sizes_.full,
          [&](int64_t begin, int64_t end, int thread) {
            FastmaxWorker own = worker(thread);
            for (int64_t item = begin; item < end; ++item) {
              const Unit unit = unit_of(first_unit + item / each, keys, member);
              const float* sums = state(item / each * segments.count + segments.count - 1);
              consume(own, consumers_of(unit, item % each / chunks), item % chunks * kChunk,
                      [&](auto&& add) { add(sums, kEverything); });
            }
          });
  }

  /// One chunk of consumers; each(add) calls add(state, ahead) for every state that they read, and with a
  /// null one for every chunk of producers that the worker took.
  template <class Each>
  void consume(FastmaxWorker& own, const FastmaxTokens& tokens, int64_t first, const Each& each) {
    own.take_consumers(tokens, first);
    each([&](const float* state, int64_t ahead) {
      if (state != nullptr)
        own.add_values(state);
      else
        own.add_values(ahead);
    });
    if (tokens.keys)
      add_of_values(own, tokens, first);
    else
      finish_queries(own, tokens, first);
    if (backward_ == nullptr) return;
    own.take_factors(tokens);
    each([&](const float* state, int64_t ahead) {
      if (state != nullptr)
        own.add_slopes(state);
      else
        own.add_slopes(ahead);
    });
    const float* slopes = own.slopes();
    float* sums = tokens.keys ? work_.of_key : work_.of_query;
    for (int64_t i = 0; i < std::min(kChunk, tokens.count - first); ++i) {
      float* to = sums + row_of(tokens, first + i) * sizes_.dim;
      for (int64_t d = 0; d < sizes_.dim; ++d)
        to[d] = (tokens.keys ? to[d] : 0.0F) + slopes[i * sizes_.wide + d];
    }
  }

  /// The row of a place among all rows of queries or keys.
  int64_t row_of(const FastmaxTokens& tokens, int64_t place) const {
    const Fastmax::Problem& problem = call_.args.problem;
    const int64_t heads = tokens.keys ? problem.kv_heads : problem.heads;
    return (tokens.batch * heads + tokens.head) * tokens.count + tokens.token(place);
  }

  void add_of_values(FastmaxWorker& own, const FastmaxTokens& tokens, int64_t first) {
    for (int64_t i = 0; i < std::min(kChunk, tokens.count - first); ++i) {
      float* to = work_.of_value + row_of(tokens, first + i) * sizes_.dim;
      for (int64_t d = 0; d < sizes_.dim; ++d) to[d] += own.values()[i * sizes_.full + d];
    }
  }

  /// Numerators and denominators become out, or g and -g . o.
  void finish_queries(FastmaxWorker& own, const FastmaxTokens& tokens, int64_t first) {
    const Fastmax::Args& args = call_.args;
    const DType dtype = args.problem.dtype;
    for (int64_t i = 0; i < std::min(kChunk, tokens.count - first); ++i) {
      float* o = own.values() + i * sizes_.full;
      const bool sees = args.keys > 0 && first + i + ahead(false) >= 0;
      const float total = o[sizes_.dim];
      for (int64_t d = 0; d < sizes_.dim; ++d) o[d] = sees ? o[d] / total : 0.0F;
      const int64_t row = row_of(tokens, first + i);
      if (backward_ == nullptr) {
        for (int64_t d = 0; d < sizes_.dim; ++d) o[d] *= noise(row, d);
        const HeadStrides& to = args.out_strides;
        store_run(
            dtype, o, sizes_.dim,
            at(dtype, args.out, tokens.batch * to.batch + tokens.head * to.head + (first + i) * to.token), 1);
        continue;
      }
      float* g = work_.g + row * sizes_.full;
      std::fill(g, g + sizes_.full, 0.0F);
      if (!sees) continue;
      const HeadStrides& from = backward_->grad_out_strides;
      load_run(dtype,
               at(dtype, backward_->grad_out,
                  tokens.batch * from.batch + tokens.head * from.head + (first + i) * from.token),
               1, sizes_.dim, g);
      float product = 0;
      for (int64_t d = 0; d < sizes_.dim; ++d) {
        g[d] *= noise(row, d) / total;
        product += g[d] * o[d];
      }
      g[sizes_.dim] = -product;
    }
  }

  float noise(int64_t row, int64_t col) const {
    const Fastmax::Args& args = call_.args;
    if (args.problem.dropping != Fastmax::Dropping::noise) return 1;
    float drawn = 0;
    if (args.noise != nullptr)
      load_run(args.problem.dtype, at(args.problem.dtype, args.noise, row * sizes_.dim + col), 1, 1, &drawn);
    else
      drawn = normal_noise<float>(args.seed, row, col);
    return 1 + static_cast<float>(args.rate) * drawn;
  }

  void put_gradients() {
    const Fastmax::Args& args = call_.args;
    const Fastmax::Problem& problem = args.problem;
    const int64_t queries = args.batch * problem.heads, keys = args.batch * problem.kv_heads;
    if (backward_->grad_rpe != nullptr) put_of_rpe();
    split(launch_, queries + keys, std::max(args.queries, args.keys) * sizes_.dim,
          [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i) {
              const int64_t j = i - queries;
              if (i < queries)
                put(work_.of_query, args.query, args.query_strides, i, problem.heads, args.queries,
                    call_.of_query[i], 1.0F, backward_->grad_query);
              else
                put(work_.of_key, args.key, args.key_strides, j, problem.kv_heads, args.keys, call_.of_key[j],
                    args.temperature, backward_->grad_key);
            }
          });
    if (backward_->grad_value != nullptr)
      split(launch_, keys * args.keys, sizes_.dim, [&](int64_t begin, int64_t end, int) {
        store_run(problem.dtype, work_.of_value + begin * sizes_.dim, (end - begin) * sizes_.dim,
                  at(problem.dtype, backward_->grad_value, begin * sizes_.dim), 1);
      });
  }

  /// One head of queries or keys, through what its rows were multiplied by.
  void put(const float* gradients, const void* rows, const HeadStrides& strides, int64_t number,
           int64_t heads, int64_t tokens, const FastmaxScale& scale, float divisor, void* to) {
    if (to == nullptr) return;
    const DType dtype = call_.args.problem.dtype;
    const int64_t dim = sizes_.dim;
    const auto row_at = [&](int64_t t) {
      return at(dtype, rows,
                number / heads * strides.batch + number % heads * strides.head + t * strides.token);
    };
    float row[Fastmax::kLargestHead];
    double all = 0;
    for (int64_t t = 0; scale.longest >= 0 && t < tokens; ++t) {
      load_run(dtype, row_at(t), 1, dim, row);
      for (int64_t d = 0; d < dim; ++d)
        all += static_cast<double>(gradients[(number * tokens + t) * dim + d]) * row[d];
    }
    for (int64_t t = 0; t < tokens; ++t) {
      const float* from = gradients + (number * tokens + t) * dim;
      float result[Fastmax::kLargestHead];
      for (int64_t d = 0; d < dim; ++d) result[d] = static_cast<float>(from[d] * scale.factor / divisor);
      if (t == scale.longest && scale.squares != 0) {
        load_run(dtype, row_at(t), 1, dim, row);
        for (int64_t d = 0; d < dim; ++d)
          result[d] -= static_cast<float>(scale.factor / scale.squares * all * row[d] / divisor);
      }
      store_run(dtype, result, dim, at(dtype, to, (number * tokens + t) * dim), 1);
    }
  }

  void put_of_rpe() {
    const Fastmax::Args& args = call_.args;
    const DType dtype = args.problem.dtype;
    const int64_t dim = sizes_.dim, heads = args.batch * args.problem.kv_heads;
    const int64_t used = 2 * args.keys - 1;
    split(launch_, backward_->rpe_rows, dim * heads, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        double sums[Fastmax::kLargestHead] = {};
        // Key t reads row (t + keys) mod used.
        const int64_t t = args.keys > 0 ? (row + used - args.keys) % used : 0;
        if (row < used && t < args.keys)
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t d = 0; d < dim; ++d) sums[d] += work_.of_key[(h * args.keys + t) * dim + d];
        float rounded[Fastmax::kLargestHead];
        std::copy(sums, sums + dim, rounded);
        store_run(dtype, rounded, dim, at(dtype, backward_->grad_rpe, row * dim), 1);
      }
    });
  }

  FastmaxCall call_;
  FastmaxSizes sizes_;
  Form form_;
  const Launch& launch_;
  const FastmaxBackward::Args* backward_;
  Workspace work_;
};

template <Form form>
size_t workspace(const Fastmax::Problem& problem, const Machine&, int threads) {
  return Workspace(problem, form, false, threads, nullptr).bytes;
}
template <Form form>
size_t backward_workspace(const FastmaxBackward::Problem& problem, const Machine&, int threads) {
  return Workspace(problem.forward, form, true, threads, nullptr).bytes;
}
template <const FastmaxTable& table, Form form>
void run(const Fastmax::Args& args, const Launch& launch) {
  Run(args, table, form, launch, nullptr).forward();
}
template <const FastmaxTable& table, Form form>
void run_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  Run(args.forward, table, form, launch, &args).backward();
}

template <const FastmaxTable& table, Form form, CpuFeatures features>
constexpr Row<Fastmax> row(std::string_view name) {
  return {.name = name,
          .supports = takes<form, features>,
          .run = run<table, form>,
          .workspace = workspace<form>,
          .source = "cpu/isa/fastmax.cpp"};
}
template <const FastmaxTable& table, Form form, CpuFeatures features>
constexpr Row<FastmaxBackward> backward_row(std::string_view name) {
  return {.name = name,
          .supports = takes_backward<form, features>,
          .run = run_backward<table, form>,
          .workspace = backward_workspace<form>,
          .source = "cpu/isa/fastmax.cpp"};
}

}  // namespace

std::span<const Row<Fastmax>> fastmax_rows() {
  static const Row<Fastmax> rows[] = {
      row<avx512::kFastmaxProducts, Form::factorised, kAvx512>("cpu.avx512.factorised"),
      row<avx512::kFastmaxProducts, Form::direct, kAvx512>("cpu.avx512.direct"),
      row<avx2::kFastmaxProducts, Form::factorised, kAvx2>("cpu.avx2.factorised"),
      row<avx2::kFastmaxProducts, Form::direct, kAvx2>("cpu.avx2.direct"),
      {.name = "cpu.reference", .supports = on_any_machine<Fastmax, ref::legal>, .run = ref::fastmax},
  };
  return rows;
}

std::span<const Row<FastmaxBackward>> fastmax_backward_rows() {
  using Op = FastmaxBackward;
  static const Row<Op> rows[] = {
      backward_row<avx512::kFastmaxProducts, Form::factorised, kAvx512>("cpu.avx512.factorised"),
      backward_row<avx512::kFastmaxProducts, Form::direct, kAvx512>("cpu.avx512.direct"),
      backward_row<avx2::kFastmaxProducts, Form::factorised, kAvx2>("cpu.avx2.factorised"),
      backward_row<avx2::kFastmaxProducts, Form::direct, kAvx2>("cpu.avx2.direct"),
      {.name = "cpu.reference",
       .supports = on_any_machine<Op, ref::legal>,
       .run = ref::fastmax_backward,
       .source = "ref/fastmax.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
