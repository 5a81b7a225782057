#include <XProtocol/XProtocol.hh>
#include <XrdCl/XrdClDefaultEnv.hh>
#include <XrdCl/XrdClFile.hh>
#include <XrdCl/XrdClFileSystem.hh>
#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "interfaces/completions.hpp"
#include "interfaces/connect_limit.hpp"
#include "interfaces/library_file.hpp"
#include "interfaces/mounts.hpp"

namespace strider {
namespace {

using XrdCl::ChunkInfo;
using XrdCl::ChunkList;
using XrdCl::OpenFlags;
using XrdCl::XRootDStatus;

constexpr std::uint32_t largest_depth = 1024;
/// What servers take in one list: this many pieces, of so many bytes each.
constexpr std::size_t largest_list = 1024;
constexpr std::uint64_t largest_piece = (std::uint64_t{2} << 20) - 16;

constexpr auto owner_file = static_cast<XrdCl::Access::Mode>(kXR_ur | kXR_uw);
constexpr auto owner_folder = static_cast<XrdCl::Access::Mode>(kXR_ur | kXR_uw | kXR_ux);

constexpr std::string_view beyond_end = "illegal seek";  ///< a server's words for a list that goes past the file's end

/// What a server says of an error that has no code of its own: the system's words, in small letters.
int errno_of_text(const std::string& text) {
  for (const int number : {ESTALE, EDQUOT, EINTR, EROFS, ETIMEDOUT, EFBIG, EINVAL}) {
    std::string words = std::generic_category().message(number);
    std::ranges::transform(words, words.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (text.find(words) != std::string::npos) return number;
  }
  return EIO;
}

int errno_of(const XRootDStatus& status) {
  if (status.IsOK()) return 0;
  if (status.code == XrdCl::errErrorResponse && status.errNo == kXR_FSError)
    return errno_of_text(status.GetErrorMessage());
  if (status.code == XrdCl::errErrorResponse) return XProtocol::toErrno(static_cast<int>(status.errNo));
  if (status.code == XrdCl::errOperationExpired || status.code == XrdCl::errSocketTimeout) return ETIMEDOUT;
  return status.code == XrdCl::errNotFound ? ENOENT : EIO;
}

/// Its number gives the remedy, its text is the server's.
IoError error_of(const XRootDStatus& status, const char* call, const std::string& file, std::uint64_t offset = 0,
                 std::uint64_t length = 0) {
  std::string text = status.ToStr();
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  const bool ends = text.find(beyond_end) != std::string::npos;
  if (ends) text = "the file ends before the last piece of the request: " + text;
  return {{std::string("XrdCl::") + call, file, offset, length, ends ? 0 : errno_of(status)}, text};
}

void require(const XRootDStatus& status, const char* call, const std::string& file, std::uint64_t offset = 0,
             std::uint64_t length = 0) {
  if (!status.IsOK()) throw error_of(status, call, file, offset, length);
}

enum class Method { multiple, list };

/// Part of a request: one call of the library.
struct Part {
  Direction direction = Direction::read;
  Method method = Method::multiple;
  ChunkList chunks;  ///< one with Method::multiple

  const char* call() const {
    if (method == Method::multiple) return direction == Direction::read ? "File::Read" : "File::Write";
    return direction == Direction::read ? "File::VectorRead" : "File::VectorWrite";
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const ChunkInfo& chunk : chunks) sum += chunk.length;
    return sum;
  }
};

/// Takes a request apart into calls; `parts` keeps its memory between requests. How many they are.
std::size_t take_apart(Direction direction, const Request& request, Method method, std::vector<Part>& parts) {
  if (request.extents.size() < 2) method = Method::multiple;
  const std::size_t most = method == Method::list ? largest_list : 1;
  const std::uint64_t longest = method == Method::list ? largest_piece : std::uint64_t{1} << 30;
  std::size_t count = 0;
  for (const Extent& extent : request.extents) {
    for (std::uint64_t done = 0; done < extent.length;) {
      const std::uint64_t length = std::min(extent.length - done, longest);
      if (count == 0 || parts[count - 1].chunks.size() == most) {
        if (parts.size() == count) parts.emplace_back();
        parts[count].direction = direction;
        parts[count].method = method;
        parts[count++].chunks.clear();
      }
      parts[count - 1].chunks.emplace_back(extent.file_offset + done, static_cast<std::uint32_t>(length),
                                           request.memory + extent.memory_offset + done);
      done += length;
    }
  }
  return count;
}

std::unique_ptr<XrdCl::File> open_url(const std::string& url, const OpenRequest& request) {
  auto flags = request.access == Access::read ? OpenFlags::Read : OpenFlags::Update;
  // A server lets one client write a file unless a flag allows more.
  if (request.place.ranks > 1) flags = flags | OpenFlags::Force;
  if (request.creation == Creation::create) {
    auto file = std::make_unique<XrdCl::File>();
    const XRootDStatus made = file->Open(url, flags | OpenFlags::New, owner_file);
    if (made.IsOK()) return file;
    // There is no "create unless it is there": the first rank makes it. An object whose opening failed is of no more
    // use.
    if (errno_of(made) != EEXIST) throw error_of(made, "File::Open", url);
  }
  auto file = std::make_unique<XrdCl::File>();
  require(file->Open(url, flags, XrdCl::Access::None), "File::Open", url);
  return file;
}

class XrootdFile final : public QueuedFile {
 public:
  XrootdFile(const std::string& url, const OpenRequest& request, Method method)
      : url_(url), method_(method), file_(open_url(url, request)), completions_(request.depth), slots_(request.depth) {}
  XrootdFile(const XrootdFile&) = delete;
  XrootdFile& operator=(const XrootdFile&) = delete;
  ~XrootdFile() override {
    completions_.wait_for_all();
    if (file_->IsOpen()) static_cast<void>(file_->Close().IsOK());
  }

