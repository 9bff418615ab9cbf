#include "engine/ops/distance_bias.h"
#include "kernels/fastmax_scan.h"
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

constexpr size_t kHeads = 4, kKvHeads = 2, kDim = 32;

struct Keys {
  const Floats &key, &value;
  size_t begin, end;  // rows that the query sees
};

/// A weight, of which only shares count, of the score of a query and a key.
double softmax_weight(double score, double, double) { return std::exp(score); }

/// One query row of all heads. weigh(score, length of the query, length of the key).
template <class Weigh = decltype(&softmax_weight)>
std::vector<double> attend(const Floats& query, size_t row, const Keys& keys, double scale,
                           Weigh&& weigh = softmax_weight) {
  std::vector<double> dst(kHeads * kDim);
  for (size_t head = 0; head < kHeads; ++head) {
    const size_t kv = head / (kHeads / kKvHeads);
    std::vector<double> weights;
    double sum = 0;
    for (size_t k = keys.begin; k < keys.end; ++k) {
      double score = 0, query_square = 0, key_square = 0;
      for (size_t i = 0; i < kDim; ++i) {
        const double q = query[(row * kHeads + head) * kDim + i],
                     x = keys.key[(k * kKvHeads + kv) * kDim + i];
        score += q * x, query_square += q * q, key_square += x * x;
      }
      weights.push_back(weigh(score * scale, std::sqrt(query_square), std::sqrt(key_square)));
      sum += weights.back();
    }
    for (size_t k = keys.begin; k < keys.end; ++k)
      for (size_t i = 0; i < kDim; ++i)
        dst[head * kDim + i] += weights[k - keys.begin] / sum * keys.value[(k * kKvHeads + kv) * kDim + i];
  }
  return dst;
}

const Attributes kAttention = {{"heads", int64_t{kHeads}}, {"kv_heads", int64_t{kKvHeads}}, {"scale", 0.25}};

TEST(PagedAttention, SeesItselfAndWhatCameBefore) {
  Bench bench(7);  // crosses a page
  const Floats query = noise(7 * kHeads * kDim, 1), key = noise(7 * kKvHeads * kDim, 2),
               value = noise(7 * kKvHeads * kDim, 3);
  const ValueId state = bench.state(kKvHeads, kDim);
  const auto append =
      bench.add("kv_append", {state, bench.rows("k", kTokens, key), bench.rows("v", kTokens, value)});
  ASSERT_TRUE(append.ok()) << append.error().to_string();
  bench.run(*append);
  const ValueId after = bench.graph().node(*append).outputs[0];
  EXPECT_EQ(bench.graph().value(after).kind, graph::ValueKind::state);
  const auto out = bench.run("attention", {bench.rows("q", kTokens, query), after}, kAttention);
  std::vector<double> expected;
  for (size_t row = 0; row < 7; ++row)
    for (const double x : attend(query, row, {key, value, 0, row + 1}, 0.25)) expected.push_back(x);
  expect_near(out.at(0), expected, 2e-5);
}

TEST(PagedAttention, AWindowHidesOldKeys) {
  Bench bench(7);
  const Floats query = noise(7 * kHeads * kDim, 1), key = noise(7 * kKvHeads * kDim, 2),
               value = noise(7 * kKvHeads * kDim, 3);
  const auto append = bench.add("kv_append", {bench.state(kKvHeads, kDim), bench.rows("k", kTokens, key),
                                              bench.rows("v", kTokens, value)});
  ASSERT_TRUE(append.ok());
  bench.run(*append);
  Attributes attributes = kAttention;
  attributes["window"] = int64_t{3};
  const auto out = bench.run(
      "attention", {bench.rows("q", kTokens, query), bench.graph().node(*append).outputs[0]}, attributes);
  std::vector<double> expected;
  for (size_t row = 0; row < 7; ++row)
    for (const double x : attend(query, row, {key, value, row < 3 ? 0 : row - 2, row + 1}, 0.25))
      expected.push_back(x);
  expect_near(out.at(0), expected, 2e-5);
}

/// What the attributes of Fastmax say of a score.
struct Fastmax {
  int64_t p = 2;
  bool normalise = true;
  double limit = 1.0;

  double operator()(double score, double query_length, double key_length) const {
    const double s = normalise ? score / 0.25 / query_length / key_length * limit * limit : score;
    return p == 2 ? 1 + s + s * s / 2 : std::max(0.0, 1 + s);
  }
  Attributes attributes() const {
    Attributes all = kAttention;
    all["kind"] = std::string("fastmax");
    all["p"] = p;
    all["normalise"] = normalise;
    all["limit"] = limit;
    return all;
  }
};
const std::vector<Fastmax> kFastmaxes = {
    {}, {.p = 1}, {.limit = 3}, {.normalise = false}, {.p = 1, .limit = 0.5}};

