# Headers of other projects, precompiled once for all targets that are compiled alike. They only save time: a file includes
# what it uses, and compiles without (ORRERY_PCH=OFF). Never the project's own headers, nor one that would be instantiated
# again in every file (CLI11: 5 s; nlohmann/json.hpp: 0.8 s, less than reading it costs, so only where most files do).
set(ORRERY_STD_HEADERS <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <future>
    <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <stop_token> <string> <string_view> <unordered_map>
    <unordered_set> <utility> <variant> <vector>)
set(ORRERY_QT_HEADERS <QApplication> <QBoxLayout> <QFileDialog> <QFileInfo> <QGridLayout> <QHeaderView> <QHelpEvent> <QLabel>
    <QMainWindow> <QMenu> <QPainter> <QPainterPath> <QPlainTextEdit> <QPushButton> <QRegularExpression> <QScrollArea>
    <QScrollBar> <QSettings> <QStyledItemDelegate> <QTableView> <QTimer> <QToolTip> <QTreeView>)
set(ORRERY_TEST_HEADERS <gmock/gmock.h> <gtest/gtest.h> <fstream> <random> <thread>)

# -fpch-preprocess: for ccache, which reads the preprocessed source. The other: precompiled headers fill what GCC allocates
# before it first collects its garbage (128 MB), so that it would do so again and again; 256 MB take a tenth less time.
# The warnings that are off are of the library's own code: read from a precompiled header, GCC no longer knows it as such.
set(ORRERY_PCH_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;--param=ggc-min-heapsize=262144;-Wno-stringop-overread;-Wno-stringop-overflow;-Wno-array-bounds;-Wno-restrict>)

# orrery_precompiled(NAME [PROGRAM|TEST] HEADERS <h> ... DEPENDS target ...): makes orrery_pch_NAME, for
# orrery_use_precompiled(). PROGRAM, TEST: for programs or orrery_test(), which GCC compiles otherwise than libraries.
# DEPENDS: what sets the flags of those who use it.
function(orrery_precompiled name)
  cmake_parse_arguments(arg "PROGRAM;TEST" "" "HEADERS;DEPENDS" ${ARGN})
  if(NOT ORRERY_PCH)
    return()
  endif()
  file(WRITE "${PROJECT_BINARY_DIR}/precompiled.cpp.new" "// Carries the precompiled headers; holds nothing.\n")
  file(COPY_FILE "${PROJECT_BINARY_DIR}/precompiled.cpp.new" "${PROJECT_BINARY_DIR}/precompiled.cpp" ONLY_IF_DIFFERENT)
  add_library(orrery_pch_${name} OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
  set_target_properties(orrery_pch_${name} PROPERTIES AUTOMOC OFF AUTORCC OFF)
  if(arg_PROGRAM OR arg_TEST)
    set_target_properties(orrery_pch_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(orrery_pch_${name} PRIVATE -fPIE)
  endif()
  target_link_libraries(orrery_pch_${name} PRIVATE orrery_options ${arg_DEPENDS})
  if(arg_TEST)
    target_compile_options(orrery_pch_${name} PRIVATE ${ORRERY_TEST_OPTIMISATION})
  endif()
  target_precompile_headers(orrery_pch_${name} PRIVATE ${arg_HEADERS})
  target_compile_options(orrery_pch_${name} PRIVATE ${ORRERY_PCH_OPTIONS})
endfunction()

function(orrery_use_precompiled target name)
  if(TARGET orrery_pch_${name})
    target_precompile_headers(${target} REUSE_FROM orrery_pch_${name})
    target_compile_options(${target} PRIVATE ${ORRERY_PCH_OPTIONS})
  endif()
endfunction()
