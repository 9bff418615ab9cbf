// What an op says of itself.
#pragma once

#include "app/cli/output.h"
#include "engine/api/own_op.h"

namespace orrery::cli {

/// {name, family, doc, inputs, outputs, attributes, devices, backward}
Json to_json(const api::OpInfo& info);
void print_schema(const api::OpInfo& info);

}  // namespace orrery::cli
