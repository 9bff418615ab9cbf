// A graph of one's own as a JSON file, made by hand or written by the program:
//
//   {"orrery_graph": 1,
//    "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 64]}],
//    "constants": [{"name": "w", "file": "w.npy"},
//                  {"name": "half", "dtype": "f32", "shape": [1], "value": 0.5}],
//    "nodes": [{"op": "matmul", "name": "y", "inputs": {"a": "x", "b": "w"}, "attributes": {}}],
//    "outputs": ["y"]}
//
// Nodes may stand in any order. A value is the name of a node that makes one, or name:output. A dim is a
// number or an expression of symbols ("2*n+1"); a constant has a file (of NumPy, relative to the graph's), a
// value or data. What several values go into (concat) has a list of them. Names are paths: "block.y" lies in
// the scope block. Attributes that have a fallback may be left out, and infinite numbers are the texts "inf",
// "-inf" and "nan". Of a node, an input and a constant "layout" says where it is drawn: {"x": 120, "y": 80}.
// An input that is given by another name than its node's has that under "node", and what a person typed to be
// given for it under "given": "1, 2; 3, 4" (api/array_text.h).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/graph/graph.h"

namespace orrery::own {

/// Where a node is drawn on the canvas.
struct Place {
  double x = 0, y = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
using Places = std::map<std::string, Place, std::less<>>;  // by the path of a node
/// What a person gives the inputs, as it was typed, by the paths of their nodes. Nothing runs by it alone.
using Given = std::map<std::string, std::string, std::less<>>;

struct GraphFile {
  graph::Graph graph;
  Places places;
  Given given = {};
};

/// The attributes of a weight that is a tensor of a file; without a name, its only one.
using WeightOfFile =
    std::function<Result<graph::Attributes>(const std::filesystem::path& path, const std::string& tensor)>;

/// Refused, with the place in the file: what is not of this form, unknown keys, names that are there twice or
/// are no names, nodes in a circle, and what the graph refuses of a node. Files of constants are found from
/// `folder`.
Result<GraphFile> parse_graph(std::string_view json, const std::shared_ptr<const graph::OpRegistry>& ops,
                              const std::filesystem::path& folder, const WeightOfFile& weight_of_file);

/// The same file for the same graph: what parse_graph() reads of it is written so again. `folder` is that of
/// the file. Refused: a node whose name is none in a file, and a weight of a model.
Result<std::string> write_graph(const graph::Graph& graph, const Places& places, const Given& given,
                                const std::filesystem::path& folder, const WeightOfFile& weight_of_file);

/// Whether a file that begins so is a graph rather than a model or a recipe.
bool looks_like_graph(std::string_view begin);

}  // namespace orrery::own
