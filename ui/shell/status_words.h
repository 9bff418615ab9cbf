// What the status line says.
#pragma once

#include <memory>
#include <string>

#include "engine/graph/graph.h"
#include "ui/shell/status_strip.h"

namespace orrery::api {
class Session;
}

namespace orrery::ui {

class Workspace;

class StatusWords {
 public:
  /// Of the model that is drawn; what the window does may be the other one's work.
  StatusFacts factsOf(const Workspace& work);

 private:
  QString precisionOf(const api::Session& session);

  // Each node tells its precision, and the window asks several times while it does one thing.
  std::weak_ptr<const graph::Graph> counted_;
  std::string usual_;
  QString precision_;
};

}  // namespace orrery::ui
