// Float32 loops that LibTorch has no fused operator for. All arrays are dense and row-major; rows are shared out over LibTorch's threads.
//
// Shape letters: T rows (tokens), d row length, H heads, D head size, F width of the MLP, V vocabulary.
#pragma once

#include <cstdint>

namespace ringwright::worker::simd {

// y = w * x / sqrt(mean(x^2) + eps); rstd_T keeps 1 / sqrt(...).
void rms_norm_forward(const float* x_Td, const float* w_d, float eps, int64_t rows, int64_t length, float* y_Td, float* rstd_T);
// y = w * x * rstd, from the kept rstd.
void rms_norm_again(const float* x_Td, const float* w_d, const float* rstd_T, int64_t rows, int64_t length, float* y_Td);
// dx = grad through the norm, plus residual_Td where that is not null (dx may be residual_Td). dw_d is overwritten.
void rms_norm_backward(const float* dy_Td, const float* x_Td, const float* w_d, const float* rstd_T, const float* residual_Td, int64_t rows,
                       int64_t length, float* dx_Td, float* dw_d);

// In place on x_THD: halves (a, b) of each head become (a cos - b sin, b cos + a sin), with cos and sin of [T, D/2]; `inverse` turns back.
void rotate_halves(float* x_THD, const float* cos_Th, const float* sin_Th, int64_t rows, int64_t heads, int64_t head_size, bool inverse);

// h = silu(g) * u.
void silu_multiply_forward(const float* g_TF, const float* u_TF, int64_t count, float* h_TF);
// dg and du from dh; may overwrite g and u in place (dg = g, du = u).
void silu_multiply_backward(const float* dh_TF, const float* g_TF, const float* u_TF, int64_t count, float* dg_TF, float* du_TF);

// For each row: logprob_T = log softmax(logits)[target] (0 where target < 0). With weight_T, logits become the gradient of -sum weight * logprob:
// weight * (softmax - onehot), 0 where target < 0 or weight is 0.
void nll_rows(float* logits_TV, const int64_t* targets_T, const float* weight_T, int64_t rows, int64_t vocabulary, float* logprob_T);

struct AdamWStep {
  float decay;  // 1 - lr * weight decay
  float beta1, beta2;
  float one_minus_beta1, one_minus_beta2;  // taken in double before rounding
  float step_size, bias_correction2_sqrt, eps;
  float grad_scale;  // every gradient is multiplied by it first
};
void adamw(float* p, const float* g, float* m, float* v, int64_t count, const AdamWStep& step);
// Sum of squares, accumulated in double per block.
double sum_of_squares(const float* x, int64_t count);

}  // namespace ringwright::worker::simd
