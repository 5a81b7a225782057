#include "listio/server/views.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <system_error>

#include "foundation/crc32c.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

constexpr const char* file_name = "view";
constexpr const char* fresh_name = "view.new";
constexpr std::size_t most_text_bytes = std::size_t{1} << 20;

/// With the checksum of all before it.
std::string text_of(std::uint64_t number, const std::set<std::uint32_t>& out) {
  std::string text = "strider-listio-view 1 number " + std::to_string(number) + " out";
  for (const std::uint32_t server : out) text += " " + std::to_string(server);
  std::array<char, 32> sum{};
  std::snprintf(sum.data(), sum.size(), " crc32c %08" PRIx32 "\n", crc32c(std::as_bytes(std::span(text))));
  return text + sum.data();
}

}  // namespace

Views::Views(int folder, std::uint32_t servers, Instant now)
    : servers_(servers), folder_(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), leased_until_(now) {
  read();
}

/// Leases that were given before this process began may last. Written views may not be stable yet.
void Views::read() {
  const Descriptor file(::openat(folder_.get(), file_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) {
    // No client has a lease of a new volume.
    if (const Errno error = write(number_, out_); error != 0)
      throw std::system_error(error, std::generic_category(), "writing the file view");
    return;
  }
  std::string text(most_text_bytes, '\0');
  const ssize_t count = file ? ::pread(file.get(), text.data(), text.size(), 0) : -1;
  if (count < 0 || ::fsync(file.get()) != 0 || ::fsync(folder_.get()) != 0)
    throw std::system_error(errno, std::generic_category(), "reading the file view");
  text.resize(static_cast<std::size_t>(count));
  std::istringstream in(text.substr(0, text.rfind(" crc32c ")));
  std::string name, version, word_number, word_out;
  in >> name >> version >> word_number >> number_ >> word_out;
  for (std::uint32_t server = 0; in >> server;) out_.insert(server);
  if (text != text_of(number_, out_))
    throw std::system_error(EUCLEAN, std::generic_category(), "the file view is damaged; restore it from a backup");
  leased_until_ += term;
  is_changing_ = true;
}

Errno Views::write(std::uint64_t number, const std::set<std::uint32_t>& out) {
  if (const Errno error = write_file(folder_.get(), fresh_name, text_of(number, out), 0600); error != 0) return error;
  const Descriptor fresh(::openat(folder_.get(), fresh_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fresh || ::fsync(fresh.get()) != 0) return errno;
  if (::renameat(folder_.get(), fresh_name, folder_.get(), file_name) != 0) return errno;
  return ::fsync(folder_.get()) != 0 ? failure_ = errno : 0;
}

Errno Views::change(const std::set<std::uint32_t>& out) {
  if (failure_ != 0) return failure_;
  if (const Errno error = write(number_ + 1, out); error != 0) return error;
  ++number_;
  out_ = out;
  is_changing_ = true;
  return 0;
}

bool Views::may_be_out(std::uint32_t server) const {
  if (server >= servers_) return false;
  return !out_.contains(next_server(server, servers_)) && !out_.contains(previous_server(server, servers_));
}

Errno Views::lease(const LeaseRequest& request, Instant now, ServerView& view) {
  // A client with no other request does not wait while another one has the view written.
  std::unique_lock lock(mutex_, std::defer_lock);
  if (request.suspect != LeaseRequest::no_server) lock.lock();
  else if (!lock.try_lock()) return EAGAIN;
  if (failure_ != 0) return failure_;
  if (is_changing_ && now < leased_until_) return EAGAIN;
  if (pause_ != 0 && now < paused_until_) return EAGAIN;
  is_changing_ = false;
  pause_ = 0;
  const std::uint32_t suspect = request.suspect;
  if (suspect != LeaseRequest::no_server && request.view == number_ && !out_.contains(suspect)) {
    if (!may_be_out(suspect)) return EBUSY;
    std::set<std::uint32_t> out = out_;
    out.insert(suspect);
    const Errno error = change(out);
    return error != 0 ? error : EAGAIN;
  }
  leased_until_ = std::max(leased_until_, now + term);
  view = {number_, static_cast<std::uint32_t>(term.count()), {out_.begin(), out_.end()}};
  return 0;
}

Errno Views::pause(const PauseRequest& request, Instant now) {
  const std::lock_guard lock(mutex_);
  if (failure_ != 0) return failure_;
  if (request.server >= servers_) return EINVAL;
  if (pause_ != request.fill) {
    if (pause_ != 0 && now < paused_until_) return EBUSY;
    pause_ = request.fill;
    paused_until_ = std::max(now, leased_until_) + most_pause;
  }
  if (now >= paused_until_) {
    pause_ = 0;
    return ETIMEDOUT;
  }
  return now < leased_until_ ? EAGAIN : 0;
}

Errno Views::admit(const AdmitRequest& request, Instant now) {
  const std::lock_guard lock(mutex_);
  if (pause_ != request.fill || now < leased_until_ || now >= paused_until_) return EAGAIN;
  std::set<std::uint32_t> out = out_;
  out.erase(request.server);
  const Errno error = change(out);
  if (error == 0) pause_ = 0;
  return error;
}

}  // namespace strider::listio