  void write(const Request& request) override { move(Direction::write, request); }
  void read(const Request& request) override { move(Direction::read, request); }
  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    Slot& own = slots_[slot];
    const std::size_t count = take_apart(direction, request, method_, own.parts);
    while (own.answers.size() < count) own.answers.push_back(std::make_unique<Answer>(*this, slot, own.answers.size()));
    completions_.begin(slot, count);
    for (std::size_t i = 0; i < count; ++i) {
      const XRootDStatus taken = hand_over(own.parts[i], own.answers[i].get());
      if (!taken.IsOK()) completions_.part_done(slot, error_of(own.parts[i], taken));
    }
  }
  std::size_t complete(std::span<std::uint32_t> slots) override { return completions_.wait(slots); }
  void sync() override { require(file_->Sync(), "File::Sync", url_); }
  void close() override {
    completions_.wait_for_all();
    require(file_->Close(), "File::Close", url_);
  }
  std::uint64_t size() override {
    constexpr bool ask_the_server = true;
    XrdCl::StatInfo* found = nullptr;
    const XRootDStatus status = file_->Stat(ask_the_server, found);
    const std::unique_ptr<XrdCl::StatInfo> owned(found);
    require(status, "File::Stat", url_);
    return found->GetSize();
  }
  Facts facts() const override {
    Facts facts{{"url", url_}};
    std::string server;
    if (file_->GetProperty("DataServer", server)) facts["data server"] = server;
    return facts;
  }

 private:
  /// Called with the result of a part, in a thread of the library.
  class Answer final : public XrdCl::ResponseHandler {
   public:
    Answer(XrootdFile& file, std::uint32_t slot, std::size_t part) : file_(file), slot_(slot), part_(part) {}
    void HandleResponse(XRootDStatus* status, XrdCl::AnyObject* response) override {
      const Part& part = file_.slots_[slot_].parts[part_];
      std::optional<IoError> problem;
      if (!status->IsOK()) problem = file_.error_of(part, *status);
      else if (part.direction == Direction::read) problem = file_.short_read(part, moved_by(part, *response));
      delete status;
      delete response;
      file_.completions_.part_done(slot_, std::move(problem));
    }

   private:
    static std::uint64_t moved_by(const Part& part, XrdCl::AnyObject& response) {
      ChunkInfo* chunk = nullptr;
      XrdCl::VectorReadInfo* list = nullptr;
      if (part.method == Method::list) return response.Get(list), list->GetSize();
      return response.Get(chunk), chunk->length;
    }
    XrootdFile& file_;
    std::uint32_t slot_;
    std::size_t part_;
  };
  struct Slot {
    std::vector<Part> parts;
    std::vector<std::unique_ptr<Answer>> answers;
  };

