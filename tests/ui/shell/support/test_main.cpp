#include <gtest/gtest.h>

#include <QApplication>

#include "support/screen.h"
#include "ui/session/session_controller.h"

int main(int argc, char** argv) {
  orrery::ui::testing::useScreen({1920, 1200});  // the window has its usual size
  ::testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
