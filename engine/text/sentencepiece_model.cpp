// sentencepiece's model file is a protocol buffer (sentencepiece_model.proto); this reads the few fields of
// it that decide ids. Lengths are checked against what is left, and nothing is allocated that the file does
// not hold.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "engine/text/sentencepiece_pipeline.h"

namespace orrery::text {
namespace {

Error damaged_file(std::string what) {
  return {ErrorCode::corrupt_file, std::move(what), "tokenizer.model",
          "Get the model's tokenizer.model again"};
}

/// The fields of one message, one after the other.
class Message {
 public:
  struct Field {
    uint32_t number = 0;
    uint64_t integer = 0;    // of a varint
    float real = 0;          // of four bytes
    std::string_view bytes;  // of a text or a message inside
  };
  explicit Message(std::string_view bytes) : bytes_(bytes) {}
  bool damaged() const { return damaged_; }

  /// Nothing at the end, and where the message is damaged.
  std::optional<Field> next() {
    if (bytes_.empty()) return std::nullopt;
    const uint64_t key = varint();
    Field field;
    field.number = static_cast<uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        field.integer = varint();
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        if (const std::string_view four = take(4); four.size() == 4) std::memcpy(&field.real, four.data(), 4);
        break;
      default:
        damaged_ = true;
    }
    return damaged_ ? std::nullopt : std::optional(field);
  }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::string_view one = take(1);
      if (one.empty()) return 0;
      const auto byte = static_cast<uint8_t>(one[0]);
      value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    damaged_ = true;
    return 0;
  }
  std::string_view take(uint64_t count) {
    if (count > bytes_.size()) {
      damaged_ = true;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  bool damaged_ = false;
};

struct ModelFile {
  SentencePieceParts parts;
  uint64_t kind = 1;  // 1 unigram, 2 BPE
  bool escapes_spaces = true, space_behind = false;
  int64_t bos = 1, eos = 2;
};

bool read_piece(std::string_view bytes, SentencePieceParts& parts) {
  std::string token;
  double score = 0;
  uint64_t type = 1;
  Message message(bytes);
  while (const auto field = message.next()) {
    if (field->number == 1) token = field->bytes;
    if (field->number == 2) score = static_cast<double>(field->real);
    if (field->number == 3) type = field->integer;
  }
  if (message.damaged() || type < 1 || type > 6) return false;
  if (static_cast<PieceType>(type) == PieceType::unknown && parts.unknown < 0)
    parts.unknown = static_cast<TokenId>(parts.tokens.size());
  parts.tokens.push_back(std::move(token));
  parts.scores.push_back(score);
  parts.types.push_back(static_cast<PieceType>(type));
  return true;
}

bool read_trainer(std::string_view bytes, ModelFile& file) {
  file.parts.byte_fallback = false;
  Message message(bytes);
  while (const auto field = message.next()) {
    if (field->number == 3) file.kind = field->integer;
    if (field->number == 24) file.space_behind = field->integer != 0;
    if (field->number == 35) file.parts.byte_fallback = field->integer != 0;
    if (field->number == 41) file.bos = static_cast<int32_t>(field->integer);
    if (field->number == 42) file.eos = static_cast<int32_t>(field->integer);
  }
  return !message.damaged();
}

Result<void> read_normalizer_settings(std::string_view bytes, ModelFile& file) {
  SentencePieceNormalization& normalization = file.parts.normalization;
  Message message(bytes);
  while (const auto field = message.next()) {
    if (field->number == 2 && !field->bytes.empty()) {
      ORRERY_ASSIGN(normalization.charsmap, Charsmap::parse(field->bytes));
    }
    if (field->number == 3) normalization.add_prefix = field->integer != 0;
    if (field->number == 4) normalization.remove_extra_spaces = field->integer != 0;
    if (field->number == 5) file.escapes_spaces = field->integer != 0;
  }
  if (message.damaged()) return damaged_file("The normalizer of the model is cut off");
  return {};
}

Result<ModelFile> read_file(std::string_view bytes) {
  ModelFile file;
  Message message(bytes);
  while (const auto field = message.next()) {
    if (field->number == 1 && !read_piece(field->bytes, file.parts))
      return damaged_file(fmt::format("Piece {} is damaged", file.parts.tokens.size()));
    if (field->number == 2 && !read_trainer(field->bytes, file))
      return damaged_file("The settings of the model are cut off");
    if (field->number == 3) ORRERY_TRY(read_normalizer_settings(field->bytes, file));
  }
  if (message.damaged() || file.parts.tokens.empty())
    return damaged_file("The file is no sentencepiece model");
  return file;
}

}  // namespace

Result<SentencePieceFile> read_sentencepiece_file(std::string_view bytes) {
  ORRERY_ASSIGN(ModelFile file, read_file(bytes));
  const auto unsupported = [](std::string what) {
    return Error{ErrorCode::unsupported, std::move(what), "tokenizer.model",
                 "Models of sentencepiece with BPE or unigram are"};
  };
  if (file.kind != 1 && file.kind != 2) return unsupported("Word and character models are not supported");
  if (file.space_behind || !file.escapes_spaces)
    return unsupported("Spaces after words, or as they are, are not supported");
  const auto size = static_cast<int64_t>(file.parts.tokens.size());
  const auto id = [&](int64_t value) {
    return static_cast<TokenId>(value >= 0 && value < size ? value : -1);
  };
  file.parts.bos = id(file.bos);
  file.parts.eos = id(file.eos);
  return SentencePieceFile{file.kind == 2 ? SentencePieceKind::bpe : SentencePieceKind::unigram,
                           std::move(file.parts)};
}

void set_ends(SentencePieceParts& parts, bool add_bos, bool add_eos) {
  std::vector<TokenId> before, after;
  if (add_bos && parts.bos >= 0) before = {parts.bos};
  if (add_eos && parts.eos >= 0) after = {parts.eos};
  std::vector<TokenId> between = after;
  between.insert(between.end(), before.begin(), before.end());
  parts.post_processor = PostProcessor::around(before, between, after, 1);
}

Result<std::shared_ptr<const Tokenizer>> tokenizer_from_sentencepiece(std::string_view bytes, bool add_bos,
                                                                      bool add_eos) {
  ORRERY_ASSIGN(SentencePieceFile file, read_sentencepiece_file(bytes));
  set_ends(file.parts, add_bos, add_eos);
  return make_sentencepiece(file.kind, std::move(file.parts));
}

}  // namespace orrery::text
