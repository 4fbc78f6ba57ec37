/* Stands between the program and the C library, and makes one call go wrong that changes files whose path begins
 * with $FAULTY_FILES, or one allocation of the program.
 *
 * $FAULTY_KIND: write, sync (of a file), any (of these), alloc. $FAULTY_AT: which call, from 1. Without it, all are
 * well, and their number is written to $FAULTY_COUNT.
 * $FAULTY_HOW: full or broken (the call fails, by ENOSPC or EIO), kill (the process ends before it), or
 * cut (as with kill, and of what was not synced only a part reaches the disk, chosen by $FAULTY_SEED: whole calls and
 * single sectors are lost, whatever came before or after them). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { WRITE = 1, SYNC = 2, ALLOC = 4 };
enum { SECTOR = 512 };

/* A change that no sync has made durable. */
struct change {
    struct change *before;
    ino_t file;
    char path[4096];
    off_t offset, old_size, new_size;
    size_t old_length, length;
    char *old, *new;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct change *latest;
static long calls, at;
static int kinds;
static uintptr_t code[2]; /* Where the code of the program begins and ends. */
static const char *how, *files;
static unsigned seed;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int find_code(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            code[0] = info->dlpi_addr + segment->p_vaddr;
            code[1] = code[0] + segment->p_memsz;
        }
    }
    return 1; /* The program itself is the first. */
}

__attribute__((constructor)) static void begin(void) {
    const char *kind = getenv("FAULTY_KIND"), *number = getenv("FAULTY_AT");
    files = getenv("FAULTY_FILES");
    how = getenv("FAULTY_HOW");
    seed = getenv("FAULTY_SEED") ? (unsigned)atol(getenv("FAULTY_SEED")) : 1;
    at = number ? atol(number) : 0;
    dl_iterate_phdr(find_code, NULL);
    if (kind == NULL)
        return;
    kinds = strcmp(kind, "write") == 0 ? WRITE : strcmp(kind, "sync") == 0 ? SYNC
          : strcmp(kind, "alloc") == 0 ? ALLOC : WRITE | SYNC;
}

__attribute__((destructor)) static void end(void) {
    const char *name = getenv("FAULTY_COUNT");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (file) {
        fprintf(file, "%ld", calls);
        fclose(file);
    }
}

/* Whether the descriptor is one of the files, and its path. */
static int is_ours(int descriptor, char path[4096], struct stat *is) {
    char link[64];
    if (files == NULL || fstat(descriptor, is) != 0 || !S_ISREG(is->st_mode))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, 4095);
    if (length <= 0)
        return 0;
    path[length] = 0;
    return strncmp(path, files, strlen(files)) == 0;
}

static void write_at(int file, const char *bytes, size_t length, off_t offset) {
    if (length > 0 && pwrite(file, bytes, length, offset) < 0)
        abort();
}

/* Leaves of the latest changes what a power cut leaves. */
static void cut_power(void) {
    struct change *first = NULL;
    for (struct change *change = latest, *before; change; change = before) {
        int file = open(change->path, O_RDWR);
        if (file >= 0) {
            write_at(file, change->old, change->old_length, change->offset);
            if (REAL(ftruncate)(file, change->old_size) != 0)
                abort();
            close(file);
        }
        before = change->before;
        change->before = first; /* Now it is the one after it. */
        first = change;
    }
    for (struct change *change = first; change; change = change->before) {
        int lot = rand_r(&seed) % 4, file = lot == 0 ? -1 : open(change->path, O_RDWR);
        if (file < 0)
            continue;
        if (change->new == NULL) {
            if (REAL(ftruncate)(file, change->new_size) != 0)
                abort();
        } else if (lot > 1) {
            write_at(file, change->new, change->length, change->offset);
        } else {
            for (size_t done = 0; done < change->length; done += SECTOR) {
                size_t left = change->length - done;
                if (rand_r(&seed) % 2)
                    write_at(file, change->new + done, left < SECTOR ? left : SECTOR, change->offset + (off_t)done);
            }
        }
        close(file);
    }
}

