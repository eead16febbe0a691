# One target per folder: each takes every .cpp beside its CMakeLists.txt, so a new file needs no edit.

# What most libraries include, precompiled once: nlohmann/json.hpp alone takes a second of a file's two to five.
function(ringwright_use_common_headers name)
  if(NOT TARGET rw_headers)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/common_headers.cpp "// Owns the libraries' precompiled header.\n")
    add_library(rw_headers STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/common_headers.cpp)
    target_link_libraries(rw_headers PRIVATE rw_flags nlohmann_json::nlohmann_json)
    target_precompile_headers(rw_headers PRIVATE
      <nlohmann/json.hpp> <algorithm> <filesystem> <fstream> <functional> <map> <optional> <string> <string_view> <vector>)
  endif()
  target_precompile_headers(${name} REUSE_FROM rw_headers)
endfunction()

# Code that waits for files, people and other processes: half the time to compile.
function(ringwright_compile_quickly name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# ringwright_library(NAME [HOT] DEPENDS target...): static library rw_NAME. HOT: it has loops over tokens, points or bytes, and is compiled for speed.
function(ringwright_library name)
  cmake_parse_arguments(ARG "HOT" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(rw_${name} STATIC ${sources})
  target_link_libraries(rw_${name} PUBLIC rw_flags ${ARG_DEPENDS})
  ringwright_use_common_headers(rw_${name})
  if(NOT ARG_HOT)
    ringwright_compile_quickly(rw_${name})
  endif()
endfunction()

# ringwright_program(NAME DEPENDS target...): program NAME in bin/, installed.
function(ringwright_program name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE rw_flags ${ARG_DEPENDS})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# The headers of nearly every test, precompiled once: that saves a third of a test file's time. The worker's tests have LibTorch's instead.
function(ringwright_test_headers)
  if(TARGET rw_test_headers)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/generated/test_headers.cpp "// Owns the tests' precompiled header.\n")
  add_executable(rw_test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/test_headers.cpp)  # a program, as the tests are: compiled with -fPIE
  set_target_properties(rw_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(rw_test_headers PRIVATE rw_flags nlohmann_json::nlohmann_json GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_options(rw_test_headers PRIVATE $<$<CONFIG:Release>:-O0>)
  target_precompile_headers(rw_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <algorithm> <filesystem> <fstream> <map> <optional> <string> <vector>)
endfunction()

# ringwright_test(NAME [SOURCES file...] DEPENDS target... [LABELS label...] [SERIAL] [TORCH] [TIMEOUT seconds]):
# GoogleTest program NAME in bin/tests, one ctest entry. SERIAL: nothing else runs beside it. TORCH: it takes LibTorch's
# precompiled header (ringwright_worker_test).
function(ringwright_test name)
  cmake_parse_arguments(ARG "SERIAL;TORCH" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 240)  # twice what the slowest takes on a busy machine
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests)
  target_link_libraries(${name} PRIVATE rw_flags ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(ARG_TORCH)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # LibTorch's precompiled header is for optimised code
  else()
    ringwright_test_headers()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)  # a test's own code needs no speed; it compiles in half the time
    target_precompile_headers(${name} REUSE_FROM rw_test_headers)
  endif()
  target_compile_definitions(${name} PRIVATE
    RINGWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}" RINGWRIGHT_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  if(ARG_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# ringwright_bench(NAME [SOURCES file...] DEPENDS target...): a program in bin/tests that benchmarks or the deep tier's scripts call. Not a test, and
# built by the target `benches` only (./bootstrap bench, test --deep).
function(ringwright_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${name}.cpp)
  endif()
  if(NOT TARGET benches)
    add_custom_target(benches)
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests)
  target_link_libraries(${name} PRIVATE rw_flags ${ARG_DEPENDS})
  add_dependencies(benches ${name})
endfunction()

# ringwright_fuzzer(NAME [SOURCES file...] DEPENDS target...): libFuzzer program NAME in bin/fuzz; with the option RINGWRIGHT_FUZZ only.
# The corpus to start from is the folder tests/fuzz/corpus/NAME, where there is one.
function(ringwright_fuzzer name)
  if(NOT RINGWRIGHT_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${name}.cpp)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fuzz)
  target_link_libraries(${name} PRIVATE rw_flags ${ARG_DEPENDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()

# ringwright_golden(NAME DEPENDS target... [TIMEOUT seconds]): golden program NAME in bin/tests with its own main(), one ctest entry
# that reads tests/goldens. RINGWRIGHT_GOLDENS points it at another folder of the same schema.
function(ringwright_golden name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "DEPENDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 240)  # twice what the slowest takes on a busy machine
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests)
  target_link_libraries(${name} PRIVATE rw_flags ${ARG_DEPENDS})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name} PRIVATE RINGWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# ringwright_deep_test(NAME PROGRAM FILTER [TIMEOUT seconds]): a test program's matching tests once more, at the deep tier's size (tests/deep_tier.h).
function(ringwright_deep_test name program filter)
  cmake_parse_arguments(ARG "" "TIMEOUT" "" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  endif()
  add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS deep ENVIRONMENT RINGWRIGHT_DEEP_TIER=1 RUN_SERIAL ON)
endfunction()
