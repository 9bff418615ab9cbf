// Attention against its definition, written out in float64: results, gradients, and how far off bf16 may be.
#include <algorithm>
#include <cmath>

#include "kernels/half.h"
#include "tests/kernels/flash_attention_tensors.h"

namespace orrery::kernels {
namespace {

using testing::each_backward;
using testing::each_forward;
using testing::expect_close;
using Floats = std::vector<float>;
using Results = testing::FlashResults;
using Gradients = testing::FlashGradients;
using Tensors = testing::FlashTensors;

/// Attention in float64, of one batch, from its definition; and what a loss weighs its results with.
struct Model {
  size_t heads = 2, queries = 5, keys = 7, dim = 3;
  bool causal = false;
  double scale = 0.7, softcap = 0;
  Dropout dropout = {};
  std::vector<double> query, key, value, bias, of_out;

  double score(size_t head, size_t i, size_t j, double& sum) const {
    sum = 0;
    for (size_t d = 0; d < dim; ++d) sum += query[(head * queries + i) * dim + d] * key[j * dim + d];
    sum *= scale;
    if (softcap > 0) sum = softcap * std::tanh(sum / softcap);
    return sum + bias[(head * queries + i) * keys + j];
  }
  std::vector<double> out(std::vector<double>* log_sum_exp = nullptr) const {
    std::vector<double> all;
    for (size_t head = 0; head < heads; ++head)
      for (size_t i = 0; i < queries; ++i) {
        const size_t seen = causal ? i + 1 + keys - queries : keys;
        double total = 0, unused = 0;
        for (size_t j = 0; j < seen; ++j) total += std::exp(score(head, i, j, unused));
        if (log_sum_exp != nullptr) log_sum_exp->push_back(std::log(total));
        for (size_t d = 0; d < dim; ++d) {
          double sum = 0;
          for (size_t j = 0; j < seen; ++j)
            if (dropout.keeps(static_cast<int64_t>(head * queries + i), static_cast<int64_t>(j)))
              sum += std::exp(score(head, i, j, unused)) / total * value[j * dim + d] / (1 - dropout.p);
          all.push_back(sum);
        }
      }
    return all;
  }
  double loss() const {
    const std::vector<double> results = out();
    double loss = 0;
    for (size_t i = 0; i < results.size(); ++i) loss += of_out[i] * results[i];
    return loss;
  }
  Floats differences(std::vector<double> Model::*operand) const {
    constexpr double kStep = 1e-5;
    Floats gradient;
    Model moved = *this;
    for (double& value_of : moved.*operand) {
      const double before = value_of;
      value_of = before + kStep;
      const double above = moved.loss();
      value_of = before - kStep;
      gradient.push_back(static_cast<float>((above - moved.loss()) / (2 * kStep)));
      value_of = before;
    }
    return gradient;
  }
};

TEST(FlashAttentionDefinition, results_and_gradients_are_those_of_the_definition) {
  const auto doubles = [](const Floats& values) { return std::vector<double>(values.begin(), values.end()); };
  const auto floats = [](const std::vector<double>& values) { return Floats(values.begin(), values.end()); };
  for (const bool causal : {false, true})
    for (const double softcap : {0.0, 1.5})
      for (const double p : {0.0, 0.3}) {
        Model model{.causal = causal,
                    .softcap = softcap,
                    .query = {},
                    .key = {},
                    .value = {},
                    .bias = {},
                    .of_out = {}};
        model.dropout = Dropout(p, 5, Dropout::kAttentionStream);
        Tensors tensors(2, 1, 5, 7, 3);
        tensors.bias = testing::random_floats(2 * 5 * 7, 5);
        tensors.problem.causal = causal;
        tensors.problem.softcap = static_cast<float>(softcap);
        tensors.scale = 0.7F;
        tensors.dropout = model.dropout;
        model.scale = static_cast<double>(tensors.scale);
        model.query = doubles(tensors.query);
        model.key = doubles(tensors.key);
        model.value = doubles(tensors.value);
        model.bias = doubles(tensors.bias);
        model.of_out = doubles(tensors.grad_out);
        std::vector<double> log_sum_exp;
        const Floats out = floats(model.out(&log_sum_exp));
        each_forward(tensors, [&](const Row<FlashAttention>& row) {
          const Results results = tensors.forward(row);
          expect_close(results.out, out, 1e-5, "out");
          expect_close(results.log_sum_exp, floats(log_sum_exp), 1e-5, "log_sum_exp");
        });
        each_backward(tensors, [&](const Row<FlashAttentionBackward>& row) {
          const Gradients gradients = tensors.backward(row, {out, floats(log_sum_exp)});
          expect_close(gradients.query, model.differences(&Model::query), 2e-5, "grad_query");
          expect_close(gradients.key, model.differences(&Model::key), 2e-5, "grad_key");
          expect_close(gradients.value, model.differences(&Model::value), 2e-5, "grad_value");
          expect_close(gradients.bias, model.differences(&Model::bias), 2e-5, "grad_bias");
        });
      }
}

/// The rule of the field: at most twice as far off as scores, weights and results that are each rounded.
TEST(FlashAttentionDefinition, bf16_is_at_most_twice_as_far_off_as_plain_bf16) {
  const auto rounded = [](double value) {
    return static_cast<double>(float_from_bf16(bf16_from_float(static_cast<float>(value))));
  };
  constexpr size_t kTokens = 256, kDim = 64;
  Tensors tensors(1, 1, kTokens, kTokens, kDim, DType::bf16);
  tensors.scale = 0.125F;
  for (Floats* operand : {&tensors.query, &tensors.key, &tensors.value})
    *operand = lab::rounded_to_bf16(*operand);
  Tensors exact = tensors;
  exact.problem.dtype = exact.problem.bias = DType::f32;
  const Floats expected = exact.forward().out;
  double plain_error = 0;
  for (size_t i = 0; i < kTokens; ++i) {
    std::vector<double> weights;
    double total = 0;
    for (size_t j = 0; j < kTokens; ++j) {
      double sum = 0;
      for (size_t d = 0; d < kDim; ++d) sum += tensors.query[i * kDim + d] * tensors.key[j * kDim + d];
      weights.push_back(std::exp(rounded(rounded(sum) * tensors.scale)));
      total += weights.back();
    }
    for (size_t d = 0; d < kDim; ++d) {
      double sum = 0;
      for (size_t j = 0; j < kTokens; ++j) sum += rounded(weights[j] / total) * tensors.value[j * kDim + d];
      plain_error = std::max(plain_error, std::abs(rounded(sum) - expected[i * kDim + d]));
    }
  }
  ASSERT_GT(plain_error, 0);
  each_forward(tensors, [&](const Row<FlashAttention>& row) {
    const Floats out = tensors.forward(row).out;
    double error = 0;
    for (size_t i = 0; i < out.size(); ++i)
      error = std::max(error, std::abs(static_cast<double>(out[i]) - expected[i]));
    EXPECT_LE(error, 2 * plain_error);
  });
}

}  // namespace
}  // namespace orrery::kernels
