#include "daemon/worker/kernels/simd/row_kernels.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "daemon/worker/kernels/simd/vector_math.h"

namespace ringwright::worker::simd {
namespace {

constexpr int64_t kGrainElements = 16384;  // less than this per thread is not worth a hand-over

int64_t grain_rows(int64_t length) { return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, length)); }

RINGWRIGHT_CLONES void norm_rows(const float* x_Td, const float* w_d, float eps, int64_t rows, int64_t length, float* y_Td, float* rstd_T) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* x = x_Td + t * length;
    float* y = y_Td + t * length;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < length; ++j) sum += x[j] * x[j];
    const float rstd = 1.0f / std::sqrt(sum / static_cast<float>(length) + eps);
    rstd_T[t] = rstd;
#pragma omp simd
    for (int64_t j = 0; j < length; ++j) y[j] = w_d[j] * (x[j] * rstd);
  }
}

RINGWRIGHT_CLONES void norm_rows_again(const float* x_Td, const float* w_d, const float* rstd_T, int64_t rows, int64_t length, float* y_Td) {
  for (int64_t t = 0; t < rows; ++t)
#pragma omp simd
    for (int64_t j = 0; j < length; ++j) y_Td[t * length + j] = w_d[j] * (x_Td[t * length + j] * rstd_T[t]);
}

// dx = rstd * (w dy - x rstd^2 mean(w dy x)); dw += dy x rstd.
RINGWRIGHT_CLONES void norm_rows_backward(const float* dy_Td, const float* x_Td, const float* w_d, const float* rstd_T, const float* residual_Td,
                                          int64_t rows, int64_t length, float* dx_Td, float* dw_d) {
  for (int64_t t = 0; t < rows; ++t) {
    const float *dy = dy_Td + t * length, *x = x_Td + t * length;
    const float rstd = rstd_T[t];
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int64_t j = 0; j < length; ++j) dot += dy[j] * w_d[j] * x[j];
    const float pull = dot * rstd * rstd / static_cast<float>(length);
    float* dx = dx_Td + t * length;
    const float* residual = residual_Td ? residual_Td + t * length : nullptr;
#pragma omp simd
    for (int64_t j = 0; j < length; ++j) dw_d[j] += dy[j] * (x[j] * rstd);
    if (residual) {
#pragma omp simd
      for (int64_t j = 0; j < length; ++j) dx[j] = residual[j] + rstd * (w_d[j] * dy[j] - x[j] * pull);
    } else {
#pragma omp simd
      for (int64_t j = 0; j < length; ++j) dx[j] = rstd * (w_d[j] * dy[j] - x[j] * pull);
    }
  }
}

RINGWRIGHT_CLONES void rotate_rows(float* x_THD, const float* cos_Th, const float* sin_Th, int64_t rows, int64_t heads, int64_t half, float sign) {
  for (int64_t t = 0; t < rows; ++t) {
    const float *c = cos_Th + t * half, *s = sin_Th + t * half;
    for (int64_t h = 0; h < heads; ++h) {
      float *a = x_THD + (t * heads + h) * 2 * half, *b = a + half;
#pragma omp simd
      for (int64_t j = 0; j < half; ++j) {
        const float first = a[j], second = b[j], sine = sign * s[j];
        a[j] = first * c[j] - second * sine;
        b[j] = second * c[j] + first * sine;
      }
    }
  }
}

RINGWRIGHT_CLONES void silu_multiply(const float* g, const float* u, int64_t count, float* h) {
#pragma omp simd
  for (int64_t j = 0; j < count; ++j) h[j] = g[j] / (1.0f + exp_fast(-g[j])) * u[j];
}

RINGWRIGHT_CLONES void silu_multiply_gradient(const float* dh, const float* g, const float* u, int64_t count, float* dg, float* du) {
#pragma omp simd
  for (int64_t j = 0; j < count; ++j) {
    const float gate = g[j], up = u[j], sigmoid = 1.0f / (1.0f + exp_fast(-gate));
    const float silu = gate * sigmoid;
    dg[j] = dh[j] * up * (sigmoid + silu * (1.0f - sigmoid));
    du[j] = dh[j] * silu;
  }
}

RINGWRIGHT_CLONES float row_maximum(const float* x, int64_t length) {
  constexpr int64_t kLanes = 32;
  float lanes[kLanes];
  for (float& lane : lanes) lane = -INFINITY;
  int64_t j = 0;
  for (; j + kLanes <= length; j += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] = x[j + k] > lanes[k] ? x[j + k] : lanes[k];
  float maximum = *std::max_element(lanes, lanes + kLanes);
  for (; j < length; ++j) maximum = x[j] > maximum ? x[j] : maximum;
  return maximum;
}

RINGWRIGHT_CLONES float exponentials(float* x, int64_t length, float maximum, bool keep) {
  float sum = 0;
  if (keep) {
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < length; ++j) {
      const float e = exp_fast(x[j] - maximum);
      x[j] = e;
      sum += e;
    }
  } else {
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < length; ++j) sum += exp_fast(x[j] - maximum);
  }
  return sum;
}

RINGWRIGHT_CLONES void scale_row(float* x, int64_t length, float factor) {
#pragma omp simd
  for (int64_t j = 0; j < length; ++j) x[j] *= factor;
}

