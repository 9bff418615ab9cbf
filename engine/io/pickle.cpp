// Python's pickle, protocols 2 to 4. Source: Lib/pickletools.py of CPython, which describes every operation,
// and torch/serialization.py for what torch.save puts through it.
//
// A pickle is a sequence of one-byte operations with their arguments, run on a stack. MARK remembers a
// height; what collects (TUPLE, APPENDS, SETITEMS, DICT, LIST) takes all above it. PUT and GET number values
// for later. GLOBAL names a function or class, REDUCE calls it with a tuple, BINPERSID asks for an outside
// object by its description:
//   ("storage", class, key, device, elements [, view]).
// Operations that make objects of classes or read by position in code (NEWOBJ, INST, OBJ, EXT, ...) are
// refused.
#include "engine/io/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "engine/io/unpickler.h"

namespace orrery::io {
namespace {

constexpr size_t kMostStack = size_t{1} << 18;  // values at once, and marks
// What a value costs in memory, rounded up.
constexpr uint64_t kContainerCost = 96, kItemCost = 72, kPairCost = 144, kMemoCost = 96;

enum class Op : uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  int8 = 'K',
  int16 = 'M',
  int32 = 'J',
  long1 = 0x8a,
  long4 = 0x8b,
  real = 'G',
  text = 'X',
  text8 = 0x8c,
  string8 = 'U',
  string32 = 'T',
  empty_tuple = ')',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  tuple = 't',
  empty_list = ']',
  append = 'a',
  appends = 'e',
  list = 'l',
  empty_dict = '}',
  set_item = 's',
  set_items = 'u',
  dict = 'd',
  put8 = 'q',
  put32 = 'r',
  get8 = 'h',
  get32 = 'j',
  memoize = 0x94,
  proto = 0x80,
  frame = 0x95,
  global = 'c',
  stack_global = 0x93,
  reduce = 'R',
  build = 'b',
  persistent = 'Q'
};

}  // namespace

Result<void> Unpickler::push(Value value) {
  if (stack_.size() == kMostStack) return too_large();
  stack_.push_back(value);
  return {};
}

Result<PickleValue> Unpickler::take() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    return damaged("The pickle takes a value that is not there");
  const Value value = stack_.back();
  stack_.pop_back();
  return value;
}