/* Whether this call is to fail. */
static int goes_wrong(enum kind kind) {
    if (!(kinds & kind) || ++calls != at)
        return 0;
    if (how && strcmp(how, "cut") == 0)
        cut_power();
    if (how && (strcmp(how, "cut") == 0 || strcmp(how, "kill") == 0)) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    errno = how && strcmp(how, "full") == 0 && kind == WRITE ? ENOSPC : EIO;
    return 1;
}

/* Keeps what is needed to undo a change and to make it again; new is NULL for a new length. */
static void remember(int file, const char *path, const struct stat *is, const char *new, size_t length, off_t offset) {
    size_t known = strlen(path);
    if (!how || strcmp(how, "cut") != 0 || (known > 4 && strcmp(path + known - 4, "-shm") == 0))
        return;
    struct change *change = calloc(1, sizeof *change);
    strcpy(change->path, path);
    change->file = is->st_ino;
    change->offset = offset;
    change->old_size = is->st_size;
    change->new_size = offset;
    change->length = length;
    size_t lost = new ? length : is->st_size > offset ? (size_t)(is->st_size - offset) : 0;
    change->old = malloc(lost + 1);
    ssize_t old = pread(file, change->old, lost, offset);
    change->old_length = old > 0 ? (size_t)old : 0;
    if (new) {
        change->new = malloc(length + 1);
        memcpy(change->new, new, length);
    }
    change->before = latest;
    latest = change;
}

static int begin_write(int file, const void *bytes, size_t length, off_t offset) {
    char path[4096];
    struct stat is;
    if (!is_ours(file, path, &is))
        return 0;
    pthread_mutex_lock(&lock);
    int wrong = goes_wrong(WRITE);
    if (!wrong)
        remember(file, path, &is, bytes, length, offset);
    pthread_mutex_unlock(&lock);
    return wrong;
}

ssize_t write(int file, const void *bytes, size_t length) {
    off_t offset = lseek(file, 0, SEEK_CUR);
    return begin_write(file, bytes, length, offset) ? -1 : REAL(write)(file, bytes, length);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    /* The calls of this library itself come here, too, but only from cut_power, which the process does not survive. */
    if (pthread_mutex_trylock(&lock) != 0)
        return REAL(pwrite64)(file, bytes, length, offset);
    pthread_mutex_unlock(&lock);
    return begin_write(file, bytes, length, offset) ? -1 : REAL(pwrite64)(file, bytes, length, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    return pwrite64(file, bytes, length, offset);
}

int ftruncate64(int file, off64_t length) {
    return begin_write(file, NULL, 0, length) ? -1 : REAL(ftruncate64)(file, length);
}

int ftruncate(int file, off_t length) {
    return begin_write(file, NULL, 0, length) ? -1 : REAL(ftruncate)(file, length);
}

static int end_sync(int file, int (*real)(int)) {
    char path[4096];
    struct stat is;
    if (!is_ours(file, path, &is))
        return real(file);
    pthread_mutex_lock(&lock);
    int done = goes_wrong(SYNC) ? -1 : real(file);
    for (struct change **change = &latest; done == 0 && *change;) {
        if ((*change)->file == is.st_ino)
            *change = (*change)->before;
        else
            change = &(*change)->before;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int file) {
    return end_sync(file, REAL(fsync));
}

int fdatasync(int file) {
    return end_sync(file, REAL(fdatasync));
}

/* Whether this allocation is one of the program's, and the one that fails. */
static int has_no_memory(const void *caller) {
    uintptr_t from = (uintptr_t)caller;
    return code[0] <= from && from < code[1] && __atomic_load_n(&kinds, __ATOMIC_RELAXED) == ALLOC
        && __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == at;
}

void *malloc(size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? ENOMEM : REAL(posix_memalign)(memory, alignment, size);
}
