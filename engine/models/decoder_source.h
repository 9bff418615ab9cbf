// Reads a decoder's sizes, numbers and tensor names from config.json or GGUF metadata, whose keys both go by
// the names that config.json has in most models.
#pragma once

#include "engine/models/blocks.h"

namespace orrery::models {

/// What a family of files has in common beyond its keys.
struct DecoderFamily {
  std::string_view gguf_name;                 // general.architecture, the prefix of the keys
  std::string_view norm = "rms_norm";         // op
  std::string_view activation = "silu";       // where the file says nothing
  std::string_view gguf_rope_style = "half";  // interleaved: the converter permutes query and key rows
  KeyNames folder_keys = {};                  // what config.json calls its keys by, where not as most do
  std::string_view folder_prefix = "model.";  // of tensors in folders
  std::string_view layers = "layers";         // the list of them, in folders
  bool mixes_experts = false;                 // layers that have a router are mixtures
  int64_t context_length = 0;                 // of files that do not say; 0: they must
  std::string_view token_table = "embed_tokens", position_table = "", output_norm = "norm",
                   output = "lm_head";  // in folders
};

class DecoderSource {
 public:
  DecoderSource(const io::ModelFile& file, const io::Adapter* adapter, const DecoderFamily& family);

  bool is_gguf() const { return gguf_; }
  const Config& config() const { return config_; }
  GraphBuilder& builder() { return builder_; }
  /// Whether the file has TENSOR.weight.
  bool has(const std::string& tensor) const { return builder_.has(tensor + ".weight"); }

  /// All but what the layers are made of: their number, width, norms, activation, tables.
  Result<Decoder> read_outer() const;
  /// All that the files of most decoders say, each number checked. The layers see all tokens.
  Result<Decoder> read() const;
  /// Of the parameters SECTION.rope_type, ... of config.json (empty: those of the whole model), or of GGUF
  /// keys.
  Result<RopeSettings> read_rope(const Decoder& decoder, std::string_view section = {}) const;
  /// How many tokens each layer sees; 0: all. `slides(N)` tells of layers of which the file says nothing.
  Result<std::vector<int64_t>> read_windows(const Decoder& decoder,
                                            const std::function<bool(int64_t)>& slides) const;

  /// The experts of layers that have a router; `normalise` where the file does not say.
  Result<Mixture> read_mixture(const Decoder& decoder, bool normalise) const;
  /// With the tensors of a layer; nothing where it has no router.
  std::optional<Mixture> mixture_of(const Mixture& all, int64_t layer) const;

  /// "blk.3." or "model.layers.3."
  std::string layer_prefix(int64_t layer) const;
  /// As most decoders name them; parts that the file does not have are left empty.
  DecoderTensors tensors(int64_t layer) const;

 private:
  std::string folder_prefix() const;
  Result<void> read_attention_sizes(Decoder& decoder) const;
  Result<void> read_tables(Decoder& decoder) const;
  Result<RopeSettings> read_gguf_rope(const Decoder& decoder) const;
  Result<void> read_scaling(const Decoder& decoder, const std::string& section, RopeSettings& rope) const;
  Result<void> read_long_rope(const Decoder& decoder, const std::string& section, RopeSettings& rope) const;
  Result<void> check_rope(const Decoder& decoder, const RopeSettings& rope) const;

  DecoderFamily family_;
  bool gguf_;
  Config config_;
  GraphBuilder builder_;
  std::string prefix_;  // of tensors in folders
};

/// query, key and value as rows of the tensor FUSED, one after the other, if the file has it.
void fuse_qkv(const DecoderSource& source, const Decoder& decoder, const std::string& fused,
              DecoderTensors& tensors);

/// A decoder whose layers are all alike: read(), read_rope(), a window where the file has one.
Result<Decoder> read_plain_decoder(DecoderSource& source, bool windows = true);

}  // namespace orrery::models
