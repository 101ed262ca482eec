/* sgemm of OpenBLAS; the symbols of the scipy-openblas32 wheel carry a prefix. */
#include <stdint.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

void scipy_cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
void scipy_openblas_set_num_threads(int threads);

void kernel(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
    static int ready;
    if (!ready) {
        scipy_openblas_set_num_threads(1);
        ready = 1;
    }
    scipy_cblas_sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, (int)m, (int)n, (int)k, 1.0f, a, (int)k, b, (int)n, 0.0f, c,
                      (int)n);
}
