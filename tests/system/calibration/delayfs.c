// A FUSE file system that passes everything on to a folder and takes a known time for every read and write.
//
//   delayfs FOLDER MOUNT MICROSECONDS [SUFFIX]    in the foreground, until MOUNT is unmounted
//
// With a SUFFIX only files whose names end with it are delayed. The kernel keeps nothing (direct_io), so that each call
// of a program is a request here; requests of several processes are delayed side by side.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char* folder;
static const char* suffix = "";
static uint64_t delay_ns;

struct place {
  char text[PATH_MAX];
};
static struct place real(const char* path) {
  struct place place;
  snprintf(place.text, sizeof place.text, "%s%s", folder, path);
  return place;
}
static int result(long value) { return value < 0 ? -errno : (int)value; }

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int is_slow(const char* path) {
  const size_t length = strlen(path), end = strlen(suffix);
  return length >= end && strcmp(path + length - end, suffix) == 0;
}

// Sleeps until shortly before the time and spins through the rest: a sleep ends late by tens of microseconds.
static void wait_until(uint64_t time_ns) {
  const uint64_t early_ns = 60000;
  if (time_ns > now_ns() + early_ns) {
    const uint64_t wake_ns = time_ns - early_ns;
    const struct timespec wake = {(time_t)(wake_ns / 1000000000u), (long)(wake_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
  }
  while (now_ns() < time_ns) {
  }
}

static void* begin(struct fuse_conn_info* connection, struct fuse_config* config) {
  (void)connection;
  config->direct_io = 1;
  config->attr_timeout = config->entry_timeout = 0;
  return NULL;
}
static int get_state(const char* path, struct stat* state, struct fuse_file_info* file) {
  return result(file != NULL ? fstat((int)file->fh, state) : lstat(real(path).text, state));
}
static int open_file(const char* path, struct fuse_file_info* file) {
  // Alignment is between the program and the kernel: this one has buffers of its own.
  const int descriptor = open(real(path).text, file->flags & ~O_DIRECT);
  file->fh = (uint64_t)descriptor;
  return descriptor < 0 ? -errno : 0;
}
static int create_file(const char* path, mode_t mode, struct fuse_file_info* file) {
  const int descriptor = open(real(path).text, (file->flags & ~O_DIRECT) | O_CREAT, mode);
  file->fh = (uint64_t)descriptor;
  return descriptor < 0 ? -errno : 0;
}
static int read_file(const char* path, char* data, size_t size, off_t offset, struct fuse_file_info* file) {
  const uint64_t end_ns = now_ns() + delay_ns;
  const int moved = result(pread((int)file->fh, data, size, offset));
  if (is_slow(path)) wait_until(end_ns);
  return moved;
}
static int write_file(const char* path, const char* data, size_t size, off_t offset, struct fuse_file_info* file) {
  const uint64_t end_ns = now_ns() + delay_ns;
  const int moved = result(pwrite((int)file->fh, data, size, offset));
  if (is_slow(path)) wait_until(end_ns);
  return moved;
}
static int sync_file(const char* path, int data, struct fuse_file_info* file) {
  (void)path, (void)data;
  return result(fsync((int)file->fh));
}
static int close_file(const char* path, struct fuse_file_info* file) {
  (void)path;
  return result(close((int)file->fh));
}
static int set_size(const char* path, off_t size, struct fuse_file_info* file) {
  return result(file != NULL ? ftruncate((int)file->fh, size) : truncate(real(path).text, size));
}
static int remove_file(const char* path) { return result(unlink(real(path).text)); }
static int make_folder(const char* path, mode_t mode) { return result(mkdir(real(path).text, mode)); }
static int remove_folder(const char* path) { return result(rmdir(real(path).text)); }
static int change_mode(const char* path, mode_t mode, struct fuse_file_info* file) {
  (void)file;
  return result(chmod(real(path).text, mode));
}
static int rename_item(const char* from, const char* to, unsigned flags) {
  return flags != 0 ? -EINVAL : result(rename(real(from).text, real(to).text));
}
static int list_folder(const char* path, void* list, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info* file,
                       enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  DIR* entries = opendir(real(path).text);
  if (entries == NULL) return -errno;
  for (const struct dirent* entry = readdir(entries); entry != NULL; entry = readdir(entries))
    fill(list, entry->d_name, NULL, 0, 0);
  closedir(entries);
  return 0;
}
static int get_space(const char* path, struct statvfs* space) { return result(statvfs(real(path).text, space)); }

static const struct fuse_operations operations = {
    .init = begin,          .getattr = get_state,  .open = open_file,        .create = create_file,
    .read = read_file,      .write = write_file,   .fsync = sync_file,       .release = close_file,
    .truncate = set_size,   .unlink = remove_file, .mkdir = make_folder,     .rmdir = remove_folder,
    .chmod = change_mode,   .rename = rename_item, .readdir = list_folder,   .statfs = get_space,
};

int main(int count, char** words) {
  if (count < 4) return fputs("usage: delayfs FOLDER MOUNT MICROSECONDS [SUFFIX]\n", stderr), 2;
  folder = words[1];
  delay_ns = strtoull(words[3], NULL, 10) * 1000;
  if (count > 4) suffix = words[4];
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  char* arguments[] = {words[0], words[2], "-f", "-o", "fsname=delayfs", NULL};
  return fuse_main(5, arguments, &operations, NULL);
}