Result<std::vector<PickleValue>> Unpickler::take_last(size_t count) {
  if (stack_.size() - (marks_.empty() ? 0 : marks_.back()) < count)
    return damaged("The pickle takes a value that is not there");
  if (!allowance_.take(kItemCost * count)) return too_large();
  Values values(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return values;
}

Result<std::vector<PickleValue>> Unpickler::take_marked() {
  if (marks_.empty()) return damaged("The pickle collects values without a mark");
  ORRERY_ASSIGN(Values values, take_last(stack_.size() - marks_.back()));
  marks_.pop_back();
  return values;
}

template <class T>
Result<void> Unpickler::push_integer() {
  T value{};
  if (!reader_.read(value)) return cut_short();
  return push(static_cast<int64_t>(value));
}

/// A little-endian two's complement integer after its length.
Result<void> Unpickler::push_long(size_t length_bytes) {
  uint8_t narrow = 0;
  uint32_t length = 0;
  std::string_view bytes;
  if (length_bytes == 1 ? !reader_.read(narrow) : !reader_.read(length)) return cut_short();
  if (length_bytes == 1) length = narrow;
  if (!reader_.read(bytes, length)) return cut_short();
  if (length > sizeof(uint64_t))
    return damaged(fmt::format("An integer of {} bytes (8 is the most)", length));
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  uint64_t value = negative ? UINT64_MAX : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return push(static_cast<int64_t>(value));
}

Result<void> Unpickler::push_real() {
  uint64_t bits = 0;
  if (!reader_.read(bits)) return cut_short();
  return push(std::bit_cast<double>(__builtin_bswap64(bits)));  // big-endian, unlike the rest
}

template <class Length>
Result<void> Unpickler::push_text() {
  Length length{};
  std::string_view text;
  if (!reader_.read(length) || !reader_.read(text, length)) return cut_short();
  return push(text);
}

Result<void> Unpickler::push_list(Values values) {
  if (!allowance_.take(kContainerCost)) return too_large();
  built_.lists.push_back(std::move(values));
  return push(PickleList{static_cast<uint32_t>(built_.lists.size() - 1)});
}

Result<void> Unpickler::push_tuple(size_t length) {
  ORRERY_ASSIGN(Values values, take_last(length));
  return push_list(std::move(values));
}

Result<void> Unpickler::push_dict() {
  if (!allowance_.take(kContainerCost)) return too_large();
  built_.dicts.emplace_back();
  return push(PickleDict{static_cast<uint32_t>(built_.dicts.size() - 1)});
}

/// To the list that is on top of the stack then.
Result<void> Unpickler::append(Values values) {
  const auto* target = stack_.empty() ? nullptr : std::get_if<PickleList>(&stack_.back());
  if (!target) return mistyped();
  Values& list = built_.lists[target->index];
  list.insert(list.end(), values.begin(), values.end());
  return {};
}

/// Keys and values in turn, to the dict that is on top of the stack then.
Result<void> Unpickler::set_items(Values values) {
  const auto* target = stack_.empty() ? nullptr : std::get_if<PickleDict>(&stack_.back());
  if (!target || values.size() % 2 != 0) return mistyped();
  if (!allowance_.take(kPairCost * (values.size() / 2))) return too_large();
  auto& dict = built_.dicts[target->index];
  for (size_t i = 0; i < values.size(); i += 2) dict.emplace_back(values[i], values[i + 1]);
  return {};
}

Result<void> Unpickler::collect_dict() {
  ORRERY_ASSIGN(Values values, take_marked());
  ORRERY_TRY(push_dict());
  return set_items(std::move(values));
}

Result<void> Unpickler::put(uint64_t index) {
  if (stack_.empty()) return damaged("The pickle numbers a value that is not there");
  if (!allowance_.take(kMemoCost)) return too_large();
  memo_.insert_or_assign(index, stack_.back());
  return {};
}

Result<void> Unpickler::get(uint64_t index) {
  const auto it = memo_.find(index);
  if (it == memo_.end())
    return damaged(fmt::format("The pickle asks for value {}, which it never numbered", index));
  return push(it->second);
}

template <class Index>
Result<void> Unpickler::put_at() {
  Index index{};
  if (!reader_.read(index)) return cut_short();
  return put(index);
}

template <class Index>
Result<void> Unpickler::get_at() {
  Index index{};
  if (!reader_.read(index)) return cut_short();
  return get(index);
}

Result<void> Unpickler::skip(size_t bytes) {
  std::string_view skipped;
  if (!reader_.read(skipped, bytes)) return cut_short();
  return {};
}

Result<void> Unpickler::push_name() {
  std::string_view module, name;
  for (std::string_view* line : {&module, &name})
    if (!reader_.read_line(*line, kLongestName)) return damaged("The pickle names a function without an end");
  return push_found(module, name);
}

Result<void> Unpickler::push_stacked_name() {
  ORRERY_ASSIGN(const Value name, take());
  ORRERY_ASSIGN(const Value module, take());
  const auto* name_text = std::get_if<std::string_view>(&name);
  const auto* module_text = std::get_if<std::string_view>(&module);
  if (!name_text || !module_text) return mistyped();
  return push_found(*module_text, *name_text);
}

Result<void> Unpickler::step(uint8_t operation) {
  switch (static_cast<Op>(operation)) {
    case Op::mark:
      if (marks_.size() == kMostStack) return too_large();
      marks_.push_back(stack_.size());
      return {};
    case Op::pop: {
      ORRERY_ASSIGN(const Value dropped, take());
      return {};
    }
    case Op::pop_mark: {
      ORRERY_ASSIGN(const Values dropped, take_marked());
      return {};
    }
    case Op::dup:
      return stack_.empty() ? mistyped() : push(stack_.back());
    case Op::none:
      return push(std::monostate());
    case Op::new_true:
      return push(true);
    case Op::new_false:
      return push(false);
    case Op::int8:
      return push_integer<uint8_t>();
    case Op::int16:
      return push_integer<uint16_t>();
    case Op::int32:
      return push_integer<int32_t>();
    case Op::long1:
      return push_long(1);
    case Op::long4:
      return push_long(4);
    case Op::real:
      return push_real();
    case Op::text:
    case Op::string32:
      return push_text<uint32_t>();
    case Op::text8:
    case Op::string8:
      return push_text<uint8_t>();
    case Op::empty_tuple:
    case Op::empty_list:
      return push_list({});
    case Op::tuple1:
      return push_tuple(1);
    case Op::tuple2:
      return push_tuple(2);
    case Op::tuple3:
      return push_tuple(3);
    case Op::tuple:
    case Op::list: {
      ORRERY_ASSIGN(Values values, take_marked());
      return push_list(std::move(values));
    }
    case Op::append: {
      ORRERY_ASSIGN(Values values, take_last(1));
      return append(std::move(values));
    }
    case Op::appends: {
      ORRERY_ASSIGN(Values values, take_marked());
      return append(std::move(values));
    }
    case Op::empty_dict:
      return push_dict();
    case Op::set_item: {
      ORRERY_ASSIGN(Values values, take_last(2));
      return set_items(std::move(values));
    }
    case Op::set_items: {
      ORRERY_ASSIGN(Values values, take_marked());
      return set_items(std::move(values));
    }
    case Op::dict:
      return collect_dict();
    case Op::put8:
      return put_at<uint8_t>();
    case Op::put32:
      return put_at<uint32_t>();
    case Op::get8:
      return get_at<uint8_t>();
    case Op::get32:
      return get_at<uint32_t>();
    case Op::memoize:
      return put(memo_.size());
    case Op::proto:
      return skip(1);
    case Op::frame:
      return skip(8);
    case Op::global:
      return push_name();
    case Op::stack_global:
      return push_stacked_name();
    case Op::reduce:
      return call();
    case Op::build:
      return build();
    case Op::persistent:
      return load_storage();
    case Op::stop:
      break;
  }
  return unsupported(
      fmt::format("The pickle uses the operation 0x{:02x}, which tensors do not need", operation), at(),
      "files of tensors alone are read; save the model's state_dict, or as safetensors");
}

Result<Pickled> Unpickler::run(const std::stop_token& stop) {
  for (uint64_t steps = 0;; ++steps) {
    if (steps % 65536 == 0 && stop.stop_requested()) return cancelled_error();
    position_ = reader_.position();
    uint8_t operation = 0;
    if (!reader_.read(operation)) return cut_short();
    if (operation == static_cast<uint8_t>(Op::stop)) break;
    ORRERY_TRY(step(operation));
  }
  ORRERY_ASSIGN(built_.root, take());
  return std::move(built_);
}

Result<Pickled> read_pickle(ByteReader& reader, const std::string& where, Allowance& allowance,
                            const std::stop_token& stop) {
  return Unpickler(reader, where, allowance).run(stop);
}

}  // namespace orrery::io
