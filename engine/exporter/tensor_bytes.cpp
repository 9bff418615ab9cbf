#include "engine/exporter/tensor_bytes.h"

#include <algorithm>
#include <cstring>

#include "engine/io/tensor_writer.h"
#include "engine/weights/merge.h"
#include "engine/weights/requantise.h"

namespace orrery::exporter {
namespace {

using kernels::ThreadTeam;

/// A matrix of float32; a vector is one column, so that its elements are rows.
struct Floats {
  int64_t rows = 0, cols = 0;
  std::vector<float> values;

  float* row(int64_t r) { return values.data() + r * cols; }
};

Floats shaped(const std::vector<int64_t>& shape) {
  Floats floats{1, 1, {}};
  if (shape.size() == 1) floats.rows = shape[0];
  if (shape.size() > 1) floats.cols = shape.back();
  for (size_t i = 0; shape.size() > 1 && i + 1 < shape.size(); ++i) floats.rows *= shape[i];
  floats.values.resize(static_cast<size_t>(floats.rows * floats.cols));
  return floats;
}

Floats decoded(const io::Tensor& tensor) {
  Floats floats = shaped(tensor.shape);
  floats.values = weights::decoded(tensor);
  return floats;
}

/// Each row of the place, in its order, of the tensor's rows: of its columns where it is transposed.
std::vector<int64_t> rows_of(const weights::WeightView& place, int64_t all) {
  std::vector<int64_t> rows;
  if (place.rows.empty())
    for (int64_t r = 0; r < all; ++r) rows.push_back(r);
  const int64_t runs = place.rows.empty() ? 0 : place.rows.size() == 4 ? place.rows[3] : 1;
  for (int64_t run = 0; run < runs; ++run)
    for (int64_t r = 0; r < place.rows[1]; ++r)
      rows.push_back(place.rows[0] + r + (run > 0 ? run * place.rows[2] : 0));
  return rows;
}

class Assembling {
 public:
  Assembling(const PlannedTensor& tensor, weights::WeightStore& weights, ThreadTeam& team)
      : tensor_(tensor), weights_(weights), team_(team) {}

  Result<TensorBytes> run() {
    if (tensor_.as_it_is && tensor_.original) return TensorBytes{tensor_.original->data};
    const bool folded =
        std::ranges::any_of(tensor_.parts, [](const Part& part) { return !part.steps.empty(); });
    const weights::WeightView& place = tensor_.parts.front().place;
    if (!folded && tensor_.parts.size() == 1 && place.rows.empty() && !place.transposed) {
      ORRERY_ASSIGN(auto stored, weights_.tensor(tensor_.parts.front().source, team_));
      const std::span<const std::byte> bytes = stored->data;
      return TensorBytes{bytes, std::move(stored)};
    }
    TensorBytes made;
    ORRERY_ASSIGN(made.own,
                  weights::Buffer::allocate(io::stored_bytes(tensor_.header), {}, "an exported tensor"));
    for (const Part& part : tensor_.parts) ORRERY_TRY(put(part, made.own.data()));
    made.bytes = {made.own.data(), made.own.size()};
    return made;
  }

 private:
  /// A part's rows in the type of the tensor, one after another.
  Result<std::vector<std::byte>> stored_rows(const Part& part, Floats& floats) {
    weights::WeightTensor source;
    if (part.made) {
      floats = shaped(tensor_.header.shape);
    } else {
      ORRERY_ASSIGN(source, weights_.tensor(part.source, team_));
      if (part.steps.empty()) {
        floats = shaped(source->shape);
        return std::vector<std::byte>(source->data.begin(), source->data.end());
      }
      floats = decoded(*source);
    }
    const std::vector<float> before = floats.values;
    for (const Step& step : part.steps) ORRERY_TRY(take(step, floats));
    return encoded(floats, before, source ? source->data : std::span<const std::byte>(), part.dtype);
  }

