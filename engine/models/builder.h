// Architecture -> Graph. One file per architecture; the registry lists them by the names that files use.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/io/model_file.h"

namespace orrery::models {

enum class Task : uint8_t { generate, embed, classify };

/// What a graph is and what the engine must know beside it.
struct BuiltModel {
  graph::Graph graph;
  Task task = Task::generate;
  int64_t context_length = 0;
  int64_t layers = 0, width = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
  std::vector<std::string> labels = {};  // classify
  bool classifies_tokens = false;        // classify: a row of logits a token, not a text
  bool normalised = false;               // embed: vectors have unit length
};

/// Graph of a generator: inputs token_ids, positions, output_rows; outputs: the sample node's tokens
/// i32[outputs], the logits f32[outputs, vocabulary], then the final states. The rows of output_rows are
/// gathered before the last norm. Graph of an encoder: outputs one value f32[sequences, width or labels]
/// (logits for classify; f32[tokens, labels] where it labels tokens). Scopes: "embed", "layers.N.attention",
/// "layers.N.mlp", "output", "sampler"; node names as the field says them.
struct Architecture {
  std::string_view name;  // general.architecture / model_type
  Result<BuiltModel> (*build)(const io::ModelFile& file, const io::Adapter* adapter);
  std::string_view tasks = "writes text";
};
std::span<const Architecture> architectures();

/// Looks the architecture up and builds; an unknown one is refused by name, with the list of the known.
Result<BuiltModel> build(const io::ModelFile& file, const io::Adapter* adapter);

/// What can be drawn of any file: its tensors as weights, in scopes by their names, numbered ones in the
/// order of their numbers. They are its outputs too: it computes nothing.
BuiltModel build_outline(const io::ModelFile& file);

}  // namespace orrery::models
