// Pickles as torch.save writes them, read by a machine that can build plain values, storages and tensors, and
// nothing else. A pickle is a program, and Python's runs whatever function it names; this one knows a short
// list of names (pickle_names.h), stands for them with values, and refuses every other by its name.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/io/pickle_names.h"
#include "engine/io/reader.h"

namespace orrery::io {

/// Indices into Pickled. Lists, tuples and torch.Size are one kind, dicts and OrderedDicts another.
struct PickleList {
  uint32_t index;
};
struct PickleDict {
  uint32_t index;
};
struct PickleStorageId {
  uint32_t index;
};
struct PickleTensorId {
  uint32_t index;
};

/// Texts point into the pickle's bytes.
using PickleValue = std::variant<std::monostate, bool, int64_t, double, std::string_view, PickleList,
                                 PickleDict, PickleStorageId, PickleTensorId, PickleName>;

/// A storage by reference: its bytes stand elsewhere, under its key.
struct PickleStorage {
  const TorchType* type = nullptr;  // null: bytes without a type
  std::string_view key;
  int64_t elements = 0;
};

/// A view of a storage; offset and strides count elements of `type`.
struct PickleTensor {
  uint32_t storage = 0;
  const TorchType* type = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;
};

/// What a pickle built. Lists and dicts may hold each other and themselves: a walk bounds its own depth.
struct Pickled {
  PickleValue root;
  std::vector<std::vector<PickleValue>> lists;
  std::vector<std::vector<std::pair<PickleValue, PickleValue>>> dicts;
  std::vector<PickleStorage> storages;
  std::vector<PickleTensor> tensors;
};

/// Reads one pickle of protocol 2 to 4 from the reader's place on, up to and with its STOP. Errors name
/// `where` and the byte. What it builds is paid from `allowance`.
Result<Pickled> read_pickle(ByteReader& reader, const std::string& where, Allowance& allowance,
                            const std::stop_token& stop);

}  // namespace orrery::io
