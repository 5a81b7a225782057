#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace strider::listio {

/// Continues in a process of its own, detached from its starter: a new session, messages at the end of the file `log`.
/// `serve` runs there, and calls its argument as soon as it is ready; until then its output and messages go where
/// those of this process do.
/// Returns once it is ready: 0, or its exit status if it ended before; 3 if it takes longer than 20 s, and is ended.
/// InputError if `log` cannot be written; std::system_error if there can be no other process. To be called before
/// there are threads.
int run_in_background(const std::string& log, const std::function<int(const std::function<void()>& ready)>& serve);

/// Writes down in `directory`/server-`number` which process of which start of the machine this is. InputError if that
/// cannot be.
void write_process(const std::string& directory, std::uint32_t number);

/// What `stop_process` found.
enum class Stopped { none_ran, one };

/// Ends the process that wrote itself down there, and waits until it is gone: 10 s for it to finish, then it is killed.
/// std::runtime_error if it cannot be ended, or runs on another host.
Stopped stop_process(const std::string& directory, std::uint32_t number);

}  // namespace strider::listio
