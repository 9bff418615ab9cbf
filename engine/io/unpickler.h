// The machine that runs a pickle: the stack and plain values in pickle.cpp, what stands for tensors in
// pickle_tensors.cpp.
#pragma once

#include <unordered_map>

#include "engine/io/pickle.h"

namespace orrery::io {

class Unpickler {
 public:
  Unpickler(ByteReader& reader, const std::string& where, Allowance& allowance)
      : reader_(reader), where_(where), allowance_(allowance) {}

  Result<Pickled> run(const std::stop_token& stop);

 private:
  static constexpr size_t kLongestName = 256;  // of a module or function
  using Value = PickleValue;
  using Values = std::vector<Value>;

  Result<void> step(uint8_t operation);
  // The operations, by what they do.
  template <class T>
  Result<void> push_integer();
  Result<void> push_long(size_t length_bytes);
  Result<void> push_real();
  template <class Length>
  Result<void> push_text();
  Result<void> push_tuple(size_t length);
  Result<void> push_list(Values values);
  Result<void> push_dict();
  Result<void> append(Values values);
  Result<void> set_items(Values values);
  Result<void> collect_dict();
  Result<void> put(uint64_t index);
  Result<void> get(uint64_t index);
  template <class Index>
  Result<void> put_at();
  template <class Index>
  Result<void> get_at();
  Result<void> skip(size_t bytes);
  Result<void> push_name();
  Result<void> push_stacked_name();
  Result<void> push_found(std::string_view module, std::string_view name);
  Result<void> load_storage();
  Result<void> call();
  Result<void> build();
  // What may be called.
  Result<void> make_dict(const Values& arguments);
  Result<void> make_tensor(PickleName::Kind kind, const Values& arguments);
  Result<std::vector<int64_t>> numbers(const Value& value) const;

  Result<void> push(Value value);
  Result<Value> take();
  Result<Values> take_last(size_t count);
  Result<Values> take_marked();
  const Values* list(const Value& value) const {
    const auto* id = std::get_if<PickleList>(&value);
    return id ? &built_.lists[id->index] : nullptr;
  }

  Error damaged(std::string what) const { return corrupt(std::move(what), at()); }
  Error cut_short() const { return damaged("The pickle ends too early"); }
  Error mistyped() const { return damaged("The pickle uses a value as something that it is not"); }
  Error too_large() const {
    return damaged("The pickle would take more memory than a file of this size can need");
  }
  std::string at() const { return fmt::format("{}, byte {} of the pickle", where_, position_ - begin_); }

  ByteReader& reader_;
  const std::string& where_;
  Allowance& allowance_;
  size_t begin_ = reader_.position(), position_ = begin_;  // of the pickle, of the operation
  Values stack_;
  std::vector<size_t> marks_;  // heights
  std::unordered_map<uint64_t, Value> memo_;
  Pickled built_;
};

}  // namespace orrery::io
