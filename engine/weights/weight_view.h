// Which elements of a tensor a weight is, and as what: all of them as they are stored, or its rows, or its
// transpose. Files fuse projections into one matrix and store some transposed; a view takes such a matrix
// apart again. Others store each expert of a layer apart; a view puts them together. A view may be of another
// file than the model's, take low-rank matrices in, and be stored in another type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/model_file.h"

namespace orrery::weights {

/// A file beside the model's own. The stamp tells its size and when it was written, as it was when it was
/// named: what is made of a file is not taken for what is made of a later one.
struct OtherFile {
  std::string path, stamp;
  friend bool operator==(const OtherFile&, const OtherFile&) = default;
};

/// factor * B A of an adapter, which is added to its tensor.
struct MergedAdapter {
  double factor = 1.0;
  OtherFile file;
};

struct WeightView {
  std::string tensor;
  bool transposed = false;    // of a matrix; its rows are counted after that
  std::vector<int64_t> rows;  // {begin, count}, or {begin, count, stride, runs}: `runs` times `count` rows,
                              // whose starts are `stride` apart; empty: all. Elements, where it is a vector
  std::vector<int64_t> columns =
      {};               // of a matrix: {begin, count} of what rows and transposed leave; empty: all
  int64_t stacked = 0;  // so many tensors one after another, "*" in the name standing for their
                        // number from 0 on, with nothing of the above; 0: one tensor
  OtherFile file = {};  // empty: the model's own
  std::vector<MergedAdapter> merged = {};  // into the whole tensor, which is float32 then
  std::optional<DType> dtype = {};         // what it is stored in; none: what its tensor is stored in

  WeightView(std::string name) : tensor(std::move(name)) {}  // NOLINT: a name alone is the whole tensor
  WeightView(const char* name) : tensor(name) {}             // NOLINT
  WeightView(std::string name, bool is_transposed, std::vector<int64_t> which)
      : tensor(std::move(name)), transposed(is_transposed), rows(std::move(which)) {}

  bool is_whole() const { return !transposed && rows.empty() && columns.empty() && stacked == 0 && !dtype; }
  /// All rows and columns of what it takes apart, in the order of their tensor.
  WeightView whole() const;
  /// The name of one of the stacked tensors.
  std::string member(int64_t number) const;
  /// "h.0.attn.c_attn.weight, transposed, 64 rows from 64"; of a whole tensor its name.
  std::string name() const;
  /// The name, and the stamps of its files.
  std::string identity() const;
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