  Result<void> take(const Step& step, Floats& floats) {
    switch (step.kind) {
      case Step::Kind::scale_rows:
        for (int64_t r = 0; r < floats.rows; ++r)
          for (int64_t c = 0; c < floats.cols; ++c) floats.row(r)[c] *= step.factors[static_cast<size_t>(r)];
        return {};
      case Step::Kind::scale_columns:
        for (int64_t r = 0; r < floats.rows; ++r)
          for (int64_t c = 0; c < floats.cols; ++c) floats.row(r)[c] *= step.factors[static_cast<size_t>(c)];
        return {};
      case Step::Kind::add:
        for (int64_t r = 0; r < floats.rows; ++r) floats.row(r)[0] += step.factors[static_cast<size_t>(r)];
        return {};
      case Step::Kind::low_rank:
        return add_product(step, floats);
    }
    return {};
  }

  Result<void> add_product(const Step& step, Floats& floats) {
    ORRERY_ASSIGN(const auto a, weights_.tensor(step.a, team_));
    ORRERY_ASSIGN(const auto b, weights_.tensor(step.b, team_));
    io::Tensor base{
        tensor_.header.name, DType::f32, {floats.rows, floats.cols}, std::as_bytes(std::span(floats.values))};
    const weights::LowRankTerm term{step.factor, *a, *b};
    ORRERY_ASSIGN(const weights::Buffer merged, weights::merge_low_rank(base, std::span(&term, 1), team_));
    std::memcpy(floats.values.data(), merged.data(), floats.values.size() * sizeof(float));
    return {};
  }

  /// Blocks that did not change keep their bytes.
  std::vector<std::byte> encoded(const Floats& floats, const std::vector<float>& before,
                                 std::span<const std::byte> stored, DType from) const {
    const DType dtype = tensor_.header.dtype;
    const DTypeInfo info = dtype_info(dtype);
    const auto count = static_cast<int64_t>(floats.values.size());
    const auto block = static_cast<int64_t>(info.block_elements);
    std::vector<std::byte> bytes(row_bytes(dtype, count).value_or(0));
    const bool may_keep = dtype == from && stored.size() == bytes.size();
    team_.run(count / block, 64, [&](ThreadTeam::Range chunk, int) {
      for (int64_t i = chunk.begin; i < chunk.end; ++i) {
        const float* now = floats.values.data() + i * block;
        const auto at = static_cast<size_t>(i) * static_cast<size_t>(info.block_bytes);
        if (may_keep && std::equal(now, now + block, before.data() + i * block))
          std::memcpy(bytes.data() + at, stored.data() + at, static_cast<size_t>(info.block_bytes));
        else
          weights::encode(dtype, {now, static_cast<size_t>(block)}, bytes.data() + at);
      }
    });
    return bytes;
  }

  Result<void> put(const Part& part, std::byte* dst) {
    Floats shape;
    ORRERY_ASSIGN(const std::vector<std::byte> bytes, stored_rows(part, shape));
    const std::vector<int64_t>& stored = tensor_.header.shape;
    const DTypeInfo info = dtype_info(tensor_.header.dtype);
    const int64_t last = stored.size() > 1 ? stored.back() : 1;
    if (part.place.transposed) {  // only whole elements are stored so
      const std::vector<int64_t> columns = rows_of(part.place, last);
      const auto element = static_cast<size_t>(info.block_bytes);
      for (size_t c = 0; c < columns.size(); ++c)
        for (int64_t r = 0; r < shape.cols; ++r)
          std::memcpy(dst + static_cast<size_t>(r * last + columns[c]) * element,
                      bytes.data() + (c * static_cast<size_t>(shape.cols) + static_cast<size_t>(r)) * element,
                      element);
      return {};
    }
    const std::vector<int64_t> rows = rows_of(part.place, shape.rows);
    const size_t row = bytes.size() / std::max<size_t>(rows.size(), 1);
    for (size_t r = 0; r < rows.size(); ++r)
      std::memcpy(dst + static_cast<size_t>(rows[r]) * row, bytes.data() + r * row, row);
    return {};
  }

  const PlannedTensor& tensor_;
  weights::WeightStore& weights_;
  ThreadTeam& team_;
};

}  // namespace

Result<TensorBytes> bytes_of(const PlannedTensor& tensor, weights::WeightStore& weights, ThreadTeam& team) {
  return Assembling(tensor, weights, team).run();
}

}  // namespace orrery::exporter
