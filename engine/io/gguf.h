// The GGUF reader; the byte layout stands at the top of gguf.cpp. A model may be split over several files
// ("pieces"): gguf_split.cpp puts them together.
#pragma once

#include "engine/io/model_file.h"

namespace orrery::io {

/// The types of metadata values by their numbers in the file.
enum class GgufValueType : uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

/// Where the parts of a header stand, in bytes from the file's begin; for who writes it anew.
struct GgufLayout {
  struct Key {
    std::string name;
    GgufValueType type;
    size_t begin, end;  // of the entry: name, type and value
  };
  std::vector<Key> keys;                  // in the file's order
  size_t table_begin = 0, table_end = 0;  // of the tensor table
  uint64_t alignment = 32;

  uint64_t data_begin() const { return (table_end + alignment - 1) / alignment * alignment; }
};

/// One file as it stands: a piece of a split model may lack all that describes the model.
struct GgufPiece {
  std::shared_ptr<ModelFile> file;
  GgufLayout layout;
};

bool looks_like_gguf(std::span<const std::byte> bytes);
Result<GgufPiece> read_gguf_piece(std::shared_ptr<const MappedFile> mapped, const ProgressCallback& progress,
                                  const std::stop_token& stop);

/// The model of a file. Of a split one, any piece opens all, from the same folder; missing ones are named.
Result<std::shared_ptr<ModelFile>> read_gguf(std::shared_ptr<const MappedFile> mapped,
                                             const ProgressCallback& progress, const std::stop_token& stop);

/// "model-00002-of-00003.gguf" is {"model", 2, 3}; nothing for other names.
struct GgufPieceName {
  std::string stem;
  int number = 0, count = 0;  // from 1 on
};
std::optional<GgufPieceName> parse_piece_name(const std::string& file_name);

}  // namespace orrery::io