void nll_row(float* logits, int64_t target, const float* weight, int64_t vocabulary, float* logprob) {
  if (target < 0) {
    *logprob = 0;
    if (weight) std::memset(logits, 0, sizeof(float) * static_cast<size_t>(vocabulary));
    return;
  }
  const float maximum = row_maximum(logits, vocabulary), at_target = logits[target];
  const float sum = exponentials(logits, vocabulary, maximum, weight != nullptr);
  *logprob = at_target - maximum - std::log(sum);
  if (!weight) return;
  if (*weight == 0) {
    std::memset(logits, 0, sizeof(float) * static_cast<size_t>(vocabulary));
    return;
  }
  scale_row(logits, vocabulary, *weight / sum);
  logits[target] -= *weight;
}

RINGWRIGHT_CLONES void adamw_block(float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v, int64_t count,
                                   AdamWStep s) {
#pragma omp simd
  for (int64_t j = 0; j < count; ++j) {
    const float gradient = g[j] * s.grad_scale;
    const float mean = s.beta1 * m[j] + s.one_minus_beta1 * gradient;
    const float square = s.beta2 * v[j] + s.one_minus_beta2 * gradient * gradient;
    m[j] = mean;
    v[j] = square;
    p[j] = p[j] * s.decay - s.step_size * mean / (std::sqrt(square) / s.bias_correction2_sqrt + s.eps);
  }
}

RINGWRIGHT_CLONES double squares_block(const float* x, int64_t count) {
  constexpr int64_t kBlock = 4096;
  double total = 0;
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t end = std::min(count, start + kBlock);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = start; j < end; ++j) sum += x[j] * x[j];
    total += sum;
  }
  return total;
}

}  // namespace

void rms_norm_forward(const float* x_Td, const float* w_d, float eps, int64_t rows, int64_t length, float* y_Td, float* rstd_T) {
  at::parallel_for(0, rows, grain_rows(length), [&](int64_t begin, int64_t end) {
    norm_rows(x_Td + begin * length, w_d, eps, end - begin, length, y_Td + begin * length, rstd_T + begin);
  });
}

void rms_norm_again(const float* x_Td, const float* w_d, const float* rstd_T, int64_t rows, int64_t length, float* y_Td) {
  at::parallel_for(0, rows, grain_rows(length), [&](int64_t begin, int64_t end) {
    norm_rows_again(x_Td + begin * length, w_d, rstd_T + begin, end - begin, length, y_Td + begin * length);
  });
}

void rms_norm_backward(const float* dy_Td, const float* x_Td, const float* w_d, const float* rstd_T, const float* residual_Td, int64_t rows,
                       int64_t length, float* dx_Td, float* dw_d) {
  // One partial sum of dw per chunk of rows, added up in order: the result does not depend on which thread was first.
  const int64_t chunks = std::clamp<int64_t>(at::get_num_threads(), 1, std::max<int64_t>(1, rows));
  const int64_t chunk_rows = (rows + chunks - 1) / chunks;
  std::vector<float> partial(static_cast<size_t>(chunks * length), 0.0f);
  at::parallel_for(0, chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      const int64_t begin = std::min(rows, chunk * chunk_rows), end = std::min(rows, begin + chunk_rows);
      norm_rows_backward(dy_Td + begin * length, x_Td + begin * length, w_d, rstd_T + begin, residual_Td ? residual_Td + begin * length : nullptr,
                         end - begin, length, dx_Td + begin * length, partial.data() + chunk * length);
    }
  });
  std::copy_n(partial.begin(), length, dw_d);
  for (int64_t chunk = 1; chunk < chunks; ++chunk)
    for (int64_t j = 0; j < length; ++j) dw_d[j] += partial[static_cast<size_t>(chunk * length + j)];
}

void rotate_halves(float* x_THD, const float* cos_Th, const float* sin_Th, int64_t rows, int64_t heads, int64_t head_size, bool inverse) {
  const int64_t half = head_size / 2;
  at::parallel_for(0, rows, grain_rows(heads * head_size), [&](int64_t begin, int64_t end) {
    rotate_rows(x_THD + begin * heads * head_size, cos_Th + begin * half, sin_Th + begin * half, end - begin, heads, half, inverse ? -1.0f : 1.0f);
  });
}

void silu_multiply_forward(const float* g_TF, const float* u_TF, int64_t count, float* h_TF) {
  at::parallel_for(0, count, kGrainElements,
                   [&](int64_t begin, int64_t end) { silu_multiply(g_TF + begin, u_TF + begin, end - begin, h_TF + begin); });
}

void silu_multiply_backward(const float* dh_TF, const float* g_TF, const float* u_TF, int64_t count, float* dg_TF, float* du_TF) {
  at::parallel_for(0, count, kGrainElements, [&](int64_t begin, int64_t end) {
    silu_multiply_gradient(dh_TF + begin, g_TF + begin, u_TF + begin, end - begin, dg_TF + begin, du_TF + begin);
  });
}

void nll_rows(float* logits_TV, const int64_t* targets_T, const float* weight_T, int64_t rows, int64_t vocabulary, float* logprob_T) {
  at::parallel_for(0, rows, grain_rows(vocabulary), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      nll_row(logits_TV + t * vocabulary, targets_T[t], weight_T ? weight_T + t : nullptr, vocabulary, logprob_T + t);
  });
}

void adamw(float* p, const float* g, float* m, float* v, int64_t count, const AdamWStep& step) {
  at::parallel_for(0, count, kGrainElements,
                   [&](int64_t begin, int64_t end) { adamw_block(p + begin, g + begin, m + begin, v + begin, end - begin, step); });
}

double sum_of_squares(const float* x, int64_t count) {
  return at::parallel_reduce(
      0, count, 4 * kGrainElements, 0.0, [&](int64_t begin, int64_t end, double sum) { return sum + squares_block(x + begin, end - begin); },
      [](double a, double b) { return a + b; });
}

}  // namespace ringwright::worker::simd
