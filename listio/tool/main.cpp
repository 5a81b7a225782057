// strider-listio-tool: asks the servers of a list-I/O volume, and the machine. `strider listio` shows what it prints.
#include <cstdio>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "listio/tool/verbs.hpp"

namespace strider::listio {
namespace {

constexpr const char* usage =
    R"(strider-listio-tool: what a list-I/O volume and this machine say of themselves, as JSON.

  status VOLUME                     what each server has done
  check VOLUME [--remove-orphans]   whether names and data files fit each other
  registration DOMAIN...            what registering p pages costs: T = a p + b

VOLUME is the file that was written when the volume was started. Exit codes: 0 done, 2 bad input, 3 could not run.
)";

[[noreturn]] void refuse() { throw InputError("", "these words are no command", "see --help"); }

std::string answer(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words.front();
  if (verb == "status" && words.size() == 2) return status_text(words[1]);
  if (verb == "check" && words.size() == 2) return check_text(words[1], Orphans::kept);
  if (verb == "check" && words.size() == 3 && words[2] == "--remove-orphans")
    return check_text(words[1], Orphans::removed);
  if (verb == "registration" && words.size() > 1) return registration_text({words.begin() + 1, words.end()});
  refuse();
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words.front() == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  try {
    std::puts(answer(words).c_str());
    return 0;
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), error.remedy().c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) { return strider::listio::run({words + 1, words + count}); }
