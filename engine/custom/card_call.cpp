#include "engine/custom/card_call.h"

#include <fmt/format.h>

#include "kernels/device.h"
#include "kernels/device_module.h"

namespace orrery::custom {
namespace {

constexpr int kPlainBlock = 256;  // where a thread has an item

const kernels::Row<kernels::Program>* program_row() {
  const auto rows = kernels::rows_of<kernels::Program>(kernels::DeviceKind::cuda);
  return rows.empty() ? nullptr : rows.data();
}

}  // namespace

kernels::Program::Problem program_of(const Body& body, const kernels::ProgramImage* image) {
  return {image, body.name(), body.block() > 0 ? body.block() : kPlainBlock};
}

std::string card_refusal(const Body& body, const kernels::ProgramImage* image,
                         const kernels::Machine& machine) {
  if (body.cuda()) return {};
  if (!image) return "it has no body for a card";
  const auto* const row = program_row();
  if (!row) return "the CUDA module is not there, or older than this program";
  return row->supports(program_of(body, image), machine);
}

void call_card(const Body& body, const kernels::ProgramImage* image, const orrery_call& call,
               const kernels::Launch& launch) {
  if (call.items <= 0) return;
  if (const auto own = body.cuda()) {
    const char* const failed = own(&call, launch.stream);
    if (!failed) return;
    throw kernels::DeviceError(kernels::DeviceError::Kind::failed,
                               fmt::format("{}: {}", body.name(), failed));
  }
  const kernels::Program::Problem problem = program_of(body, image);
  orrery_call given = call;  // texts are the host's
  for (orrery_value& value : given.attributes) value.text = nullptr;
  const int64_t blocks = body.block() > 0 ? call.items : (call.items + kPlainBlock - 1) / kPlainBlock;
  program_row()->run({problem, blocks, &given}, launch);
}

}  // namespace orrery::custom