TEST(PagedAttention, FastmaxWeighsByTheFirstTermsOfE) {
  for (const Fastmax& fastmax : kFastmaxes) {
    Bench bench(7);
    const Floats query = noise(7 * kHeads * kDim, 1), key = noise(7 * kKvHeads * kDim, 2),
                 value = noise(7 * kKvHeads * kDim, 3);
    const auto append = bench.add("kv_append", {bench.state(kKvHeads, kDim), bench.rows("k", kTokens, key),
                                                bench.rows("v", kTokens, value)});
    ASSERT_TRUE(append.ok());
    bench.run(*append);
    const auto out =
        bench.run("attention", {bench.rows("q", kTokens, query), bench.graph().node(*append).outputs[0]},
                  fastmax.attributes());
    std::vector<double> expected;
    for (size_t row = 0; row < 7; ++row)
      for (const double x : attend(query, row, {key, value, 0, row + 1}, 0.25, fastmax))
        expected.push_back(x);
    expect_near(out.at(0), expected, 2e-5);
  }
}

TEST(PackedAttention, FastmaxWeighsByTheFirstTermsOfE) {
  for (const Fastmax& fastmax : kFastmaxes) {
    Bench bench(5, 2);
    bench.sequence_starts = {0, 2, 5};
    bench.kv_lengths = {2, 3};
    const Floats query = noise(5 * kHeads * kDim, 1), key = noise(5 * kKvHeads * kDim, 2),
                 value = noise(5 * kKvHeads * kDim, 3);
    const auto out = bench.run("packed_attention",
                               {bench.rows("q", kTokens, query), bench.rows("k", kTokens, key),
                                bench.rows("v", kTokens, value), bench.input("sequence_starts")},
                               fastmax.attributes());
    std::vector<double> expected;
    for (size_t row = 0; row < 5; ++row)
      for (const double x :
           attend(query, row, {key, value, row < 2 ? 0u : 2u, row < 2 ? 2u : 5u}, 0.25, fastmax))
        expected.push_back(x);
    expect_near(out.at(0), expected, 2e-5);
  }
}

TEST(PackedAttention, StaysWithinTheSequence) {
  for (const bool causal : {false, true}) {
    Bench bench(5, 2);
    bench.sequence_starts = {0, 2, 5};
    bench.kv_lengths = {2, 3};
    const Floats query = noise(5 * kHeads * kDim, 1), key = noise(5 * kKvHeads * kDim, 2),
                 value = noise(5 * kKvHeads * kDim, 3);
    Attributes attributes = kAttention;
    attributes["causal"] = causal;
    const auto out = bench.run("packed_attention",
                               {bench.rows("q", kTokens, query), bench.rows("k", kTokens, key),
                                bench.rows("v", kTokens, value), bench.input("sequence_starts")},
                               attributes);
    std::vector<double> expected;
    for (size_t row = 0; row < 5; ++row) {
      const Keys keys{key, value, row < 2 ? 0u : 2u, causal ? row + 1 : (row < 2 ? 2u : 5u)};
      for (const double x : attend(query, row, keys, 0.25)) expected.push_back(x);
    }
    expect_near(out.at(0), expected, 2e-5);
  }
}

TEST(PackedAttention, AWindowReachesToBothSides) {
  Bench bench(7, 1);
  const Floats query = noise(7 * kHeads * kDim, 1), key = noise(7 * kKvHeads * kDim, 2),
               value = noise(7 * kKvHeads * kDim, 3);
  Attributes attributes = kAttention;
  attributes["window"] = int64_t{3};
  const auto out = bench.run("packed_attention",
                             {bench.rows("q", kTokens, query), bench.rows("k", kTokens, key),
                              bench.rows("v", kTokens, value), bench.input("sequence_starts")},
                             attributes);
  std::vector<double> expected;
  for (size_t row = 0; row < 7; ++row) {
    const Keys keys{key, value, row < 2 ? 0 : row - 2, std::min<size_t>(row + 3, 7)};
    for (const double x : attend(query, row, keys, 0.25)) expected.push_back(x);
  }
  expect_near(out.at(0), expected, 2e-5);
}

