// A graph of one's own: its inputs, whose sizes may be symbols, and the graph that they become with the sizes
// of what is given.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::own {

/// An input that is given by its name. Nodes may share one: then both read what is given.
struct Input {
  std::string name;
  graph::ValueType type;
  bool needed = false;  // an output of the graph depends on it
};
/// In the order of the graph. Refused where two nodes ask for different types under one name, and where a
/// node that an output depends on is an input of a model's step.
Result<std::vector<Input>> inputs_of(const graph::Graph& graph);

/// What is given for an input, its sizes numbers.
using GivenTypes = std::map<std::string, graph::ValueType, std::less<>>;

/// The sizes that the symbols of the graph's inputs have in what is given. Refused: an input that is needed
/// and not given, one that is not there, another type, rank or size than it asks for, and sizes from which a
/// symbol does not follow.
Result<Bindings> sizes_of(const graph::Graph& graph, const GivenTypes& given);

struct Sized {
  graph::GraphVersion graph;  // with the ids of the graph that it was made of
  bool open = false;          // an output depends on an input of which some size is not known, nor the step's
};
/// The graph whose inputs have these sizes, and what follows from them. Refused, with the node, where a node
/// does not take what it would get.
Result<Sized> with_sizes(const graph::GraphVersion& graph, const Bindings& sizes);

}  // namespace orrery::own
