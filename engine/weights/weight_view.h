// Which elements of a tensor a weight is: all of them as they are stored, or its rows, or its transpose.
// Files fuse projections into one matrix and store some transposed; a view takes such a matrix apart again.
// Others store each expert of a layer apart; a view puts them together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/model_file.h"

namespace orrery::weights {

struct WeightView {
  std::string tensor;
  bool transposed = false;    // of a matrix; its rows are counted after that
  std::vector<int64_t> rows;  // {begin, count}, or {begin, count, stride, runs}: `runs` times `count` rows,
                              // whose starts are `stride` apart; empty: all. Elements, where it is a vector
  std::vector<int64_t> columns =
      {};               // of a matrix: {begin, count} of what rows and transposed leave; empty: all
  int64_t stacked = 0;  // so many tensors one after another, "*" in the name standing for their
                        // number from 0 on, with nothing of the above; 0: one tensor

  WeightView(std::string name) : tensor(std::move(name)) {}  // NOLINT: a name alone is the whole tensor
  WeightView(const char* name) : tensor(name) {}             // NOLINT
  WeightView(std::string name, bool is_transposed, std::vector<int64_t> which)
      : tensor(std::move(name)), transposed(is_transposed), rows(std::move(which)) {}

  bool is_whole() const { return !transposed && rows.empty() && columns.empty() && stacked == 0; }
  /// The name of one of the stacked tensors.
  std::string member(int64_t number) const;
  /// "h.0.attn.c_attn.weight, transposed, 64 rows from 64"; of a whole tensor its name.
  std::string name() const;
};

/// Rows in a list of the form above; nothing when it is none, or they do not fit in 63 bits.
std::optional<int64_t> row_count(const std::vector<int64_t>& rows);

/// Refuses rows that the tensor does not have, and the transpose of what is no matrix of whole elements.
Result<void> check_view(const io::Tensor& tensor, const WeightView& view);

/// Refuses columns that the matrix does not have, or that begin or end inside a block.
Result<void> check_columns(const io::Tensor& tensor, const std::vector<int64_t>& columns);
/// dst = the columns of every row. They are checked.
void copy_columns(const io::Tensor& tensor, const std::vector<int64_t>& columns, std::byte* dst);

/// Refuses tensors of different types or shapes, which cannot be stacked.
Result<void> check_stack(const io::Tensor& first, const io::Tensor& next);

/// The shape of the view's rows.
std::vector<int64_t> view_shape(const io::Tensor& tensor, const std::vector<int64_t>& rows);
/// dst = the rows, one after another. The view is checked.
void copy_rows(const io::Tensor& tensor, const std::vector<int64_t>& rows, std::byte* dst);
/// dst (cols, rows) = transpose of tensor (rows, cols).
void transpose(const io::Tensor& tensor, std::byte* dst);

}  // namespace orrery::weights
