// A CUDA driver of a few lines: every function that the program calls.
//
// FAKE names what fails. FAKE_DEVICES is the number of devices, FAKE_LOG a file that tells of calls.
// With COUNTING, launches run the kernel as C++, one after the other; without, they do nothing.
// With FAKE="steady", every job takes a tenth of a millisecond by the clock of the device, on every
// machine and however busy it is.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef unsigned long long u64;
static int is(const char *what) { const char *fake = getenv("FAKE"); return fake && !strcmp(fake, what); }
static int launches;
static double jobs_launched;
static void told(const char *what, unsigned value) {
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "a") : 0;
    if (file) {
        fprintf(file, "%s %u\n", what, value);
        fclose(file);
    }
}
/// Whether the context is lost: from the start, or after the self-test.
static int lost(void) {
    return is("700") ? 700 : is("719") ? 719 : is("700 later") && launches > 1 ? 700 : 0;
}
int cuInit(unsigned f) { return is("no device") ? 100 : is("broken") ? 999 : 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuGetErrorName(int e, const char **s) {
    *s = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : e == 218 ? "CUDA_ERROR_INVALID_PTX"
       : e == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : e == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
       : e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : e == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
int cuGetErrorString(int e, const char **s) { *s = "?"; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetCount(int *c) { 
    const char *count = getenv("FAKE_DEVICES");
    *c = is("none shown") ? 0 : count ? atoi(count) : 1;
    return 0;
 }
int cuDeviceGetName(char *n, int l, int d) { strncpy(n, "Fake GPU", l); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? 4 : 1; return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = (size_t)1 << 34; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { told("device", d); *c = &launches; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxSetFlags(unsigned f) { return 0; }
int cuModuleLoadData(void **m, const void *i) {
    *m = &launches;
    // Text is a kernel in the portable form; the compiler's own output is not.
    int portable = !strncmp(i, "//", 2);
    told(portable ? "embedded" : "compiled", 0);
    if (!portable)
        return is("222 compiled") ? 222 : is("218 compiled") ? 218 : is("209 compiled") ? 209 : 0;
    return is("222") ? 222 : is("218") ? 218 : is("209") ? 209 : 0;
}
int cuModuleGetFunction(void **f, void *m, const char *n) { *f = strdup(n); return 0; }
int cuModuleUnload(void *m) { return 0; }
int cuFuncGetAttribute(int *v, int a, void *f) { *v = 32; return 0; }
int cuFuncSetAttribute(void *f, int a, int v) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *b, void *f, int s, size_t d) { *b = 6; return 0; }
int cuMemAlloc_v2(u64 *p, size_t b) { *p = (u64)calloc(b, 1); return is("no memory") ? 2 : 0; }
int cuMemFree_v2(u64 p) { return 0; }
int cuMemHostAlloc(void **p, size_t b, unsigned f) { *p = calloc(b, 1); return 0; }
int cuMemFreeHost(void *p) { return 0; }
int cuMemsetD8Async(u64 p, unsigned char v, size_t b, void *s) { memset((void *)p, v, b); return 0; }
int cuMemcpyHtoDAsync_v2(u64 d, const void *p, size_t b, void *s) { memcpy((void *)d, p, b); return 0; }
int cuMemcpyDtoHAsync_v2(void *p, u64 d, size_t b, void *s) { memcpy(p, (void *)d, b); return 0; }
int cuStreamCreate(void **s, unsigned f) { told("stream", 0); *s = &launches; return 0; }
int cuStreamDestroy_v2(void *s) { return 0; }
int cuEventCreate(void **e, unsigned f) { told("event", 0); *e = calloc(1, sizeof(double)); return 0; }
int cuEventRecord(void *e, void *s) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *(double *)e = is("steady") ? jobs_launched / 10 : now.tv_sec * 1e3 + now.tv_nsec / 1e6;
    return 0;
}
int cuEventQuery(void *e) { return lost() ? lost() : is("hangs") ? 600 : 0; }
int cuEventElapsedTime_v2(float *t, void *a, void *b) { *t = *(double *)b - *(double *)a; return 0; }
int cuEventDestroy_v2(void *e) { free(e); return 0; }
#ifdef COUNTING
typedef void Kernel(unsigned specialisation, const void *jobs, unsigned job_count,
                    const void *tables, void *sums, void *progress);
Kernel queenfold_emulated_chain, queenfold_emulated_bit_board, queenfold_emulated_node_layer;
#endif
#ifndef OLD
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                   unsigned m, void *s, void **p, void **x) {
    launches++;
    told("blocks", a);
    told("launch", d);
#ifdef COUNTING
    void *jobs = *(void **)p[0], *tables = *(void **)p[2], *sums = *(void **)p[3], *done = *(void **)p[4];
    unsigned count = *(unsigned *)p[1];
    jobs_launched += count;
    if (!strcmp(f, "chain"))
        // Shared memory tells the depth: 4 bytes for each row and one more, 16 for each row.
        queenfold_emulated_chain((m / d - 4) / 20, jobs, count, tables, sums, done);
    else if (!strcmp(f, "bit_board"))
        queenfold_emulated_bit_board(0, jobs, count, tables, sums, done);
    else
        queenfold_emulated_node_layer(0, jobs, count, tables, sums, done);
#endif
    return 0;
}
#endif
