// What jobs of working threads have in common: they never throw, and answer only while nothing newer was
// asked.
#pragma once

#include <QObject>
#include <exception>
#include <functional>
#include <new>
#include <type_traits>

#include "engine/base/result.h"

namespace orrery::ui {

/// Runs what gives a Result; what is thrown below it becomes its error.
template <class Call>
auto guardedJob(Call&& call) -> std::invoke_result_t<Call> {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "There is not enough memory", "",
                 "close other programs or choose a smaller model"};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, error.what(), "", "this is a fault of the program; please report it"};
  }
}

/// Calls on the thread of `receiver`, unless its question is another one by then. Any thread; `current` is
/// a member of the receiver.
inline void postAnswer(QObject* receiver, const quint64& current, quint64 question,
                       std::function<void()> call) {
  QMetaObject::invokeMethod(
      receiver,
      [&current, question, call = std::move(call)] {
        if (current == question) call();
      },
      Qt::QueuedConnection);
}

}  // namespace orrery::ui
