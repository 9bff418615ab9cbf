// Builders of the files that torch.save writes, for files that it would not write.
#pragma once

#include <utility>
#include <vector>

#include "tests/engine/io/io_testing.h"

namespace orrery::io {

/// Pickle operations, one after another.
struct PickleBytes {
  std::string text = "\x80\x02";

  PickleBytes& raw(std::string_view operations) {
    text += operations;
    return *this;
  }
  PickleBytes& string(std::string_view value) {
    return raw("X").raw(Bytes().u32(static_cast<uint32_t>(value.size())).raw(value).text);
  }
  PickleBytes& integer(int64_t value) { return raw("\x8a\x08").raw(Bytes().number(value).text); }
  PickleBytes& integers(const std::vector<int64_t>& values) {
    raw("(");
    for (const int64_t value : values) integer(value);
    return raw("t");
  }
  PickleBytes& name(std::string_view module, std::string_view function) {
    return raw("c").raw(module).raw("\n").raw(function).raw("\n");
  }
  PickleBytes& storage(std::string_view key, int64_t elements) {
    return raw("(")
        .string("storage")
        .name("torch", "FloatStorage")
        .string(key)
        .string("cpu")
        .integer(elements)
        .raw("tQ");
  }
  PickleBytes& tensor(int64_t offset, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                      std::string_view key = "0", int64_t elements = 4) {
    return name("torch._utils", "_rebuild_tensor_v2")
        .raw("(")
        .storage(key, elements)
        .integer(offset)
        .integers(shape)
        .integers(strides)
        .raw("\x89")
        .name("collections", "OrderedDict")
        .raw(")RtR");
  }
  std::string stop() const { return text + "."; }
};

/// A state dict of the one tensor "t" of four floats, whatever a case changes about it.
inline std::string state_of(int64_t offset, const std::vector<int64_t>& shape,
                            const std::vector<int64_t>& strides, std::string_view key = "0") {
  return PickleBytes().raw("}").string("t").tensor(offset, shape, strides, key).raw("s").stop();
}

/// One entry of a zip archive, with what its two headers say.
struct ZipPart {
  std::string name, data;
  uint16_t method = 0, flags = 0;
  int64_t larger = 0;  // the directory's sizes are off by this
  uint32_t from = 0;   // > 0: the directory says that the entry begins there
  std::string extra = {};
};

struct ZipEnd {
  int more = 0;            // entries that the end counts too many
  uint32_t directory = 0;  // > 0: where the end says that the directory begins
};

inline std::string zip(const std::vector<ZipPart>& parts, ZipEnd end = {}) {
  Bytes file, directory;
  for (const ZipPart& part : parts) {
    const auto begin = part.from > 0 ? part.from : static_cast<uint32_t>(file.text.size());
    const auto size = static_cast<uint32_t>(static_cast<int64_t>(part.data.size()) + part.larger);
    const auto name_length = static_cast<uint16_t>(part.name.size());
    file.raw("PK\3\4").zeros(22).number(name_length).number(uint16_t{0}).raw(part.name).raw(part.data);
    directory.raw("PK\1\2").zeros(4).number(part.flags).number(part.method).zeros(8).u32(size).u32(size);
    directory.number(name_length).number(static_cast<uint16_t>(part.extra.size())).zeros(10).u32(begin);
    directory.raw(part.name).raw(part.extra);
  }
  const auto at = end.directory > 0 ? end.directory : static_cast<uint32_t>(file.text.size());
  const auto count = static_cast<uint16_t>(static_cast<int>(parts.size()) + end.more);
  file.raw(directory.text).raw("PK\5\6").zeros(4).number(count).number(count);
  return file.u32(static_cast<uint32_t>(directory.text.size())).u32(at).zeros(2).text;
}

/// An archive of torch.save around a pickle, with four floats as storage "0".
inline std::string torch_zip(const std::string& pickle) {
  return zip({{"archive/data.pkl", pickle},
              {"archive/byteorder", "little"},
              {"archive/data/0", std::string(16, '\1')}});
}

}  // namespace orrery::io
