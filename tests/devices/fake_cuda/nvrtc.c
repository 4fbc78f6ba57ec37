// A compiler of a few lines, to lie beside the driver: with FAKE "no compiler" it fails, else it makes
// a kernel of the word "compiled".

#include <stdlib.h>
#include <string.h>
int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
const char *nvrtcGetErrorString(int error) { return "?"; }
int nvrtcCreateProgram(void **p, const char *source, const char *name, int count,
                       const char *const *headers, const char *const *names) {
    *p = &nvrtcVersion;
    return 0;
}
int nvrtcCompileProgram(void *p, int count, const char *const *options) {
    const char *fake = getenv("FAKE");
    return fake && !strcmp(fake, "no compiler") ? 6 : 0;
}
int nvrtcGetProgramLogSize(void *p, size_t *size) { *size = 9; return 0; }
int nvrtcGetProgramLog(void *p, char *log) { strcpy(log, "so sorry"); return 0; }
int nvrtcGetCUBINSize(void *p, size_t *size) { *size = 8; return 0; }
int nvrtcGetCUBIN(void *p, char *kernel) { memcpy(kernel, "compiled", 8); return 0; }