  IoError error_of(const Part& part, const XRootDStatus& status) const {
    return strider::error_of(status, part.call(), url_, part.chunks[0].offset, part.bytes());
  }
  std::optional<IoError> short_read(const Part& part, std::uint64_t moved) const {
    if (moved == part.bytes()) return {};
    return IoError({std::string("XrdCl::") + part.call(), url_, part.chunks[0].offset, part.bytes(), 0},
                   "the call moved " + std::to_string(moved) + " bytes: the file ends here");
  }
  XRootDStatus hand_over(const Part& part, Answer* answer) {
    const ChunkInfo& first = part.chunks[0];
    if (part.direction == Direction::read)
      return part.method == Method::list ? file_->VectorRead(part.chunks, nullptr, answer)
                                         : file_->Read(first.offset, first.length, first.buffer, answer);
    return part.method == Method::list ? file_->VectorWrite(part.chunks, answer)
                                       : file_->Write(first.offset, first.length, first.buffer, answer);
  }
  void move(Direction direction, const Request& request) {
    std::vector<Part>& parts = slots_[0].parts;
    const std::size_t count = take_apart(direction, request, method_, parts);
    for (const Part& part : std::span(parts).first(count)) {
      std::uint64_t moved = part.bytes();
      const XRootDStatus status = move_part(part, moved);
      if (!status.IsOK()) throw error_of(part, status);
      if (const auto problem = short_read(part, moved)) throw IoError(*problem);
    }
  }
  XRootDStatus move_part(const Part& part, std::uint64_t& moved) {
    const ChunkInfo& first = part.chunks[0];
    if (part.direction == Direction::write)
      return part.method == Method::list ? file_->VectorWrite(part.chunks)
                                         : file_->Write(first.offset, first.length, first.buffer);
    if (part.method == Method::multiple) {
      std::uint32_t bytes = 0;
      const XRootDStatus status = file_->Read(first.offset, first.length, first.buffer, bytes);
      moved = bytes;
      return status;
    }
    XrdCl::VectorReadInfo* list = nullptr;
    const XRootDStatus status = file_->VectorRead(part.chunks, nullptr, list);
    if (list != nullptr) moved = list->GetSize();
    delete list;
    return status;
  }

  std::string url_;
  Method method_;
  std::unique_ptr<XrdCl::File> file_;
  Completions completions_;
  std::vector<Slot> slots_;
};

struct XrootdCalls : LibraryCalls {
  static constexpr const char* prefix = "XrdCl::";
  std::string server;
  std::shared_ptr<XrdCl::FileSystem> system;

  static XrdCl::File& file(Handle handle) { return *reinterpret_cast<XrdCl::File*>(handle); }
  int mkdir(const char* path) const { return -errno_of(system->MkDir(path, XrdCl::MkDirFlags::None, owner_folder)); }
  int rmdir(const char* path) const { return -errno_of(system->RmDir(path)); }
  int list(const char* path, EntryVisitor& visitor) const {
    XrdCl::DirectoryList* entries = nullptr;
    const XRootDStatus status = system->DirList(path, XrdCl::DirListFlags::None, entries);
    const std::unique_ptr<XrdCl::DirectoryList> owned(entries);
    if (!status.IsOK()) return -errno_of(status);
    for (auto entry = entries->Begin(); entry != entries->End(); ++entry) visitor.entry((*entry)->GetName().c_str());
    return 0;
  }
  int open(const char* path, OpenMode mode, Handle& handle) const {
    auto opened = std::make_unique<XrdCl::File>();
    const auto flags = mode == OpenMode::create  ? OpenFlags::New | OpenFlags::Update
                       : mode == OpenMode::write ? OpenFlags::Update
                                                 : OpenFlags::Read;
    const int error = errno_of(opened->Open(server + path, flags, owner_file));
    if (error == 0) handle = reinterpret_cast<Handle>(opened.release());
    return -error;
  }
  static std::int64_t pwrite(Handle handle, const std::byte* from, std::uint64_t length, std::uint64_t offset) {
    const int error = errno_of(file(handle).Write(offset, static_cast<std::uint32_t>(length), from));
    return error != 0 ? -error : static_cast<std::int64_t>(length);
  }
  static std::int64_t pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) {
    std::uint32_t moved = 0;
    const int error = errno_of(file(handle).Read(offset, static_cast<std::uint32_t>(length), to, moved));
    return error != 0 ? -error : static_cast<std::int64_t>(moved);
  }
  static int fsync(Handle handle) { return -errno_of(file(handle).Sync()); }
  static int close(Handle handle) {
    const std::unique_ptr<XrdCl::File> owned(&file(handle));
    return -errno_of(owned->Close());
  }
  int lstat(const char* path, ItemState& state) const {
    XrdCl::StatInfo* found = nullptr;
    const int error = errno_of(system->Stat(path, found));
    const std::unique_ptr<XrdCl::StatInfo> owned(found);
    if (error != 0) return -error;
    state.type = found->TestFlags(XrdCl::StatInfo::IsDir)   ? ItemType::directory
                 : found->TestFlags(XrdCl::StatInfo::Other) ? ItemType::other
                                                            : ItemType::file;
    state.size_bytes = found->GetSize();
    state.links = 1;  // there are no hard links
    return 0;
  }
  int chmod(const char* path, unsigned mode) const {
    return -errno_of(system->ChMod(path, static_cast<XrdCl::Access::Mode>(mode & 0777)));
  }
  int truncate(const char* path, std::uint64_t bytes) const { return -errno_of(system->Truncate(path, bytes)); }
  int rename(const char* from, const char* to) const { return -errno_of(system->Mv(from, to)); }
  int unlink(const char* path) const { return -errno_of(system->Rm(path)); }
};

