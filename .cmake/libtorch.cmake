# LibTorch, as own imported targets: the wheel's CMake package needs a CUDA toolkit and links CUDA into every program.
# -idirafter, because the wheel's include folder holds a newer fmt that would shadow Debian's.
if(NOT RINGWRIGHT_WORKER)
  return()
endif()

find_path(TORCH_INCLUDE torch/csrc/api/include/torch/torch.h HINTS ${RINGWRIGHT_TORCH_DIR}/include PATH_SUFFIXES include)
if(NOT TORCH_INCLUDE)
  message(FATAL_ERROR "LibTorch was not found. Call ./bootstrap, or set RINGWRIGHT_TORCH_DIR to the folder that holds include/ and lib/, "
                      "or configure with -DRINGWRIGHT_WORKER=OFF.")
endif()
get_filename_component(TORCH_ROOT ${TORCH_INCLUDE} DIRECTORY)

add_library(rw::c10 SHARED IMPORTED GLOBAL)
set_target_properties(rw::c10 PROPERTIES IMPORTED_LOCATION ${TORCH_ROOT}/lib/libc10.so)
add_library(rw::torch_cpu SHARED IMPORTED GLOBAL)
set_target_properties(rw::torch_cpu PROPERTIES
  IMPORTED_LOCATION ${TORCH_ROOT}/lib/libtorch_cpu.so
  INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO"
  INTERFACE_LINK_LIBRARIES rw::c10
  INTERFACE_COMPILE_OPTIONS
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${TORCH_INCLUDE}/torch/csrc/api/include>;$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${TORCH_INCLUDE}>;$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-isystem ${TORCH_INCLUDE}/torch/csrc/api/include>;$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-isystem ${TORCH_INCLUDE}>")

# A CUDA build of LibTorch needs these two to start, whether there is a GPU or not. A Python environment has them beside it; where it has not, the
# worker links them, so that they are there before it looks.
execute_process(COMMAND ${CMAKE_READELF} -d ${TORCH_ROOT}/lib/libtorch_cpu.so OUTPUT_VARIABLE torch_dynamic_section ERROR_QUIET)
foreach(library cudart cupti)
  if(torch_dynamic_section MATCHES "NEEDED[^\n]*\\[(lib${library}\\.so[.0-9]*)\\]")
    set(name ${CMAKE_MATCH_1})
    file(GLOB beside ${TORCH_ROOT}/lib/${name} ${TORCH_ROOT}/../nvidia/*/lib/${name})
    set(own ${RINGWRIGHT_CUDA_RUNTIME_DIR}/${name})
    if(NOT beside AND RINGWRIGHT_CUDA_RUNTIME_DIR AND EXISTS ${own})
      set_property(TARGET rw::torch_cpu APPEND PROPERTY INTERFACE_LINK_LIBRARIES "-Wl,--push-state,--no-as-needed" ${own} "-Wl,--pop-state")
      message(STATUS "LibTorch has no ${name} beside it: ${own} is linked")
    endif()
  endif()
endforeach()

set(RINGWRIGHT_CUDA_FOUND OFF)
if(NOT RINGWRIGHT_CUDA STREQUAL "OFF" AND EXISTS ${TORCH_ROOT}/lib/libtorch_cuda.so)
  include(CheckLanguage)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)
  find_program(RINGWRIGHT_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  if(RINGWRIGHT_NVCC AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${RINGWRIGHT_NVCC})
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25 knows no C++20 for nvcc 13.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    find_package(CUDAToolkit REQUIRED)
    add_library(rw::torch_cuda SHARED IMPORTED GLOBAL)
    set_target_properties(rw::torch_cuda PROPERTIES
      IMPORTED_LOCATION ${TORCH_ROOT}/lib/libtorch_cuda.so
      INTERFACE_COMPILE_DEFINITIONS USE_C10D_NCCL
      INTERFACE_LINK_LIBRARIES "rw::torch_cpu;${TORCH_ROOT}/lib/libc10_cuda.so;CUDA::cudart")
    set(RINGWRIGHT_CUDA_FOUND ON)
  endif()
endif()
if(RINGWRIGHT_CUDA STREQUAL "ON" AND NOT RINGWRIGHT_CUDA_FOUND)
  message(FATAL_ERROR "RINGWRIGHT_CUDA=ON, but no CUDA toolkit or no libtorch_cuda.so in ${TORCH_ROOT}/lib")
endif()
message(STATUS "LibTorch: ${TORCH_ROOT}; CUDA plug-in: ${RINGWRIGHT_CUDA_FOUND}")
