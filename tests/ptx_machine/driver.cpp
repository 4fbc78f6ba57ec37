// A CUDA driver that runs PTX in machine.cpp: what Queenfold calls of libcuda, as strict as the documentation allows.
// A thread for each stream runs its orders, so nothing is done when a call returns.
//
// It behaves as badly as a real one. FAKE_DEVICES is the number of devices, FAKE_LOG a file that tells of calls, FAKE names
// what fails:
//
// "idle": launches do nothing. "hours": an hour passes after each launch, a job takes a microsecond, and nothing is counted.
// "endless": the second launch never ends. Until the process is killed, whatever waits for the device never returns: freeing
// and allocating memory, unloading a module, releasing the context, and the end of the process, as far as it runs the
// library's destructors.
// "sticky": the second launch, or that of the number FAKE_LAUNCH, fails, and from then on every call of the process does. If
// FAKE_ONCE names a file, that happens only to the process that creates it.
// "no room": no block of a kernel fits on a multiprocessor.
// "late": what is copied while a launch is under way arrives only when the next kernel starts, unless a stream waits for it.
#include "machine.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <functional>
#include <thread>
#include <unistd.h>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {

u32 env(const char *name, u32 otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoul(text, nullptr, 10) : otherwise;
}
/// Whether FAKE names this.
bool is(const char *what) {
    const char *fake = getenv("FAKE");
    return fake && !strcmp(fake, what);
}
bool flag(const char *name, bool otherwise) { return env(name, otherwise) != 0; }

const int INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NO_BINARY = 209, INVALID_PTX = 218,
          INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600;

struct Module {
    Kernel kernel;
    u32 dynamic_shared = 48 << 10;
};
struct Stream {
    std::deque<std::function<void()>> orders;
    bool busy = false, ends = false;
    /// Launches that were given, and that the host knows to have ended.
    u64 launched = 0, ended = 0;
    std::mutex lock;
    std::condition_variable changed;
    std::thread thread;
};
struct Event {
    std::mutex lock;
    std::condition_variable changed;
    u64 recorded = 0, done = 0;
    double at; // milliseconds
    Stream *stream;
    u64 launched;
};

DeviceMemory memory;
Report report;
std::mutex table_lock;
std::set<Stream *> streams;
std::set<Event *> events;
std::map<u64, u64> pinned; // begin, bytes
std::map<std::string, std::pair<Effort, u64>> efforts;
std::map<std::string, std::map<u32, Count>> counts; // by kernel and line
thread_local bool has_context = false;
bool retained = false;
int context;
u32 launch_number = 0;
std::atomic<u64> most_device{0}, most_pinned{0}, jobs{0};
std::atomic<u32> launches{0}, hours{0};
/// Whether a kernel runs that never ends, and the error that sticks to this process.
std::atomic<bool> stuck{false}, copied_down{false};
std::atomic<int> spoilt{0};
/// What is still on its way, if FAKE is "late".
std::mutex late_lock;
std::function<void()> late;
Event *after_late;
u32 late_since; // the launch that was given last

void arrive() {
    std::lock_guard<std::mutex> guard(late_lock);
    if (late)
        late();
    late = nullptr;
}
void told(const char *what, u64 value) {
    if (const char *path = getenv("FAKE_LOG"))
        std::ofstream(path, std::ios::app) << what << " " << value << "\n";
}
/// Why the context is lost: from the start, or after the self-test.
int lost() { return spoilt ? spoilt.load() : is("700") ? 700 : is("719") ? 719 : is("700 later") && launches > 1 ? 700 : 0; }

void note(const char *call, const std::string &what) { report.add(std::string(call) + ": " + what); }