// Keys that say nothing, so that the bias alone weighs the values.
TEST(PackedAttention, ABiasByDistanceWeighsTheKeys) {
  constexpr int64_t kBuckets = 8;
  Bench bench(3, 1);
  const Floats query(3 * kHeads * kDim), key(3 * kKvHeads * kDim), value = noise(3 * kKvHeads * kDim, 3);
  const Floats table = noise(kBuckets * kHeads, 4);
  const ValueId bias = bench.weight("bias", DType::f32, {kBuckets, kHeads}, table);
  const auto out = bench.run("packed_attention",
                             {bench.rows("q", kTokens, query), bench.rows("k", kTokens, key),
                              bench.rows("v", kTokens, value), bench.input("sequence_starts"), bias},
                             kAttention);
  std::vector<double> expected;
  for (size_t row = 0; row < 3; ++row)
    for (size_t head = 0; head < kHeads; ++head) {
      double weights[3], sum = 0;
      for (size_t k = 0; k < 3; ++k) {
        const auto distance = static_cast<int64_t>(k) - static_cast<int64_t>(row);
        const auto bucket = static_cast<size_t>(distance_bucket(distance, kBuckets));
        sum += weights[k] = std::exp(double(table[bucket * kHeads + head]));
      }
      for (size_t d = 0; d < kDim; ++d) {
        double total = 0;
        for (size_t k = 0; k < 3; ++k)
          total += weights[k] / sum * value[(k * kKvHeads + head / (kHeads / kKvHeads)) * kDim + d];
        expected.push_back(total);
      }
    }
  expect_near(out.at(0), expected, 2e-5);
}

TEST(PackedAttention, DistancesShareBucketsAsTheReferenceHasThem) {
  const std::vector<std::pair<int64_t, int64_t>> first_of_bucket = {
      {-140, 15}, {-91, 15}, {-90, 14}, {-64, 14}, {-63, 13}, {-16, 10}, {-8, 8},  {-7, 7},  {0, 0},
      {1, 17},    {8, 24},   {11, 24},  {12, 25},  {16, 26},  {32, 28},  {63, 29}, {64, 30}, {91, 31}};
  for (const auto& [distance, bucket] : first_of_bucket)
    EXPECT_EQ(distance_bucket(distance, 32), bucket) << distance;
}

struct RopeCase {
  bool half;
  size_t dims;
  bool factors;
};

std::vector<double> rotate(const Floats& src, const RopeCase& one, const Floats& factors, double base,
                           double scale) {
  std::vector<double> dst(src.begin(), src.end());
  for (size_t t = 0; t < src.size() / (kHeads * kDim); ++t)
    for (size_t head = 0; head < kHeads; ++head)
      for (size_t i = 0; i < one.dims / 2; ++i) {
        const double frequency = std::pow(base, -2.0 * double(i) / double(one.dims));
        const double angle = double(10 * t) * scale * frequency / (one.factors ? factors[i] : 1.0);
        const size_t at = (t * kHeads + head) * kDim;
        const size_t a = at + (one.half ? i : 2 * i), b = at + (one.half ? i + one.dims / 2 : 2 * i + 1);
        dst[a] = src[a] * std::cos(angle) - src[b] * std::sin(angle);
        dst[b] = src[a] * std::sin(angle) + src[b] * std::cos(angle);
      }
  return dst;
}

TEST(Rope, RotatesPairsOfEitherOrder) {
  for (const RopeCase one :
       {RopeCase{false, kDim, false}, {true, kDim, false}, {true, 16, false}, {false, kDim, true}}) {
    Bench bench(3);
    bench.positions = {0, 10, 20};
    const Floats src = noise(3 * kHeads * kDim, 1);
    Floats factors = noise(one.dims / 2, 2);
    for (float& factor : factors) factor = 2 + factor;
    const ValueId slow =
        one.factors ? bench.weight("f", DType::f32, {int64_t(one.dims / 2)}, factors) : ValueId{};
    const auto out = bench.run("rope", {bench.rows("x", kTokens, src), bench.input("positions"), slow},
                               {{"style", std::string(one.half ? "half" : "interleaved")},
                                {"heads", int64_t{kHeads}},
                                {"head_dim", int64_t{kDim}},
                                {"rope_dims", int64_t(one.dims)},
                                {"base", 1000.0},
                                {"scaling", std::string("linear")},
                                {"factor", 2.0}});
    expect_near(out.at(0), rotate(src, one, factors, 1000.0, 0.5), 2e-5);
  }
}

