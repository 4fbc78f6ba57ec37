// A CUDA driver of a few lines: every function that the program calls. It behaves as badly as a real one.
//
// FAKE names what fails. FAKE_DEVICES is the number of devices, FAKE_LOG a file that tells of calls,
// FAKE_SHARED the shared memory of a multiprocessor in KiB, FAKE_SMS the number of multiprocessors.
// With COUNTING, launches run the kernel as C++, one after the other; without, they do nothing.
//
// FAKE="steady", and "display" for a device that shows one: every job takes a tenth of a millisecond by the clock of the device, on every machine
// and however busy it is. FAKE="hours": an hour passes after each launch, and a job takes a microsecond.
// FAKE="endless": the second launch never ends. Until the process is killed, whatever waits for the
// device never returns: freeing and allocating memory, unloading a module, releasing the context, and
// the end of the process, as far as it runs the library's destructors.
// FAKE="sticky": the second launch, or that of the number FAKE_LAUNCH, fails, and from then on every call of the process does. If FAKE_ONCE
// names a file, that happens only to the process that creates it.
// FAKE="no room": no block of a kernel fits on a multiprocessor.
// FAKE="late": what is copied while a launch is under way arrives only when the next kernel starts,
// unless a stream waits for it.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
typedef unsigned long long u64;
static int is(const char *what) { const char *fake = getenv("FAKE"); return fake && !strcmp(fake, what); }
static int launches;
static double jobs_launched, hours;
static void told(const char *what, unsigned value) {
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "a") : 0;
    if (file) {
        fprintf(file, "%s %u\n", what, value);
        fclose(file);
    }
}

/// Whether a kernel that never ends runs.
static int stuck;
/// What waits for the device waits as long as the kernel runs.
static void wait_for_device(void) {
    while (stuck)
        pause();
}
__attribute__((destructor)) static void at_exit(void) { wait_for_device(); }

/// The error that sticks to this process.
static int spoilt;
static int happens_here(void) {
    const char *once = getenv("FAKE_ONCE");
    return !once || open(once, O_CREAT | O_EXCL, 0600) >= 0;
}
/// Whether the context is lost: from the start, or after the self-test.
static int lost(void) {
    return spoilt ? spoilt : is("700") ? 700 : is("719") ? 719 : is("700 later") && launches > 1 ? 700 : 0;
}

/// Launches of a stream: given, and known to the host to have ended.
struct stream { int launched, ended, stuck; };
static struct stream *streams[4096];
static int stream_count;
static int under_way(void) {
    for (int i = 0; i < stream_count; i++)
        if (streams[i]->launched > streams[i]->ended)
            return 1;
    return 0;
}
struct event { double time; struct stream *stream; int launched, stuck; };

/// A copy that has not arrived yet, and the event that was recorded after it.
static struct { u64 to; unsigned word; int waits; struct event *after; } late;
static void arrive(void) {
    if (late.waits)
        *(unsigned *)late.to = late.word;
    late.waits = 0;
}

