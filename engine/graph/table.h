// What a graph keeps by id. Copies share their rows until one of them changes a row, so that a copy costs a
// count for each: every edit, preview and pass begins with one.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace orrery::graph {

/// A value that copies share until one of them edits it. Copies may live in different threads.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : value_(std::make_shared<T>(std::move(value))), own_(true) {}
  Shared(const Shared& other) : value_(other.value_) {}
  Shared(Shared&& other) noexcept = default;
  Shared& operator=(const Shared& other) {
    return *this = Shared(other);  // NOLINT: by the copy, which is not its own
  }
  Shared& operator=(Shared&& other) noexcept = default;
  ~Shared() = default;

  const T* get() const { return value_.get(); }
  /// There must be a value.
  T& edit() {
    if (!own_ || value_.use_count() > 1) *this = Shared(*value_);
    return *value_;
  }

 private:
  std::shared_ptr<T> value_;
  bool own_ = false;  // made here: only then can nobody else come to hold it while it is edited
};

/// Rows by ids, which count up and are never used again.
template <class Id, class Row>
class Table {
 public:
  const Row* find(Id id) const { return id.value < rows_.size() ? rows_[id.value].get() : nullptr; }
  bool contains(Id id) const { return find(id) != nullptr; }
  /// It must be there.
  const Row& at(Id id) const {
    const Row* row = find(id);
    if (!row) throw std::out_of_range("no row has this id");
    return *row;
  }
  Row& edit(Id id) {
    at(id);
    return rows_[id.value].edit();
  }
  /// The row, which is made where there is none.
  Row& make(Id id) {
    if (!contains(id)) put(id, {});
    return edit(id);
  }
  void put(Id id, Row row) {
    if (id.value >= rows_.size()) rows_.resize(id.value + 1);
    rows_[id.value] = Shared<Row>(std::move(row));
  }
  void erase(Id id) {
    if (id.value < rows_.size()) rows_[id.value] = {};
  }

 private:
  std::vector<Shared<Row>> rows_;  // by id
};

}  // namespace orrery::graph
