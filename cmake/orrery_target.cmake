# How every target of the project is built: one interface target with the warnings, and two functions.
add_library(orrery_options INTERFACE)
target_compile_features(orrery_options INTERFACE cxx_std_20)
target_compile_options(orrery_options INTERFACE
                       $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;$<$<BOOL:${ORRERY_WERROR}>:-Werror>>)
target_include_directories(orrery_options INTERFACE "${PROJECT_SOURCE_DIR}")
# Some 160 test programs are linked from static libraries; gold takes less than half of the usual linker's time for one.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold ORRERY_GOLD)
if(ORRERY_GOLD)
  target_link_options(orrery_options INTERFACE -fuse-ld=gold)
endif()
if(ORRERY_SANITIZE)
  # GCC 12 sees uninitialised variants where instrumented code has none.
  target_compile_options(orrery_options INTERFACE -fsanitize=${ORRERY_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(orrery_options INTERFACE -fsanitize=${ORRERY_SANITIZE})
endif()

# Instrumented, the libraries are half a gigabyte in each program that takes all of them: 40 GB of programs, a quarter of an hour
# to link them. There they are shared.
set(ORRERY_LIBRARY_KIND STATIC)
if(ORRERY_SANITIZE)
  set(ORRERY_LIBRARY_KIND SHARED)
endif()

# For folders whose code waits for a person, and not a person for it: a third less time to compile than -O2.
set(ORRERY_COLD_OPTIMISATION $<$<CONFIG:Release>:-O1>)
set(ORRERY_TEST_OPTIMISATION $<$<CONFIG:Release>:-O1>)
if(ORRERY_SANITIZE)
  set(ORRERY_TEST_OPTIMISATION -O0)
endif()
include(orrery_precompiled)

# orrery_together(TARGET [ALONE a.cpp ...]): with ORRERY_UNITY its files are compiled eight at a time, in the order of the list:
# half of what one takes alone is to instantiate what all of them include. Names of unnamed namespaces are therefore distinct
# in a folder. ALONE: files whose names are rather kept (a format's limits, an op's `infer`), or that include what others must not.
function(orrery_together target)
  cmake_parse_arguments(arg "" "" "ALONE" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ORRERY_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(ORRERY_UNITY)  # GCC takes files that are included for headers, whose types must not hold one of an unnamed namespace
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# orrery_library(NAME SOURCES a.cpp ... DEPENDS target ... [ALONE a.cpp ...]): the library of one folder. A folder (and
# those in it) whose files take precompiled headers sets ORRERY_PRECOMPILED to their name. ALONE: see orrery_together().
function(orrery_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;ALONE" ${ARGN})
  add_library(${name} ${ORRERY_LIBRARY_KIND} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES DEFINE_SYMBOL "")  # what is compiled is the same for either kind
  target_link_libraries(${name} PUBLIC orrery_options ${arg_DEPENDS})
  orrery_use_precompiled(${name} "${ORRERY_PRECOMPILED}")
  orrery_together(${name} ALONE ${arg_ALONE})
endfunction()

# orrery_test(NAME [LONG] SOURCES a.cpp ... DEPENDS target ... [LABELS l ...] [ALONE a.cpp ...]): one GoogleTest program, one ctest entry.
# Those labelled threads are what the thread sanitizer runs; the target threads builds them. LONG: of minutes where code is
# instrumented, begun first where tests run side by side, so that no core waits for it at the end.
# Matchers are most of a test's code: they are optimised less than what they test, for the time that takes.
function(orrery_test name)
  cmake_parse_arguments(arg "LONG" "TIMEOUT" "SOURCES;DEPENDS;LABELS;ALONE" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  if(ORRERY_SANITIZE)  # instrumented code is several times slower
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 3")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE orrery_options ${arg_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ORRERY_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
                             ORRERY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${ORRERY_TEST_OPTIMISATION})
  orrery_use_precompiled(${name} "${ORRERY_PRECOMPILED}")
  orrery_together(${name} ALONE ${arg_ALONE})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
                       ENVIRONMENT "QT_QPA_PLATFORM=offscreen")
  if(arg_LONG)
    set_tests_properties(${name} PROPERTIES COST 1000)
  endif()
  if(threads IN_LIST arg_LABELS)
    add_dependencies(threads ${name})
  endif()
endfunction()

# gpu_test(PROGRAM): the same tests once more on the first CUDA device, labelled gpu; skipped, and said so, where there is none.
function(gpu_test program)
  add_test(NAME gpu_${program} COMMAND ${program})
  set_tests_properties(gpu_${program} PROPERTIES TIMEOUT 900 LABELS gpu
                       ENVIRONMENT "ORRERY_TEST_DEVICE=cuda:0;QT_QPA_PLATFORM=offscreen"
                       SKIP_REGULAR_EXPRESSION "no device to test" RESOURCE_LOCK gpu)
endfunction()