/// What is told at the end.
struct Teller {
    ~Teller() {
        while (stuck)
            pause();
        if (const char *path = getenv("SIM_COUNTS")) {
            std::ofstream file(path);
            for (auto &[name, lines] : counts)
                for (auto &[line, count] : lines)
                    file << name << " " << line << " " << count.times << " " << count.lanes << "\n";
        }
        const char *path = getenv("SIM_REPORT");
        std::ofstream file(path ? path : "/dev/null", std::ios::app);
        if (!path)
            return;
        file << "process: " << launch_number << " launches, " << report.defects.size() << " kinds of defects\n";
        file << "  allocated in all, MiB: device " << (most_device >> 20) << ", pinned " << (most_pinned >> 20) << "\n";
        for (auto &[what, count] : report.defects)
            file << "  " << count << " x " << what << "\n";
        for (auto &[name, effort] : efforts)
            file << "  " << name << ": " << effort.second << " launches, warp instructions " << effort.first.steps
                 << ", barriers " << effort.first.barriers << "\n";
    }
} teller;

void run_orders(Stream *s) {
    std::unique_lock<std::mutex> guard(s->lock);
    for (;;) {
        s->changed.wait(guard, [&] { return s->ends || !s->orders.empty(); });
        if (s->orders.empty())
            return;
        auto order = std::move(s->orders.front());
        s->orders.pop_front();
        s->busy = true;
        guard.unlock();
        order();
        guard.lock();
        s->busy = false;
        s->changed.notify_all();
    }
}
int order(void *stream, const char *call, std::function<void()> what) {
    if (!has_context) {
        note(call, "no context is current");
        return INVALID_CONTEXT;
    }
    Stream *s = (Stream *)stream;
    {
        std::lock_guard<std::mutex> guard(table_lock);
        if (!streams.count(s)) {
            note(call, "no such stream");
            return INVALID_HANDLE;
        }
    }
    std::lock_guard<std::mutex> guard(s->lock);
    s->orders.push_back(std::move(what));
    s->changed.notify_all();
    return 0;
}
void wait_for_all() {
    std::vector<Stream *> all;
    {
        std::lock_guard<std::mutex> guard(table_lock);
        all.assign(streams.begin(), streams.end());
    }
    for (Stream *s : all) {
        std::unique_lock<std::mutex> guard(s->lock);
        s->changed.wait(guard, [&] { return s->orders.empty() && !s->busy; });
    }
}
bool under_way() {
    std::lock_guard<std::mutex> guard(table_lock);
    return std::any_of(streams.begin(), streams.end(), [](Stream *s) { return s->launched > s->ended; });
}
/// Memory is allocated and freed between launches: a driver waits until none is under way.
void stall() {
    if (under_way())
        told("stall", 0);
    wait_for_all();
}
bool is_pinned(const void *at, u64 bytes) {
    std::lock_guard<std::mutex> guard(table_lock);
    auto it = pinned.upper_bound((u64)at);
    return it != pinned.begin() && (--it, (u64)at + bytes <= it->first + it->second);
}
u8 *device(u64 at, u64 bytes, const char *call, Allocation **of = nullptr) {
    Allocation *a = memory.find(at);
    if (!a || at - a->base + bytes > a->bytes) {
        note(call, "outside of all allocations");
        return nullptr;
    }
    if (of)
        *of = a;
    return a->data.get() + (at - a->base);
}

Settings settings() {
    Settings s;
    s.chaos = flag("SIM_CHAOS", false);
    s.sms = env("SIM_SMS", 2);
    s.seed = env("SIM_SEED", 1);
    s.shared_per_sm = env("SIM_SHARED", 228) << 10;
    if (u32 most = env("SIM_MOST", 0))
        s.most_steps = most;
    return s;
}
u32 per_sm(u32 threads, u32 shared) {
    u32 by_shared = settings().shared_per_sm / (shared + 1024), by_threads = 2048 / std::max(32u, threads);
    return std::min({by_shared, by_threads, 32u});
}

/// The text without line SIM_WITHOUT, to see whether a barrier that is missing is noticed.
std::string without_a_line(std::string text) {
    u32 line = env("SIM_WITHOUT", 0);
    size_t at = 0;
    for (u32 number = 1; line && at < text.size(); number++) {
        size_t end = std::min(text.find('\n', at), text.size());
        if (number == line)
            return text.erase(at, end - at);
        at = end + 1;
    }
    return text;
}

} // namespace

