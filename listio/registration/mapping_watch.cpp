#include "listio/registration/mapping_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace strider::listio {
namespace {

constexpr int user_mode_only = 1;  // UFFD_USER_MODE_ONLY, Linux 5.11; needs no privilege

Descriptor open_userfaultfd() {
  constexpr int flags = O_CLOEXEC | O_NONBLOCK;
  const long descriptor = ::syscall(SYS_userfaultfd, flags | user_mode_only);
  return Descriptor(static_cast<int>(descriptor >= 0 ? descriptor : ::syscall(SYS_userfaultfd, flags)));
}

}  // namespace

std::unique_ptr<MappingWatch> MappingWatch::make() {
  Descriptor descriptor = open_userfaultfd();
  if (!descriptor) return nullptr;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features =
      UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_REMAP;
  if (::ioctl(descriptor.get(), UFFDIO_API, &api) != 0) return nullptr;
  Descriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return nullptr;
  return std::unique_ptr<MappingWatch>(new MappingWatch(std::move(descriptor), std::move(stop)));
}

MappingWatch::MappingWatch(Descriptor descriptor, Descriptor stop)
    : descriptor_(std::move(descriptor)), stop_(std::move(stop)), listener_([this] { listen(); }) {}

MappingWatch::~MappingWatch() {
  const std::uint64_t one = 1;
  while (::write(stop_.get(), &one, sizeof one) < 0) {
  }
  listener_.join();
}

bool MappingWatch::add(const Range& pages) {
  uffdio_register wanted{};
  wanted.range = {pages.begin, pages.bytes()};
  wanted.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(descriptor_.get(), UFFDIO_REGISTER, &wanted) == 0;
}

void MappingWatch::remove(const Range& pages) {
  uffdio_range range{pages.begin, pages.bytes()};
  ::ioctl(descriptor_.get(), UFFDIO_UNREGISTER, &range);  // fails where the memory is gone, and the watch with it
}

MappingWatch::Events MappingWatch::take() {
  const std::lock_guard lock(mutex_);
  const Events events = events_;
  events_.count = 0;
  events_.lost = false;
  return events;
}

void MappingWatch::listen() {
  for (;;) {
    pollfd descriptors[] = {{descriptor_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    ::poll(descriptors, 2, -1);
    if (descriptors[1].revents != 0) return;
    if (descriptors[0].revents != 0) read_events();
  }
}

void MappingWatch::read_events() {
  // Whoever unmaps waits until its event is read. It is read under the lock, and so is in the list before that thread
  // can ask. Nothing here allocates or frees: that might unmap watched memory and wait for itself.
  const std::lock_guard lock(mutex_);
  uffd_msg message{};
  while (::read(descriptor_.get(), &message, sizeof message) == static_cast<ssize_t>(sizeof message)) {
    Range gone;
    if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE)
      gone = {static_cast<std::uintptr_t>(message.arg.remove.start),
              static_cast<std::uintptr_t>(message.arg.remove.end)};
    else if (message.event == UFFD_EVENT_REMAP)
      gone = {static_cast<std::uintptr_t>(message.arg.remap.from),
              static_cast<std::uintptr_t>(message.arg.remap.from + message.arg.remap.len)};
    else continue;
    if (events_.count < Events::most) events_.ranges[events_.count++] = gone;
    else events_.lost = true;
  }
}

}  // namespace strider::listio
