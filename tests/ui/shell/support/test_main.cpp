#include <gtest/gtest.h>

#include "support/event_watch.h"
#include "support/screen.h"
#include "ui/session/session_controller.h"

int main(int argc, char** argv) {
  orrery::ui::testing::useScreen({1920, 1200});  // the window has its usual size
  ::testing::InitGoogleTest(&argc, argv);
  orrery::ui::testing::WatchedApplication application(argc, argv);
  QApplication::setCursorFlashTime(0);  // a picture is the same whenever it is taken
  return RUN_ALL_TESTS();
}
