// workbench/cases/kernels/gatv2_backward.cu - start kernel: clears the results, then atomic additions edge by edge.
// launch clear block=256 grid=ceil((sources+rows+1)*heads*channels, 256)
// launch add block=128 grid=rows
extern "C" __global__ void clear(const float* z_src, const float* z_dst, const float* att, const int* indptr,
                                 const int* indices, const float* grad_logits, float* grad_src, float* grad_dst,
                                 float* grad_att, long long rows, long long sources, long long edges, long long heads,
                                 long long channels) {
  const long long width = heads * channels;
  long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < sources * width) {
    grad_src[i] = 0.0f;
    return;
  }
  i -= sources * width;
  if (i < rows * width) {
    grad_dst[i] = 0.0f;
    return;
  }
  i -= rows * width;
  if (i < width) grad_att[i] = 0.0f;
}

extern "C" __global__ void add(const float* z_src, const float* z_dst, const float* att, const int* indptr,
                               const int* indices, const float* grad_logits, float* grad_src, float* grad_dst,
                               float* grad_att, long long rows, long long sources, long long edges, long long heads,
                               long long channels) {
  const long long width = heads * channels, i = blockIdx.x;
  for (long long j = threadIdx.x; j < width; j += 128) {
    float of_row = 0.0f, of_att = 0.0f;
    for (int e = indptr[i]; e < indptr[i + 1]; ++e) {
      const float sum = z_src[indices[e] * width + j] + z_dst[i * width + j];
      const float slope = sum > 0.0f ? 1.0f : 0.2f, grad = grad_logits[e * heads + j / channels];
      atomicAdd(&grad_src[indices[e] * width + j], grad * att[j] * slope);
      of_row += grad * att[j] * slope;
      of_att += grad * sum * slope;
    }
    grad_dst[i * width + j] = of_row;
    atomicAdd(&grad_att[j], of_att);
  }
}