class Xrootd final : public Interface {
 public:
  explicit Xrootd(const Settings& settings)
      : server_(settings.text("url")),
        mount_(settings.text("mount")),
        root_(settings.text("root")),
        method_(settings.text("method") == "list" ? Method::list : Method::multiple),
        timeout_s_(static_cast<int>(settings.seconds("timeout"))) {
    while (server_.ends_with('/')) server_.pop_back();
    const XrdCl::URL url(server_);
    if (!url.IsValid() || (!server_.starts_with("root://") && !server_.starts_with("roots://")) || url.GetPath() != "")
      throw InputError("xrootd.url", "\"" + server_ + "\" names no server", "xrootd.url = \"root://HOST:1094\"");
  }

  void connect(const std::string& directory) override {
    inside_ = InsidePaths(directory, mount_.empty() ? mount_of(directory).point : mount_, root_);
    XrdCl::Env* environment = XrdCl::DefaultEnv::GetEnv();
    const auto limit = static_cast<int>(connect_limit.count());
    // $XRD_… of the same names go before these.
    environment->PutInt("ConnectionWindow", limit);
    environment->PutInt("ConnectionRetry", 1);
    environment->PutInt("StreamErrorWindow", limit);
    environment->PutInt("RequestTimeout", timeout_s_);
    environment->PutInt("StreamTimeout", timeout_s_);
    calls_.server = server_ + "/";  // the path that follows is absolute
    calls_.system = std::make_shared<XrdCl::FileSystem>(XrdCl::URL(server_));
    XrdCl::StatInfo* found = nullptr;
    const std::string inside = inside_(directory);
    const XRootDStatus status = calls_.system->Stat(inside, found, static_cast<std::uint16_t>(connect_limit.count()));
    delete found;
    if (errno_of(status) == ENOENT)
      throw IoError({"XrdCl::FileSystem::Stat", server_ + "/" + inside, 0, 0, ENOENT},
                    "the server does not have the directory of the target",
                    "check xrootd.url, xrootd.mount and xrootd.root: the local directory `mount` must correspond to "
                    "`root` on the server");
    if (!status.IsOK())
      throw IoError({"XrdCl::FileSystem::Stat", server_, 0, 0, errno_of(status)}, status.ToStr(),
                    "set xrootd.url to a server that this host can reach");
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    return std::make_unique<XrootdFile>(calls_.server + inside_(request.path), request, method_);
  }
  void remove(const std::string& path) override {
    const std::string inside = inside_(path);
    const XRootDStatus status = calls_.system->Rm(inside);
    if (errno_of(status) != ENOENT) require(status, "FileSystem::Rm", inside);
  }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    return std::make_unique<LibraryDirectory<XrootdCalls>>(calls_, inside_(path));
  }
  std::uint32_t largest_depth() const override { return strider::largest_depth; }

 private:
  std::string server_, mount_, root_;
  Method method_;
  int timeout_s_;
  InsidePaths inside_;
  XrootdCalls calls_;
};

constexpr Parameter xrootd_parameters[] = {
    {"url", Kind::url, "null", "The server: \"root://HOST:PORT\".", no_limit, no_limit, "root|roots", true},
    {"method", Kind::choice, "\"list\"",
     "Transfer of a request of several extents: one call for each extent (multiple), or calls that each take a list of "
     "up to 1024 pieces of the file (list: VectorRead, VectorWrite).",
     no_limit, no_limit, "multiple|list"},
    {"timeout", Kind::seconds, "60", "Time limit of a request to the server; a request that takes longer fails.", 1,
     86400},
    mount_parameter,
    root_parameter,
};

constexpr MetadataCalls calls{
    MetadataCall::make_directory, MetadataCall::remove_directory, MetadataCall::list,     MetadataCall::open,
    MetadataCall::state,          MetadataCall::set_mode,         MetadataCall::truncate, MetadataCall::rename,
    MetadataCall::unlink};

}  // namespace

extern const InterfaceEntry xrootd_entry{
    "xrootd",
    "XRootD's own library, XrdCl: File::Read, File::Write, and lists of extents.",
    {.storage = Storage::kept, .metadata = calls, .client = StorageClient::library},
    xrootd_parameters,
    make_interface<Xrootd>};

}  // namespace strider