TEST(Rope, LongFactorsServeContextsBeyondTheOriginalOne) {
  const RopeCase one{true, kDim, true};
  const Floats src = noise(3 * kHeads * kDim, 1), brief(kDim / 2, 1.5F), spread(kDim / 2, 3.0F);
  for (const int64_t context : {0, 64, 65}) {
    Bench bench(3);
    bench.positions = {0, 10, 20};
    bench.longest_text = context;
    const auto factors = [&](const char* name, const Floats& values) {
      return bench.weight(name, DType::f32, {int64_t{kDim / 2}}, values);
    };
    const auto out = bench.run("rope",
                               {bench.rows("x", kTokens, src), bench.input("positions"),
                                factors("short", brief), factors("long", spread)},
                               {{"style", std::string("half")},
                                {"heads", int64_t{kHeads}},
                                {"head_dim", int64_t{kDim}},
                                {"rope_dims", int64_t{kDim}},
                                {"base", 1000.0},
                                {"original_context", int64_t{64}}});
    expect_near(out.at(0), rotate(src, one, context > 64 ? spread : brief, 1000.0, 1.0), 2e-5);
  }
}

/// The state of fixed size for these heads.
std::vector<int64_t> summary_shape(int p) {
  const int64_t dim = kDim;
  return {kKvHeads, kernels::FastmaxScan::features(p, dim), dim + 1};
}

TEST(FastmaxScan, SeesItselfAndWhatCameBeforeByFastmax) {
  const Floats query = noise(7 * kHeads * kDim, 1), key = noise(7 * kKvHeads * kDim, 2),
               value = noise(7 * kKvHeads * kDim, 3);
  for (const int p : {1, 2}) {
    Bench bench(7);
    const auto out = bench.run("fastmax_scan",
                               {bench.record(summary_shape(p)), bench.rows("q", kTokens, query),
                                bench.rows("k", kTokens, key), bench.rows("v", kTokens, value)},
                               {{"heads", int64_t{kHeads}},
                                {"kv_heads", int64_t{kKvHeads}},
                                {"scale", 0.25},
                                {"p", int64_t{p}},
                                {"limit", 0.9}});
    const auto weigh = [p](double score, double query_length, double key_length) {
      const double s = 0.81 * score / query_length / key_length;
      return 1 + s + (p == 2 ? s * s / 2 : 0);
    };
    std::vector<double> expected;
    for (size_t row = 0; row < 7; ++row)
      for (const double x : attend(query, row, {key, value, 0, row + 1}, 1, weigh)) expected.push_back(x);
    expect_near(out.at(0), expected, 2e-5);
  }
}

TEST(FastmaxScan, RefusesWhatDoesNotFit) {
  Bench bench(3);
  const ValueId query = bench.rows("q", kTokens, noise(3 * kHeads * kDim, 1)),
                key = bench.rows("k", kTokens, noise(3 * kKvHeads * kDim, 2)),
                other = bench.rows("other", kTokens, noise(3 * kDim, 2));
  const ValueId quadratic = bench.record(summary_shape(2)), linear = bench.record(summary_shape(1));
  const auto refused = [&](const std::string& op, std::vector<ValueId> inputs, Attributes more) {
    Attributes attributes = kAttention;
    attributes.insert(more.begin(), more.end());
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    return node.ok() ? "" : node.error().to_string();
  };
  using testing::HasSubstr;
  EXPECT_EQ(refused("fastmax_scan", {quadratic, query, key, key}, {}), "");
  EXPECT_THAT(refused("fastmax_scan", {linear, query, key, key}, {}), HasSubstr("needs f32[2, 612, 33]"));
  EXPECT_THAT(refused("fastmax_scan", {quadratic, query, other, other}, {}), HasSubstr("2 kv heads of 32"));
  EXPECT_THAT(refused("fastmax_scan", {linear, query, key, key}, {{"p", int64_t{1}}, {"normalise", false}}),
              HasSubstr("below zero"));
  const std::string fastmax = "fastmax";
  EXPECT_EQ(refused("attention", {query, quadratic}, {{"kind", fastmax}}), "");
  EXPECT_THAT(refused("attention", {query, quadratic}, {}), HasSubstr("a softmax needs them"));
  EXPECT_THAT(refused("attention", {query, quadratic}, {{"kind", fastmax}, {"window", int64_t{4}}}),
              HasSubstr("a window needs them"));
  EXPECT_THAT(refused("attention", {query, linear}, {{"kind", fastmax}}), HasSubstr("(kv_heads, features"));
}

}  // namespace
}  // namespace orrery::ops::test
