// What nearly every file of the worker includes from LibTorch; precompiled once (36 s), which saves 3 to 20 s a file.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
