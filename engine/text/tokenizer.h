// Tokenizers: bytes to ids and back, exactly as the reference implementation does it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/metadata.h"
#include "engine/base/result.h"

namespace orrery::text {

using TokenId = int32_t;

/// Token ids with, for each, which of two texts it belongs to (BERT's token types).
struct Encoding {
  std::vector<TokenId> ids;
  std::vector<int32_t> types;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string_view kind() const = 0;  // "byte-level BPE", "WordPiece"
  virtual int32_t vocabulary() const = 0;     // 0: the model runs on ids alone
  /// The ids of a text; nothing trimmed. add_special: what the model adds around a text (BOS, CLS, SEP).
  /// Special tokens that are written in the text ("<|im_start|>") become their ids when parse_special.
  virtual std::vector<TokenId> encode(std::string_view text, bool add_special,
                                      bool parse_special = true) const = 0;
  /// Two texts as one sequence with what the model puts around and between them (question and passage of a
  /// reranker). At most `limit` tokens in all, the longer text cut first; 0: nothing trimmed.
  virtual Encoding encode_pair(std::string_view first, std::string_view second, int64_t limit = 0,
                               bool parse_special = true) const = 0;
  /// The bytes that an id stands for in running text; may be part of a UTF-8 sequence. Empty for unknown ids.
  virtual std::string piece(TokenId id) const = 0;
  /// As the reference decodes a whole sequence (WordPiece joins "##"); special tokens kept unless
  /// skip_special.
  virtual std::string decode(const std::vector<TokenId>& ids, bool skip_special = false) const = 0;
  virtual bool is_special(TokenId id) const = 0;
  /// The id of a token written exactly so, or -1.
  virtual TokenId find(std::string_view token) const = 0;
  virtual TokenId bos() const = 0;  // -1: none
  virtual TokenId eos() const = 0;
  /// Every id that ends a reply (EOS, end of turn).
  virtual std::vector<TokenId> end_ids() const = 0;
  /// Whether decode() takes the space off that a text begins with, as one was put there before encoding.
  virtual bool drops_first_space() const { return false; }
  /// Longest input in tokens that the tokenizer itself truncates to, 0: none.
  virtual int64_t truncate_to() const { return 0; }
};

/// From GGUF metadata (tokenizer.ggml.*): BPE ("gpt2", "gemma4"), SentencePiece BPE ("llama"), unigram
/// ("t5"), WordPiece ("bert"), or one without any tokens ("no_vocab").
Result<std::shared_ptr<const Tokenizer>> tokenizer_from_gguf(const Metadata& metadata);
/// From the text of a Hugging Face tokenizer.json: BPE, unigram, WordPiece or word level, with the
/// normalizers, pre-tokenizers, post-processors and decoders that the file composes.
Result<std::shared_ptr<const Tokenizer>> tokenizer_from_json(std::string_view json);

/// From the bytes of a sentencepiece model ("tokenizer.model": BPE or unigram). add_bos, add_eos: what stands
/// around a text, which the file does not say.
Result<std::shared_ptr<const Tokenizer>> tokenizer_from_sentencepiece(std::string_view bytes, bool add_bos,
                                                                      bool add_eos);

/// Contents of the tokenizer's files in a Hugging Face folder without tokenizer.json; empty: not there.
struct TokenizerFiles {
  std::string sentencepiece;            // tokenizer.model
  std::string vocabulary_json, merges;  // vocab.json, merges.txt
  std::string vocabulary_text;          // vocab.txt
  std::string config;                   // tokenizer_config.json
  std::string special_tokens_map;       // special_tokens_map.json
  std::string added_tokens;             // added_tokens.json
  std::string model_type;               // of config.json, where tokenizer_config.json names no class
};
/// As transformers reads such a folder: the classes of BERT, DistilBERT, Electra, MobileBERT and MPNet
/// (vocab.txt), of GPT-2, RoBERTa, BART, Longformer and Qwen2 (vocab.json and merges.txt), of Llama and Gemma
/// (tokenizer.model). Other classes are refused by name.
Result<std::shared_ptr<const Tokenizer>> tokenizer_from_files(const TokenizerFiles& files);

/// Joins pieces to text while they stream: holds back an incomplete UTF-8 sequence until it is whole; what
/// can never become whole turns into U+FFFD.
class StreamingDecoder {
 public:
  /// drop_first_space: the pieces are a whole text of a tokenizer that drops_first_space(), so that the join
  /// of all is what decode() gives. Pieces that continue a text keep the space that parts them from it.
  explicit StreamingDecoder(bool drop_first_space = false) : drop_space_(drop_first_space) {}
  std::string push(std::string_view piece);  // the text that is whole now
  std::string finish();                      // what was held back, replaced where invalid

 private:
  std::string pending_;
  bool drop_space_;
};

}  // namespace orrery::text
