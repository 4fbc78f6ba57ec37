/* Notes in the file $SYNCED every directory that the program makes durable. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int fsync(int file) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    struct stat is;
    char link[64], name[4096];
    if (fstat(file, &is) == 0 && S_ISDIR(is.st_mode)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t length = readlink(link, name, sizeof name - 1);
        FILE *log = fopen(getenv("SYNCED"), "a");
        if (length > 0 && log != NULL) {
            name[length] = 0;
            fprintf(log, "%s\n", name);
        }
        if (log != NULL)
            fclose(log);
    }
    return real(file);
}
