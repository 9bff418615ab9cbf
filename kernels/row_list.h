// Row lists of any op behind one type, for what need not know the ops: all that a device can run, what a
// module hands to the program, what an op of the graph runs on. Rows come out only as rows of the op that
// they went in as, also from one library to another.
#pragma once

#include <initializer_list>
#include <typeinfo>

#include "kernels/row.h"

namespace orrery::kernels {

/// The rows of one op on one device, fastest first. They belong to whoever made them.
class RowList {
 public:
  RowList() = default;
  template <class Op>
  RowList(std::span<const Row<Op>> rows)  // NOLINT: implicit on purpose
      : op_(&typeid(Op)), name_(Op::kName), rows_(rows.data()), size_(rows.size()) {}

  std::string_view op() const { return name_; }  // Op::kName
  bool empty() const { return size_ == 0; }

  /// Empty when they are rows of another op.
  template <class Op>
  std::span<const Row<Op>> of() const {
    if (op_ == nullptr || *op_ != typeid(Op)) return {};
    return {static_cast<const Row<Op>*>(rows_), size_};
  }

 private:
  const std::type_info* op_ = nullptr;
  std::string_view name_;
  const void* rows_ = nullptr;
  size_t size_ = 0;
};

/// The lists of one device, one an op.
class RowTable {
 public:
  RowTable() = default;
  RowTable(std::initializer_list<RowList> lists) : lists_(lists) {}

  std::span<const RowList> lists() const { return lists_; }
  bool empty() const {
    for (const RowList& list : lists_)
      if (!list.empty()) return false;
    return true;
  }
  /// Empty where there is no list of the op.
  template <class Op>
  std::span<const Row<Op>> of() const {
    for (const RowList& list : lists_)
      if (const auto rows = list.of<Op>(); !rows.empty()) return rows;
    return {};
  }

 private:
  std::vector<RowList> lists_;
};

}  // namespace orrery::kernels
