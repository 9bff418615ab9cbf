// One op of the registry on arrays from files: what it is, and a graph of it alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/api/own_graph.h"

namespace orrery::api {

struct OpInfo {
  graph::OpPtr op;
  std::vector<std::string> devices;  // that have kernels for it: "cpu", "cuda"
};
/// The ops of the registry in its order. The cards' module is opened to ask it.
std::vector<OpInfo> list_ops();

struct OpRequest {
  std::string op;
  /// What inputs are given, by the names that the op has for them: a .npy file, or numbers as they are typed
  /// (array_text.h). An input that takes several values may be named several times.
  std::vector<std::pair<std::string, std::string>> inputs;
  /// Attributes as texts: numbers, true or false, lists as "1, 2" or "[1, 2]".
  std::vector<std::pair<std::string, std::string>> attributes;
  /// Outputs and their gradients, given likewise: then those of the inputs that hold floats are computed too.
  std::vector<std::pair<std::string, std::string>> gradients = {};
};

/// The op of a request, by its name or another that it is known by (ops/aliases.h). Refused with the nearest
/// names.
Result<OpInfo> find_op(const OpRequest& request);

/// A session of the op alone, and the request of what the files hold. What an op reads only as a file stores
/// it (the weight of a linear) is a constant of the graph.
struct OpenedOp {
  std::shared_ptr<Session> session;
  RunRequest request;
  std::vector<std::string> names;  // of what a run gives: the op's outputs, then grad_NAME of inputs
};
Result<OpenedOp> open_op(const OpRequest& request, const OpenOptions& options);

}  // namespace orrery::api
