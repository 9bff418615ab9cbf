// Graphs for the tests of the view: the real models, and generated ones.
#pragma once

#include <string>

#include "engine/graph/graph.h"
#include "ui/graph/figures.h"

namespace orrery::ui::samples {

/// The default model, for modelGraph().
inline constexpr const char* kSmol = "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
/// One token of one text.
inline const Bindings kStep{{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};

/// ${ORRERY_MODELS} or its default, then `name`.
std::string modelPath(const std::string& name);
/// A model's graph by its path below the models' folder; fused as for the CPU when asked.
Result<graph::GraphVersion> modelGraph(const std::string& name, bool fused);

/// `count` nodes without scopes: chains with forks, joins and residuals, from a fixed seed.
graph::GraphVersion flatGraph(int count);
/// Layers of equal structure, each with a group of two nodes and a residual; nothing takes what layer
/// `bypassed` makes.
graph::GraphVersion layeredGraph(int layers, int bypassed = -1);

/// A decoder of so many layers, 26 nodes each: two halves with a residual, forks in both. Layer `odd` has an
/// op of another kind.
graph::GraphVersion decoderGraph(int layers, int odd = -1);
/// An encoder, and a decoder whose layers all take what the encoder gives.
graph::GraphVersion encoderDecoderGraph(int layers);

/// Times that follow from the costs: bytes at 22 GB/s and a little for each node, some nodes estimated.
Figures plausibleFigures(const graph::Graph& graph, const Bindings& bindings, bool estimated);

}  // namespace orrery::ui::samples