int cuInit(unsigned f) { told("init", f); return is("no device") ? 100 : is("broken") ? 999 : 0; }
int cuDriverGetVersion(int *v) { *v = 12020; return 0; }
int cuGetErrorName(int e, const char **s) {
    *s = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : e == 101 ? "CUDA_ERROR_INVALID_DEVICE"
       : e == 218 ? "CUDA_ERROR_INVALID_PTX" : e == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
       : e == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU" : e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
       : e == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
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
static int shared_memory(void) {
    const char *kibibytes = getenv("FAKE_SHARED");
    return (kibibytes ? atoi(kibibytes) : 228) * 1024;
}
int cuDeviceGetAttribute(int *v, int a, int d) {
    const char *many = getenv("FAKE_SMS");
    // Compute capability, multiprocessors, their shared memory, the limit of a display's watchdog.
    *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? (many ? atoi(many) : 4) : a == 81 ? shared_memory() : a == 17 ? is("display") : 1;
    return 0;
}
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = (size_t)1 << 34; return is("first fails") && d == 0 ? 101 : 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { told("device", d); *c = &launches; return spoilt; }
int cuDevicePrimaryCtxRelease_v2(int d) { wait_for_device(); return spoilt; }
int cuCtxSetCurrent(void *c) { return spoilt; }
int cuCtxSetFlags(unsigned f) { return spoilt; }
int cuModuleLoadData(void **m, const void *i) {
    wait_for_device();
    *m = &launches;
    return is("222") ? 222 : is("218") ? 218 : is("209") ? 209 : spoilt;
}
int cuModuleGetFunction(void **f, void *m, const char *n) { *f = strdup(n); return spoilt; }
int cuModuleUnload(void *m) { wait_for_device(); return spoilt; }
int cuFuncGetAttribute(int *v, int a, void *f) { *v = 32; return spoilt; }
int cuFuncSetAttribute(void *f, int a, int v) { return spoilt; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *b, void *f, int s, size_t d) {
    // A device keeps a KiB for each block.
    size_t room = shared_memory() / (d + 1024);
    *b = is("no room") ? 0 : room < 6 ? room : 6;
    return spoilt;
}
/// Memory is allocated and freed between launches: a driver waits until none is under way.
static int stalls(void) {
    wait_for_device();
    if (under_way())
        told("stall", 0);
    return spoilt;
}
int cuMemAlloc_v2(u64 *p, size_t b) {
    stalls();
    told("allocated", b >> 10);
    *p = (u64)calloc(b, 1);
    return is("no memory") ? 2 : spoilt;
}
int cuMemFree_v2(u64 p) { return stalls(); }
int cuMemHostAlloc(void **p, size_t b, unsigned f) { told("pinned", b >> 10); *p = calloc(b, 1); return stalls(); }
int cuMemFreeHost(void *p) { return stalls(); }
int cuMemsetD8Async(u64 p, unsigned char v, size_t b, void *s) {
    if (!stuck)
        memset((void *)p, v, b);
    return spoilt;
}
int cuMemcpyHtoDAsync_v2(u64 d, const void *p, size_t b, void *s) {
    if (is("late") && under_way() && b == 4) {
        late.to = d;
        late.word = *(const unsigned *)p;
        late.waits = 1;
        late.after = 0;
    } else if (!stuck)
        memcpy((void *)d, p, b);
    return spoilt;
}
static int copied_down;
int cuMemcpyDtoHAsync_v2(void *p, u64 d, size_t b, void *s) {
    copied_down = 1;
    if (!stuck)
        memcpy(p, (void *)d, b);
    return spoilt;
}
int cuStreamCreate(void **s, unsigned f) {
    told("stream", 0);
    *s = calloc(1, sizeof(struct stream));
    streams[stream_count++ % 4096] = *s;
    return spoilt;
}
int cuStreamDestroy_v2(void *s) { return spoilt; }
int cuStreamWaitEvent(void *s, void *e, unsigned f) {
    if (late.waits && late.after == e)
        arrive();
    return spoilt;
}
int cuEventCreate(void **e, unsigned f) { told("event", 0); *e = calloc(1, sizeof(struct event)); return spoilt; }
int cuEventRecord(void *e, void *s) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct event *event = e;
    event->time = is("steady") || is("display") ? jobs_launched / 10 : is("hours") ? hours * 3.6e6 + jobs_launched / 1000
                : now.tv_sec * 1e3 + now.tv_nsec / 1e6;
    event->stream = s;
    event->launched = event->stream->launched;
    event->stuck = event->stream->stuck;
    if (late.waits && !late.after)
        late.after = event;
    if (copied_down)
        hours++;
    copied_down = 0;
    return spoilt;
}
int cuEventQuery(void *e) {
    struct event *event = e;
    if (lost())
        return lost();
    if (event->stuck || is("hangs"))
        return 600;
    if (event->stream && event->stream->ended < event->launched)
        event->stream->ended = event->launched;
    return 0;
}
int cuEventElapsedTime(float *t, void *a, void *b) {
    *t = ((struct event *)b)->time - ((struct event *)a)->time;
    return spoilt;
}
int cuEventDestroy_v2(void *e) { return spoilt; }
#ifdef COUNTING
typedef void Kernel(unsigned specialisation, const void *jobs, unsigned job_count,
                    const void *tables, void *sums, void *progress);
Kernel queenfold_emulated_chain, queenfold_emulated_colour, queenfold_emulated_bit_board,
    queenfold_emulated_node_layer;
#endif
#ifndef OLD
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                   unsigned m, void *s, void **p, void **x) {
    struct stream *stream = s;
    launches++;
    stream->launched++;
    told("blocks", a);
    told("launch", d);
    told("shared", m / d);
    arrive();
    const char *which = getenv("FAKE_LAUNCH");
    if (is("sticky") && launches == (which ? atoi(which) : 2) && happens_here())
        spoilt = 719;
    if (is("endless") && launches == 2)
        stuck = 1;
    if (stuck)
        stream->stuck = 1;
    if (stuck || spoilt)
        return 0;
#ifdef COUNTING
    void *jobs = *(void **)p[0], *tables = *(void **)p[2], *sums = *(void **)p[3], *done = *(void **)p[4];
    unsigned count = *(unsigned *)p[1];
    jobs_launched += count;
    if (!strcmp(f, "chain"))
        // Shared memory tells the depth: 4 bytes for each row and one more, 16 for each row.
        queenfold_emulated_chain((m / d - 4) / 20, jobs, count, tables, sums, done);
    else if (!strcmp(f, "colour"))
        queenfold_emulated_colour(0, jobs, count, tables, sums, done);
    else if (!strcmp(f, "bit_board"))
        queenfold_emulated_bit_board(0, jobs, count, tables, sums, done);
    else
        queenfold_emulated_node_layer(0, jobs, count, tables, sums, done);
#endif
    return 0;
}
#endif
