// What nearly every file of the worker includes from LibTorch; precompiled once, which saves 3 to 20 s a file. What is in here costs every file
// the instantiation of its templates (2 s; 4.5 s with autograd's functions and process groups), so those few files that need more include it themselves.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/grad_mode.h>
