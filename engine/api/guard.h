// The one place where exceptions of the engine end: every entry of the api runs inside it.
#pragma once

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/base/result.h"
#include "engine/custom/own_kernel.h"
#include "engine/weights/weight_store.h"

namespace orrery::api {

/// Runs a function that returns a Result; an exception becomes its error.
template <class Function>
auto guarded(Function&& function) noexcept -> std::invoke_result_t<Function> {
  try {
    return std::forward<Function>(function)();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "There is not enough memory", "",
                 "close other models or programs"};
  } catch (const kernels::DeviceError& error) {
    return weights::describe(error);
  } catch (const custom::OwnOpError& error) {
    return Error{ErrorCode::invalid_argument, error.what(), "", "fix that op, or remove it"};
  } catch (const std::exception& exception) {
    return Error{ErrorCode::internal, exception.what(), "", "try again; report it if it stays"};
  }
}

/// For entries that only look: an exception gives the empty value.
template <class Function>
auto guarded_or_empty(Function&& function) noexcept -> std::invoke_result_t<Function> {
  try {
    return std::forward<Function>(function)();
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace orrery::api
