#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "confinement/errands.hpp"
#include "confinement/landlock.hpp"
#include "confinement/remount.hpp"
#include "confinement/supervisor.hpp"
#include "foundation/error.hpp"
#include "foundation/run_folder.hpp"
#include "measure/page_cache.hpp"

namespace strider {
namespace {

constexpr const char* usage =
    "usage: strider-confine query\n"
    "       strider-confine [--write PATH]... [--write-descriptor N]... [--errands SOCKET [--remount WORD]...]\n"
    "           -- COMMAND [ARGUMENT]...\n"
    "       strider-confine --confine off -- COMMAND [ARGUMENT]...\n";

enum ExitCode { done = 0, bad_input = 2, could_not_run = 3 };

struct Options {
  std::vector<std::string> writable;
  std::vector<int> writable_descriptors;
  std::string socket;
  std::vector<std::string> remount_command;
  bool is_confined = true;  ///< if not, the command only ends with the process that started this one
  char* const* command = nullptr;
};

int descriptor_of(const std::string& text) {
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 0 || ::fcntl(static_cast<int>(number), F_GETFD) < 0)
    throw InputError("", "--write-descriptor " + text + " is not an open descriptor", usage);
  return static_cast<int>(number);
}

Options options_of(int count, char** words) {
  Options options;
  int i = 1;
  for (; i + 1 < count && std::string(words[i]) != "--"; i += 2) {
    const std::string name = words[i], value = words[i + 1];
    if (name == "--write") options.writable.push_back(value);
    else if (name == "--write-descriptor") options.writable_descriptors.push_back(descriptor_of(value));
    else if (name == "--errands") options.socket = value;
    else if (name == "--confine" && value == "off") options.is_confined = false;
    else if (name == "--remount") options.remount_command.push_back(value);
    else throw InputError("", "unknown option " + name, usage);
  }
  if (i + 1 >= count || std::string(words[i]) != "--") throw InputError("", "the command after -- is missing", usage);
  options.command = words + i + 1;
  return options;
}

void confine(const Options& options) {
  if (!options.is_confined) return;
  WriteRules rules(landlock_support().abi);
  for (const std::string& path : options.writable) rules.allow(path);
  for (const int descriptor : options.writable_descriptors)
    rules.allow(descriptor, "descriptor " + std::to_string(descriptor));
  rules.allow_devices();
  rules.enforce();
}

void drop_caches(const void*, const std::string&) {
  if (!drop_all_pages()) throw IoError({"write", "/proc/sys/vm/drop_caches", 0, 0, 0}, "not permitted");
}

void run_remount(const void* context, const std::string& deadline) {
  const auto& command = *static_cast<const std::vector<std::string>*>(context);
  if (command.empty()) throw IoError({"remount", "", 0, 0, 0}, "no remount command is configured");
  remount(command, std::strtod(deadline.c_str(), nullptr));
}

int query() {
  const LandlockSupport found = landlock_support();
  std::cout << "landlock_abi " << found.abi << "\nlandlock_reason " << found.reason << "\nkeeps_beneath "
            << (RunFolder::kernel_keeps_beneath() ? "yes" : "no") << '\n';
  return done;
}

int run(int count, char** words) {
  if (count == 2 && std::string(words[1]) == "query") return query();
  const Options options = options_of(count, words);
  std::optional<ErrandSocket> socket;
  if (!options.socket.empty()) socket.emplace(options.socket);
  const Errands errands{{Errand::drop_caches, drop_caches}, {Errand::remount, run_remount}};
  Supervised work;
  work.command = options.command;
  work.before_command = [&] {
    confine(options);
    // Neither the command nor its children get them: an open directory keeps its file system mounted.
    for (const int descriptor : options.writable_descriptors) ::close(descriptor);
  };
  if (socket) {
    work.watched = socket->get();
    work.readable = [&] { socket->serve(errands, &options.remount_command); };
  }
  supervise(work);
}

}  // namespace
}  // namespace strider

int main(int count, char** words) {
  try {
    return strider::run(count, words);
  } catch (const strider::InputError& error) {
    std::cerr << "strider-confine: " << error.what() << ": " << error.remedy() << '\n';
    return strider::bad_input;
  } catch (const strider::IoError& error) {
    std::cerr << "strider-confine: " << error.details().call << ' ' << error.details().file << ": " << error.what()
              << '\n';
    return strider::could_not_run;
  } catch (const std::exception& error) {
    std::cerr << "strider-confine: " << error.what() << '\n';
    return strider::could_not_run;
  }
}
