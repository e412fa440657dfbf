// Records every change that a process makes below one directory, in the order in which the changes took effect.
//
// The library is preloaded (LD_PRELOAD). Its constructor installs a seccomp filter that traps the system calls that
// change files. The handler of the trap makes the call itself and appends a record to the recording, both under one
// lock. The filter sees system calls rather than functions of libc, so it also catches programs that bypass libc, as
// rustix does.
// Syncs take effect when they end, for writes before they began: they have two records, and run without the lock.
//
// FPSTORE_WATCH      the directory, an absolute path without symbolic links
// FPSTORE_MARKS      a file; writes to it become marks in the recording
// FPSTORE_RECORDING  the recording. recording.rs reads it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { CREATE = 1, LENGTH, WRITE, ALLOCATE, SYNC, SYNC_DATA, SYNC_NAMES, SYNCED, RENAME, UNLINK, LINK, MKDIR, RMDIR, MARK, UNKNOWN };

struct header {
    uint32_t kind;
    uint32_t first;  // bytes of the first text after the header
    uint32_t second; // bytes of the second one
    uint32_t unused;
    uint64_t file;   // inode number, or the number of a sync
    uint64_t at;     // offset or length
};

#define LONGEST 4200

static char root[LONGEST], marks[LONGEST];
static size_t root_length;
static int recording = -1;
static uint64_t syncs;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

// The only function whose system calls pass the filter.
long recorder_call(long number, long a, long b, long c, long d, long e, long f);
extern char recorder_returned[];

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
__asm__(".text\n.globl recorder_call\n.type recorder_call,@function\nrecorder_call:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\nsyscall\n"
        ".globl recorder_returned\nrecorder_returned:\nret\n");
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
__asm__(".text\n.globl recorder_call\n.type recorder_call,%function\nrecorder_call:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\nsvc #0\n"
        ".globl recorder_returned\nrecorder_returned:\nret\n");
#else
#error "the recorder knows x86_64 and aarch64"
#endif

