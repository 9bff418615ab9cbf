// A file written whole or not at all: beside its place, then renamed.
#pragma once

#include <QByteArray>
#include <QString>

#include "engine/base/result.h"

namespace orrery::ui {

/// `io` where it cannot be written; what was there stays.
Result<void> saveFile(const QString& path, const QByteArray& text);

}  // namespace orrery::ui
