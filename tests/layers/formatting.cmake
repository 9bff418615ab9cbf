# Every C++ file is as .clang-format says: lists the files that are not.
set(files "")
foreach(folder kernels engine ui app tests)
  file(GLOB_RECURSE found "${ROOT}/${folder}/*.h" "${ROOT}/${folder}/*.cpp" "${ROOT}/${folder}/*.cu" "${ROOT}/${folder}/*.cuh")
  list(APPEND files ${found})
endforeach()
list(LENGTH files count)
execute_process(COMMAND ${CLANG_FORMAT} --dry-run -Werror --ferror-limit=1 ${files} RESULT_VARIABLE result
                ERROR_VARIABLE complaints)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "not formatted (clang-format -i mends it):\n${complaints}")
endif()
message(STATUS "${count} files are formatted")