API cuInit(unsigned) { told("init", 0); return is("no device") ? 100 : is("broken") ? 999 : 0; }
API cuDriverGetVersion(int *v) { *v = env("SIM_DRIVER", 12020); return 0; }
API cuGetErrorName(int e, const char **s) {
    static const std::map<int, const char *> names{
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"}, {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
        {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}};
    auto name = names.find(e);
    *s = name == names.end() ? "CUDA_ERROR_UNKNOWN" : name->second;
    return 0;
}
API cuGetErrorString(int, const char **s) { *s = "?"; return 0; }
API cuDeviceGet(int *d, int i) { *d = i; return 0; }
API cuDeviceGetCount(int *c) { *c = is("none shown") ? 0 : env("FAKE_DEVICES", 1); return 0; }
API cuDeviceGetName(char *n, int l, int) { strncpy(n, "Fake GPU", l); return 0; }
API cuDeviceGetAttribute(int *v, int a, int) {
    // Compute capability, multiprocessors, their shared memory, the limit of a display's watchdog.
    *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? settings().sms : a == 81 ? settings().shared_per_sm : a == 17 ? 0 : -1;
    if (*v < 0)
        note("cuDeviceGetAttribute", "attribute " + std::to_string(a) + " is not known here");
    return 0;
}
API cuDeviceTotalMem_v2(size_t *b, int d) { *b = 16ull << 30; return is("first fails") && d == 0 ? INVALID_DEVICE : 0; }
API cuDevicePrimaryCtxRetain(void **c, int d) { told("device", d); *c = &context; retained = true; return spoilt; }
API cuDevicePrimaryCtxRelease_v2(int) {
    wait_for_all();
    return spoilt;
}
API cuCtxSetCurrent(void *c) { has_context = c == &context && retained; return has_context ? spoilt.load() : INVALID_CONTEXT; }
API cuCtxSetFlags(unsigned) { return has_context ? 0 : INVALID_CONTEXT; }
API cuModuleLoadData(void **m, const void *image) {
    if (!has_context)
        return INVALID_CONTEXT;
    wait_for_all();
    if (is("209") || memcmp(image, "\x7f" "ELF", 4) == 0)
        return NO_BINARY;
    if (int error = is("222") ? 222 : is("218") ? INVALID_PTX : spoilt.load())
        return error;
    try {
        Module *made = new Module{parse_ptx(without_a_line((const char *)image).c_str())};
        *m = made;
        return 0;
    } catch (const std::exception &error) {
        note("cuModuleLoadData", error.what());
        return INVALID_PTX;
    }
}
API cuModuleGetFunction(void **f, void *m, const char *name) {
    *f = m;
    return ((Module *)m)->kernel.name == name ? 0 : NOT_FOUND;
}
API cuModuleUnload(void *m) {
    wait_for_all();
    delete (Module *)m;
    return 0;
}
API cuFuncGetAttribute(int *v, int, void *) { *v = 68; return 0; }
API cuFuncSetAttribute(void *f, int a, int v) {
    if (a == 8) {
        if (v > 227 << 10)
            return INVALID_VALUE;
        ((Module *)f)->dynamic_shared = v;
    }
    return 0;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *b, void *, int threads, size_t shared) {
    *b = is("no room") ? 0 : per_sm(threads, shared);
    return spoilt;
}
API cuMemAlloc_v2(u64 *p, size_t bytes) {
    if (!has_context)
        return INVALID_CONTEXT;
    if (bytes == 0)
        return INVALID_VALUE;
    if (is("no memory"))
        return OUT_OF_MEMORY;
    told("allocated", bytes >> 10);
    stall();
    *p = memory.allocate(bytes);
    most_device += bytes;
    return spoilt;
}
API cuMemFree_v2(u64 p) {
    if (!has_context)
        note("cuMemFree", "no context is current");
    stall();
    if (!memory.free(p))
        note("cuMemFree", "no such memory");
    return 0;
}
API cuMemHostAlloc(void **p, size_t bytes, unsigned) {
    if (!has_context)
        return INVALID_CONTEXT;
    told("pinned", bytes >> 10);
    stall();
    *p = aligned_alloc(4096, (bytes + 4095) & ~size_t(4095));
    memset(*p, 0x5a, bytes);
    std::lock_guard<std::mutex> guard(table_lock);
    pinned[(u64)*p] = bytes;
    most_pinned += bytes;
    return 0;
}
API cuMemFreeHost(void *p) {
    stall();
    {
        std::lock_guard<std::mutex> guard(table_lock);
        if (!pinned.erase((u64)p))
            note("cuMemFreeHost", "no such memory");
    }
    free(p);
    return 0;
}
API cuMemsetD8Async(u64 p, unsigned char value, size_t bytes, void *stream) {
    return order(stream, "cuMemsetD8Async", [=] {
        Allocation *a;
        if (u8 *to = device(p, bytes, "cuMemsetD8Async", &a)) {
            memset(to, value, bytes);
            a->fill(p - a->base, bytes);
        }
    });
}
API cuMemcpyHtoDAsync_v2(u64 d, const void *p, size_t bytes, void *stream) {
    if (!is_pinned(p, bytes))
        note("cuMemcpyHtoDAsync", "the host's memory is not pinned");
    auto copy = [=] {
        Allocation *a;
        if (u8 *to = device(d, bytes, "cuMemcpyHtoDAsync", &a)) {
            if (bytes == 4)
                __atomic_store_n((u32 *)to, *(const u32 *)p, __ATOMIC_RELAXED);
            else
                memcpy(to, p, bytes);
            a->fill(d - a->base, bytes);
        }
    };
    if (is("late") && bytes == 4 && under_way()) {
        std::lock_guard<std::mutex> guard(late_lock);
        // It was read, and is not there yet.
        late = [d, word = *(const u32 *)p] {
            if (u8 *to = device(d, 4, "cuMemcpyHtoDAsync"))
                __atomic_store_n((u32 *)to, word, __ATOMIC_RELAXED);
        };
        after_late = nullptr;
        late_since = launches;
        return 0;
    }
    return order(stream, "cuMemcpyHtoDAsync", copy);
}
API cuMemcpyDtoHAsync_v2(void *p, u64 d, size_t bytes, void *stream) {
    if (!is_pinned(p, bytes))
        note("cuMemcpyDtoHAsync", "the host's memory is not pinned");
    return order(stream, "cuMemcpyDtoHAsync", [=] {
        if (u8 *from = device(d, bytes, "cuMemcpyDtoHAsync"))
            memcpy(p, from, bytes);
        copied_down = true;
    });
}
API cuStreamCreate(void **s, unsigned) {
    if (!has_context)
        return INVALID_CONTEXT;
    Stream *made = new Stream;
    made->thread = std::thread(run_orders, made);
    std::lock_guard<std::mutex> guard(table_lock);
    streams.insert(made);
    *s = made;
    return 0;
}
API cuStreamDestroy_v2(void *stream) {
    Stream *s = (Stream *)stream;
    {
        std::lock_guard<std::mutex> guard(table_lock);
        if (!streams.erase(s))
            return INVALID_HANDLE;
    }
    {
        std::lock_guard<std::mutex> guard(s->lock);
        s->ends = true;
        s->changed.notify_all();
    }
    s->thread.join();
    delete s;
    return 0;
}
API cuEventCreate(void **e, unsigned) {
    if (!has_context)
        return INVALID_CONTEXT;
    *e = new Event;
    std::lock_guard<std::mutex> guard(table_lock);
    events.insert((Event *)*e);
    return 0;
}
API cuEventRecord(void *event, void *stream) {
    Event *e = (Event *)event;
    u64 number;
    {
        std::lock_guard<std::mutex> guard(e->lock);
        number = ++e->recorded;
        e->stream = (Stream *)stream;
        e->launched = e->stream->launched;
    }
    {
        std::lock_guard<std::mutex> guard(late_lock);
        if (late && !after_late)
            after_late = e;
    }
    const int error = order(stream, "cuEventRecord", [=] {
        std::lock_guard<std::mutex> guard(e->lock);
        e->done = std::max(e->done, number);
        std::chrono::duration<double, std::milli> now = std::chrono::steady_clock::now().time_since_epoch();
        e->at = is("hours") ? hours * 3.6e6 + jobs / 1000.0 : now.count();
        if (copied_down.exchange(false))
            hours++;
        e->changed.notify_all();
    });
    // Hours are long enough for whatever was asked.
    if (is("hours"))
        wait_for_all();
    return error;
}
API cuEventQuery(void *event) {
    Event *e = (Event *)event;
    if (lost())
        return lost();
    std::lock_guard<std::mutex> guard(e->lock);
    if (e->done != e->recorded)
        return NOT_READY;
    if (e->recorded) {
        std::lock_guard<std::mutex> guard(table_lock);
        if (streams.count(e->stream))
            e->stream->ended = std::max(e->stream->ended, e->launched);
    }
    return 0;
}
API cuStreamWaitEvent(void *stream, void *event, unsigned) {
    Event *e = (Event *)event;
    u64 number;
    {
        std::lock_guard<std::mutex> guard(e->lock);
        number = e->recorded;
    }
    if (after_late == e)
        arrive();
    return order(stream, "cuStreamWaitEvent", [=] {
        std::unique_lock<std::mutex> guard(e->lock);
        e->changed.wait(guard, [&] { return e->done >= number; });
    });
}
API cuEventElapsedTime(float *t, void *from, void *to) {
    Event *a = (Event *)from, *b = (Event *)to;
    double at;
    {
        std::lock_guard<std::mutex> guard(a->lock);
        if (!a->recorded)
            return INVALID_HANDLE;
        if (a->done != a->recorded)
            return NOT_READY;
        at = a->at;
    }
    std::lock_guard<std::mutex> guard(b->lock);
    if (!b->recorded)
        return INVALID_HANDLE;
    if (b->done != b->recorded)
        return NOT_READY;
    *t = b->at - at;
    return 0;
}
API cuEventDestroy_v2(void *event) {
    {
        std::lock_guard<std::mutex> guard(table_lock);
        if (!events.erase((Event *)event))
            return INVALID_HANDLE;
    }
    // It is not deleted: orders that are not done may have it.
    return 0;
}
API cuLaunchKernel(void *f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz, unsigned shared,
                   void *stream, void **arguments, void **extra) {
    Module *m = (Module *)f;
    if (by != 1 || bz != 1 || ty != 1 || tz != 1 || extra || bx == 0 || tx == 0 || tx > m->kernel.max_threads)
        return INVALID_VALUE;
    if (shared > m->dynamic_shared)
        return INVALID_VALUE;
    u32 room = per_sm(tx, shared);
    if (room == 0)
        return INVALID_VALUE;
    std::vector<u64> params;
    for (size_t at = 0; at < m->kernel.param_bytes.size(); at++)
        params.push_back(m->kernel.param_bytes[at] == 8 ? *(u64 *)arguments[at] : *(u32 *)arguments[at]);
    told("blocks", bx);
    told("launch", tx);
    told("shared", shared / tx);
    const u32 number = ++launches;
    ((Stream *)stream)->launched++;
    if (is("sticky") && number == env("FAKE_LAUNCH", 2)) {
        const char *once = getenv("FAKE_ONCE");
        if (!once || open(once, O_CREAT | O_EXCL, 0600) >= 0)
            spoilt = 719;
    }
    if (spoilt)
        return 0;
    if (is("endless") && number == 2)
        stuck = true;
    return order(stream, "cuLaunchKernel", [=] {
        if (number > late_since)
            arrive();
        while (stuck && number >= 2)
            pause();
        jobs += (u32)params[1];
        if (is("idle") || is("hours"))
            return;
        const LaunchShape shape{bx, tx, shared, room};
        Effort effort = run_kernel(m->kernel, shape, params, memory, settings(), report);
        for (size_t at = 0; at < params.size(); at++)
            if (m->kernel.param_bytes[at] == 8)
                if (Allocation *a = memory.find(params[at]))
                    a->generation++;
        // What comes down is read by the copy alone.
        std::lock_guard<std::mutex> guard(table_lock);
        launch_number++;
        auto &[sum, number] = efforts[m->kernel.name];
        number++;
        sum.barriers += effort.barriers;
        sum.steps += effort.steps;
        for (size_t at = 0; at < effort.counts.size(); at++) {
            Count &all = counts[m->kernel.name][m->kernel.code[at].line];
            all.times += effort.counts[at].times;
            all.lanes += effort.counts[at].lanes;
        }
    });
}
