// A graph of one's own: nodes on an empty canvas that are given arrays, with all that a session does with a
// graph (edits, undo, preview), and runs that tell every value, kernel and time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/api/array.h"
#include "engine/api/session.h"
#include "engine/own/graph_file.h"

namespace orrery::api {

using own::Given;
using own::Places;

/// A session of the graph; info().task is Task::tensors. Of the options the device, threads, fusion, passes
/// and precision are looked at. Text is refused; everything else works as for a model.
Result<std::shared_ptr<Session>> open_graph(graph::GraphVersion graph, const std::string& name,
                                            const OpenOptions& options);
/// Of no nodes yet.
Result<std::shared_ptr<Session>> new_graph(const OpenOptions& options);
/// Of the file that options.model names (own/graph_file.h). Files of its constants are mapped, not read.
Result<std::shared_ptr<Session>> open_graph_file(const OpenOptions& options);
/// Whether the file is a graph's.
bool is_graph_file(const std::string& path);

/// What a graph's file has beside the graph: where its nodes are drawn, what was typed for its inputs.
struct Canvas {
  Places places;
  Given given;
};
/// The session's graph as it is edited, with its canvas, as a file that appears whole or not at all.
/// Constants keep their files.
Result<void> save_graph(const Session& session, const std::string& path, const Canvas& canvas = {});
Result<Canvas> read_canvas(const std::string& path);

struct RunRequest {
  std::map<std::string, Array, std::less<>> inputs;  // by the names of the graph's inputs
  /// Values of the model graph that are read besides its outputs. What is kept is computed as it is drawn: a
  /// fusion that would leave it out is not made.
  std::vector<ValueId> keep = {};
  int repeat = 1;  // runs whose times are told, after some to warm up where there are more than one
};

struct RunValue {
  ValueId value;
  std::string path;  // "y:dst"
  Array array;
};

struct GraphRun {
  std::vector<RunValue> outputs, kept;  // in the order of the graph's outputs and of `keep`
  PlanReport plan;                      // each step with its time: the median over the runs
  double us = 0;                        // the sum of a run's steps, the median over the runs
  ProfilePtr profile;                   // of the nodes, a fused one's time shared out over those it computes
  Bindings sizes;                       // of the symbols in the inputs' shapes
};

/// Runs the graph of open_graph() once its symbols have the sizes of what is given, which the session's state
/// has from then on. Refused as own::sizes_of() and the nodes' inference do, with the reason of a node that
/// has no kernel, and where there is not the memory. Waits; other threads may edit meanwhile.
Result<GraphRun> run_graph(Session& session, const RunRequest& request, std::stop_token stop);

}  // namespace orrery::api
