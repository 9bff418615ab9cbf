// The families of text and of numbers. Those that no machine need have come with the program.
#pragma once

#include <QString>

namespace orrery::ui {

/// The desktop's; where it names none that is there, Inter.
const QString& textFamily();
/// JetBrains Mono, whose digits are equally wide.
const QString& monoFamily();

}  // namespace orrery::ui
