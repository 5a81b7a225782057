#pragma once
#include <string>
#include <thread>

#include "store.hpp"

namespace forgetfs {

/// Takes commands at a unix socket, one a connection, also while the mount fails:
///
///   fault OP KIND [call=K] [range=BEGIN-END] [amount=N] [name=PART] [file=K] [access=read-only]     clear faults cut
///   tear UNIT SEED     persist     dump now|disk FOLDER mark TEXT     events     erase
///   snapshots [FOLDER]     snapshots-in-part EVERY FOLDER     snapshots-made     freeze FOLDER     thaw [cut]
///
/// Answers with lines of JSON, if any, and "ok"; or with "error: " and the problem.
class Control {
 public:
  explicit Control(Store& store);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

 private:
  void serve();
  Store& store_;
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace forgetfs
