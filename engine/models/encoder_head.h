// What follows an encoder: a vector of the text, labels of the text or of a pair of texts, or labels of
// each token. Which one is told by the class that config.json names (`architectures`) and by the tensors.
#pragma once

#include "engine/models/builder.h"
#include "engine/models/encoder_blocks.h"

namespace orrery::models {

/// out(norm(activation(dense(rows)))), rows being one of a text (pooled) or all of them. Tensors without
/// ".weight"; empty: there is no such part.
struct ClassifierLayout {
  std::string name;  // of the node of `dense`
  std::string dense;
  Activation activation = {};
  std::string norm = {};
  std::string out = "classifier";
  std::string pooling = "first";  // kind of pool
};
/// How an architecture classifies texts, and how tokens.
struct HeadLayouts {
  ClassifierLayout texts, tokens;
};

/// RoBERTa's way: out_proj(tanh(dense(first row))), and one matrix for tokens.
const HeadLayouts& dense_head_layouts();

struct EncoderHead {
  enum class Kind : uint8_t { vector, texts, tokens };
  Kind kind = Kind::vector;
  std::vector<std::string> labels;  // texts, tokens
  ClassifierLayout layout;          // texts, tokens
  std::string pooling = "mean";     // vector: kind of pool
  bool normalise = false;           // vector

  /// Two texts may be read as one sequence, told apart by their token types.
  bool reads_pairs() const { return kind == Kind::texts; }
};

/// An adapter that brings a classifier makes one of an encoder.
Result<EncoderHead> find_head(const Config& config, const GraphBuilder& builder, const io::Adapter* adapter,
                              const HeadLayouts& layouts);

/// Adds the head in scope "output" and ends the graph.
Result<BuiltModel> finish_encoder(const Config& config, GraphBuilder& builder, ValueId stream,
                                  const EncoderSizes& sizes, const EncoderHead& head);

}  // namespace orrery::models
