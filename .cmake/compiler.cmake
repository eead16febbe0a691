set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# What our own code is compiled with; third-party code is included as SYSTEM.
add_library(rw_flags INTERFACE)
target_include_directories(rw_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(rw_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra> $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-pthread>  # everywhere, so that all share their precompiled headers
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>  # g++ 12 warns falsely inside std::string
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-deprecated-declarations>)  # libstdc++ 12's stable_sort calls its own deprecated name
if(RINGWRIGHT_WARNINGS_AS_ERRORS)
  target_compile_options(rw_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
target_compile_definitions(rw_flags INTERFACE RINGWRIGHT_VERSION="${PROJECT_VERSION}")

if(RINGWRIGHT_SANITIZE)
  # After CMAKE_CXX_FLAGS_<CONFIG>, so these win: instrumented code at -O1 with line tables compiles in half the time, and stacks stay readable.
  add_compile_options(-fsanitize=${RINGWRIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${RINGWRIGHT_SANITIZE})
endif()

# Coverage feedback in everything that a fuzzer links; the fuzzers themselves add libFuzzer's main.
if(RINGWRIGHT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