static void die(const char *why) {
    recorder_call(SYS_write, 2, (long)"recorder: ", 10, 0, 0, 0);
    recorder_call(SYS_write, 2, (long)why, strlen(why), 0, 0, 0);
    recorder_call(SYS_write, 2, (long)"\n", 1, 0, 0, 0);
    recorder_call(SYS_exit_group, 99, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

static void append(const void *bytes, size_t count) {
    const char *at = bytes;
    while (count > 0) {
        long done = recorder_call(SYS_write, recording, (long)at, count, 0, 0, 0);
        if (done == -EINTR) continue;
        if (done <= 0) die("cannot write the recording");
        at += done;
        count -= done;
    }
}

static void record(uint32_t kind, uint64_t file, uint64_t at, const char *first, const char *second) {
    struct header header = {kind, first ? strlen(first) : 0, second ? strlen(second) : 0, 0, file, at};
    append(&header, sizeof header);
    append(first, header.first);
    append(second, header.second);
}

// Finds the path of an open file. Returns 0 if it has none.
static int path_of(long fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", (int)fd);
    long length = recorder_call(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, LONGEST - 1, 0, 0);
    if (length <= 0) return 0;
    path[length] = 0;
    return 1;
}

// Returns the part of a path below the watched directory, or null if the path leads elsewhere.
static const char *below(const char *path) {
    if (strncmp(path, root, root_length) != 0) return NULL;
    if (path[root_length] == 0) return path + root_length;
    return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

// Resolves a path as the kernel would, short of symbolic links, and returns its part below the watched directory.
static const char *resolve(long directory, const char *path, char *buffer) {
    size_t length = 0;
    if (path[0] != '/') {
        if ((int)directory == AT_FDCWD) {
            if (recorder_call(SYS_getcwd, (long)buffer, LONGEST, 0, 0, 0, 0) <= 0) die("no working directory");
        } else if (!path_of(directory, buffer)) {
            return NULL;
        }
        length = strlen(buffer);
        buffer[length++] = '/';
    }
    size_t rest = strlen(path);
    if (length + rest >= LONGEST) die("a path is too long");
    memcpy(buffer + length, path, rest + 1);
    length += rest;
    while (length > 1 && buffer[length - 1] == '/') buffer[--length] = 0;
    return below(buffer);
}

static int is_watched(long fd) {
    char path[LONGEST];
    return path_of(fd, path) && below(path) != NULL;
}

static struct stat about(long fd) {
    struct stat status;
    if (recorder_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0) die("fstat fails");
    return status;
}

static long open_file(long number, const long a[6]) {
    int at = number == SYS_openat;
    const char *path = (const char *)a[at];
    long flags = a[at + 1];
    char buffer[LONGEST];
    struct stat before;
    const char *name = resolve(at ? a[0] : AT_FDCWD, path, buffer);
    int unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    int existed = name && recorder_call(SYS_newfstatat, AT_FDCWD, (long)buffer, (long)&before, AT_SYMLINK_NOFOLLOW, 0, 0) == 0;
    long fd = recorder_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!name || fd < 0) return fd;
    uint64_t file = about(fd).st_ino;
    if (unnamed) {
        record(CREATE, file, 0, NULL, NULL);
    } else if (!existed) {
        record(CREATE, file, 0, name, NULL);
    } else if ((flags & O_TRUNC) && before.st_size > 0) {
        record(LENGTH, file, 0, NULL, NULL);
    }
    return fd;
}

// Writes and records pieces of memory. An offset of -1 stands for the position of the file.
static long write_file(long fd, const struct iovec *pieces, long count, off_t offset, long number, const long a[6]) {
    char path[LONGEST];
    int named = path_of(fd, path), mark = named && strcmp(path, marks) == 0;
    int watched = named && below(path);
    if (watched && offset == -1) {
        long flags = recorder_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
        offset = (flags & O_APPEND) ? about(fd).st_size : recorder_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
        if (offset < 0) die("a watched file has no position");
    }
    long done = recorder_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (done <= 0 || !(watched || mark)) return done;
    struct header header = {mark ? MARK : WRITE, done, 0, 0, about(fd).st_ino, offset};
    append(&header, sizeof header);
    long left = done;
    for (long i = 0; i < count && left > 0; i++) {
        long part = (long)pieces[i].iov_len < left ? (long)pieces[i].iov_len : left;
        append(pieces[i].iov_base, part);
        left -= part;
    }
    return done;
}

static long on_names(uint32_t kind, long number, const long a[6], long d1, const char *p1, long d2, const char *p2) {
    char first[LONGEST], second[LONGEST];
    const char *from = resolve(d1, p1, first), *to = p2 ? resolve(d2, p2, second) : NULL;
    long done = recorder_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (done == 0 && (from || to)) {
        if (!from || (p2 && !to)) kind = UNKNOWN;
        record(kind, 0, 0, from, to);
    }
    return done;
}

static long sync_file(long number, const long a[6]) {
    char path[LONGEST];
    const char *name = path_of(a[0], path) ? below(path) : NULL;
    if (!name) return recorder_call(number, a[0], 0, 0, 0, 0, 0);
    struct stat status = about(a[0]);
    pthread_mutex_lock(&order);
    uint64_t sync = ++syncs;
    if (S_ISDIR(status.st_mode)) record(SYNC_NAMES, 0, sync, name, NULL);
    else record(number == SYS_fsync ? SYNC : SYNC_DATA, status.st_ino, sync, NULL, NULL);
    pthread_mutex_unlock(&order);
    long done = recorder_call(number, a[0], 0, 0, 0, 0, 0);
    if (done == 0) {
        pthread_mutex_lock(&order);
        record(SYNCED, 0, sync, NULL, NULL);
        pthread_mutex_unlock(&order);
    }
    return done;
}

// Makes a call without a record type: the reader refuses the recording if the call was on a watched file.
static long unknown(long number, const long a[6], long fd) {
    char text[64];
    if ((int)fd < 0 || is_watched(fd)) {
        snprintf(text, sizeof text, "system call %ld", number);
        record(UNKNOWN, 0, 0, text, NULL);
    }
    return recorder_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long act(long number, const long a[6]) {
    struct iovec one;
    switch (number) {
#ifdef SYS_open
    case SYS_open:
    case SYS_creat:
        if (number == SYS_creat) {
            const long same[6] = {a[0], O_CREAT | O_WRONLY | O_TRUNC, a[1]};
            return open_file(SYS_open, same);
        }
        return open_file(number, a);
    case SYS_rename: return on_names(RENAME, number, a, AT_FDCWD, (char *)a[0], AT_FDCWD, (char *)a[1]);
    case SYS_unlink: return on_names(UNLINK, number, a, AT_FDCWD, (char *)a[0], 0, NULL);
    case SYS_rmdir: return on_names(RMDIR, number, a, AT_FDCWD, (char *)a[0], 0, NULL);
    case SYS_mkdir: return on_names(MKDIR, number, a, AT_FDCWD, (char *)a[0], 0, NULL);
    case SYS_link: return on_names(LINK, number, a, AT_FDCWD, (char *)a[0], AT_FDCWD, (char *)a[1]);
    case SYS_symlink: return on_names(UNKNOWN, number, a, AT_FDCWD, (char *)a[1], 0, NULL);
#endif
    case SYS_openat: return open_file(number, a);
    case SYS_renameat2: return on_names(a[4] ? UNKNOWN : RENAME, number, a, a[0], (char *)a[1], a[2], (char *)a[3]);
#ifdef SYS_renameat
    case SYS_renameat: return on_names(RENAME, number, a, a[0], (char *)a[1], a[2], (char *)a[3]);
#endif
    case SYS_unlinkat: return on_names(a[2] & AT_REMOVEDIR ? RMDIR : UNLINK, number, a, a[0], (char *)a[1], 0, NULL);
    case SYS_mkdirat: return on_names(MKDIR, number, a, a[0], (char *)a[1], 0, NULL);
    case SYS_linkat: return on_names(LINK, number, a, a[0], (char *)a[1], a[2], (char *)a[3]);
    case SYS_symlinkat: return on_names(UNKNOWN, number, a, a[1], (char *)a[2], 0, NULL);
    case SYS_truncate: return on_names(UNKNOWN, number, a, AT_FDCWD, (char *)a[0], 0, NULL);
    case SYS_write:
    case SYS_pwrite64:
        one = (struct iovec){(void *)a[1], a[2]};
        return write_file(a[0], &one, 1, number == SYS_write ? -1 : a[3], number, a);
    case SYS_writev:
    case SYS_pwritev: return write_file(a[0], (struct iovec *)a[1], a[2], number == SYS_writev ? -1 : a[3], number, a);
    case SYS_ftruncate:
    case SYS_fallocate: {
        long done = recorder_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (done != 0 || !is_watched(a[0])) return done;
        if (number == SYS_ftruncate) record(LENGTH, about(a[0]).st_ino, a[1], NULL, NULL);
        else if (a[1] == 0) record(ALLOCATE, about(a[0]).st_ino, a[2] + a[3], NULL, NULL);
        else record(UNKNOWN, 0, 0, "fallocate with a mode", NULL);
        return done;
    }
    case SYS_mmap:
        if ((int)a[4] < 0) return recorder_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        return unknown(number, a, a[4]);
    case SYS_copy_file_range:
    case SYS_splice: return unknown(number, a, a[2]);
    case SYS_sendfile:
    case SYS_ioctl:
    case SYS_pwritev2: return unknown(number, a, a[0]);
    default: return unknown(number, a, -1);
    }
}

static void trapped(int signal, siginfo_t *info, void *context) {
    (void)signal;
    ucontext_t *thread = context;
    long number = info->si_syscall;
#if defined(__x86_64__)
    greg_t *r = thread->uc_mcontext.gregs;
    const long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    greg_t *result = &r[REG_RAX];
#else
    unsigned long long *r = thread->uc_mcontext.regs;
    const long a[6] = {r[0], r[1], r[2], r[3], r[4], r[5]};
    unsigned long long *result = &r[0];
#endif
    if (number == SYS_fsync || number == SYS_fdatasync) {
        *result = sync_file(number, a);
        return;
    }
    pthread_mutex_lock(&order);
    *result = act(number, a);
    pthread_mutex_unlock(&order);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define ANY_BIT(mask, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, yes, no)
#define TRAP(number) EQUAL(number, 0, 1), RETURN(SECCOMP_RET_TRAP)
// Traps a call if an argument has a bit of the mask.
#define TRAP_IF(number, argument, mask)                                                                                \
    EQUAL(number, 0, 4), LOAD(args[argument]), ANY_BIT(mask, 0, 1), RETURN(SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW)
#define CHANGES (O_CREAT | O_TRUNC | O_TMPFILE)

static void install(void) {
    uint64_t returned = (uint64_t)(uintptr_t)recorder_returned;
    struct sock_filter filter[] = {
        LOAD(arch), EQUAL(ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(instruction_pointer), EQUAL(returned, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        EQUAL(returned >> 32, 0, 1), RETURN(SECCOMP_RET_ALLOW),
        LOAD(nr),
#ifdef SYS_open
        TRAP(SYS_creat), TRAP(SYS_rename), TRAP(SYS_unlink), TRAP(SYS_rmdir), TRAP(SYS_mkdir), TRAP(SYS_link), TRAP(SYS_symlink),
#endif
#ifdef SYS_renameat
        TRAP(SYS_renameat),
#endif
        TRAP(SYS_write), TRAP(SYS_pwrite64), TRAP(SYS_writev), TRAP(SYS_pwritev), TRAP(SYS_pwritev2),
        TRAP(SYS_ftruncate), TRAP(SYS_truncate), TRAP(SYS_fallocate), TRAP(SYS_fsync), TRAP(SYS_fdatasync),
        TRAP(SYS_renameat2), TRAP(SYS_unlinkat), TRAP(SYS_mkdirat), TRAP(SYS_linkat), TRAP(SYS_symlinkat),
        TRAP(SYS_copy_file_range), TRAP(SYS_splice), TRAP(SYS_sendfile), TRAP(SYS_openat2), TRAP(SYS_io_uring_setup),
#ifdef SYS_open
        TRAP_IF(SYS_open, 1, CHANGES & ~O_DIRECTORY),
#endif
        TRAP_IF(SYS_openat, 2, CHANGES & ~O_DIRECTORY),
        // Cloning (FICLONE, FICLONERANGE).
        EQUAL(SYS_ioctl, 0, 4), LOAD(args[1]), EQUAL(0x40049409, 1, 0), EQUAL(0x4020940d, 0, 1), RETURN(SECCOMP_RET_TRAP),
        // Writing through shared memory.
        LOAD(nr), EQUAL(SYS_mmap, 0, 5), LOAD(args[2]), ANY_BIT(PROT_WRITE, 0, 3), LOAD(args[3]), ANY_BIT(MAP_SHARED, 0, 1),
        RETURN(SECCOMP_RET_TRAP),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) != 0) die("cannot handle SIGSYS");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        die("this system does not allow seccomp filters");
}

__attribute__((constructor)) static void begin(void) {
    const char *watch = getenv("FPSTORE_WATCH"), *to = getenv("FPSTORE_RECORDING"), *mark = getenv("FPSTORE_MARKS");
    if (!watch || !to || !mark) return;
    root_length = strlen(watch);
    if (root_length + 1 > LONGEST || strlen(mark) + 1 > LONGEST) die("a path is too long");
    strcpy(root, watch);
    strcpy(marks, mark);
    recording = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (recording < 0) die("cannot create the recording");
    install();
}
