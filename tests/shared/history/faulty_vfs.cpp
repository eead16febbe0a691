#include "tests/shared/history/faulty_vfs.h"

#include <cstdint>
#include <new>
#include <stdexcept>

namespace ringwright::history::testing {

// A file of the system below, with our methods before its own.
struct FaultyFile {
  sqlite3_file base;
  FaultyVfs* vfs;
  sqlite3_file* below;  // lies behind this object

  static FaultyFile& of(sqlite3_file* file) { return *reinterpret_cast<FaultyFile*>(file); }
  static int fault(sqlite3_file* file, int io_error) { return of(file).vfs->next(false, io_error); }
  static int read_fault(sqlite3_file* file, int io_error) { return of(file).vfs->next(true, io_error); }

  static int close(sqlite3_file* file) { return of(file).below->pMethods->xClose(of(file).below); }
  static int read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
    const int error = read_fault(file, SQLITE_IOERR_READ);
    return error ? error : of(file).below->pMethods->xRead(of(file).below, to, bytes, at);
  }
  static int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
    const int error = fault(file, SQLITE_IOERR_WRITE);
    return error ? error : of(file).below->pMethods->xWrite(of(file).below, from, bytes, at);
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 bytes) {
    const int error = fault(file, SQLITE_IOERR_TRUNCATE);
    return error ? error : of(file).below->pMethods->xTruncate(of(file).below, bytes);
  }
  // A process that ends does not lose what the system has, so the disk need not be waited for.
  static int sync(sqlite3_file* file, int) { return fault(file, SQLITE_IOERR_FSYNC); }
  static int file_size(sqlite3_file* file, sqlite3_int64* bytes) {
    const int error = read_fault(file, SQLITE_IOERR_FSTAT);
    return error ? error : of(file).below->pMethods->xFileSize(of(file).below, bytes);
  }
  static int lock(sqlite3_file* file, int level) { return of(file).below->pMethods->xLock(of(file).below, level); }
  static int unlock(sqlite3_file* file, int level) { return of(file).below->pMethods->xUnlock(of(file).below, level); }
  static int check_reserved(sqlite3_file* file, int* reserved) { return of(file).below->pMethods->xCheckReservedLock(of(file).below, reserved); }
  static int file_control(sqlite3_file* file, int what, void* argument) {
    return of(file).below->pMethods->xFileControl(of(file).below, what, argument);
  }
  static int sector_size(sqlite3_file* file) { return of(file).below->pMethods->xSectorSize(of(file).below); }
  static int characteristics(sqlite3_file* file) { return of(file).below->pMethods->xDeviceCharacteristics(of(file).below); }
  static int shm_map(sqlite3_file* file, int page, int bytes, int extend, void volatile** to) {
    const int error = extend ? fault(file, SQLITE_IOERR_SHMSIZE) : read_fault(file, SQLITE_IOERR_SHMMAP);
    return error ? error : of(file).below->pMethods->xShmMap(of(file).below, page, bytes, extend, to);
  }
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    return of(file).below->pMethods->xShmLock(of(file).below, offset, count, flags);
  }
  static void shm_barrier(sqlite3_file* file) { of(file).below->pMethods->xShmBarrier(of(file).below); }
  static int shm_unmap(sqlite3_file* file, int remove) { return of(file).below->pMethods->xShmUnmap(of(file).below, remove); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out);
  static int remove(sqlite3_vfs* vfs, const char* name, int sync);
};

namespace {

constexpr sqlite3_io_methods methods() {
  sqlite3_io_methods table{};
  table.iVersion = 2;
  table.xClose = FaultyFile::close, table.xRead = FaultyFile::read, table.xWrite = FaultyFile::write;
  table.xTruncate = FaultyFile::truncate, table.xSync = FaultyFile::sync, table.xFileSize = FaultyFile::file_size;
  table.xLock = FaultyFile::lock, table.xUnlock = FaultyFile::unlock, table.xCheckReservedLock = FaultyFile::check_reserved;
  table.xFileControl = FaultyFile::file_control, table.xSectorSize = FaultyFile::sector_size;
  table.xDeviceCharacteristics = FaultyFile::characteristics;
  table.xShmMap = FaultyFile::shm_map, table.xShmLock = FaultyFile::shm_lock, table.xShmBarrier = FaultyFile::shm_barrier;
  table.xShmUnmap = FaultyFile::shm_unmap;
  return table;
}
const sqlite3_io_methods kMethods = methods();

FaultyVfs& vfs_of(sqlite3_vfs* vfs) { return *static_cast<FaultyVfs*>(vfs->pAppData); }

}  // namespace

int FaultyFile::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  auto* opened = new (file) FaultyFile{{nullptr}, &vfs_of(vfs), nullptr};
  opened->below = reinterpret_cast<sqlite3_file*>(opened + 1);
  if (const int error = opened->vfs->next(!(flags & SQLITE_OPEN_CREATE), SQLITE_CANTOPEN)) return error;
  const int result = opened->vfs->below_->xOpen(opened->vfs->below_, name, opened->below, flags, flags_out);
  if (opened->below->pMethods) opened->base.pMethods = &kMethods;
  return result;
}

int FaultyFile::remove(sqlite3_vfs* vfs, const char* name, int sync) {
  const int error = vfs_of(vfs).next(false, SQLITE_IOERR_DELETE);
  return error ? error : vfs_of(vfs).below_->xDelete(vfs_of(vfs).below_, name, sync);
}

FaultyVfs::FaultyVfs() : below_(sqlite3_vfs_find(nullptr)) {
  vfs_ = *below_;
  vfs_.zName = "faulty";
  vfs_.pNext = nullptr;
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(FaultyFile)) + below_->szOsFile;
  vfs_.xOpen = FaultyFile::open;
  vfs_.xDelete = FaultyFile::remove;
  if (sqlite3_vfs_register(&vfs_, 1) != SQLITE_OK) throw std::runtime_error("the file system cannot be registered");
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(below_, 1);
}

void FaultyVfs::fail_at(int64_t k, Kind kind, bool lasting) { calls_ = 0, failed_ = false, kind_ = kind, lasting_ = lasting, fail_at_ = k; }

void FaultyVfs::heal() { fail_at_ = 0, calls_ = 0; }

int FaultyVfs::next(bool reads, int io_error) {
  if (reads != (kind_ == Kind::read_error)) return SQLITE_OK;
  const int64_t call = ++calls_, k = fail_at_;
  if (k == 0 || call < k || (call > k && !lasting_)) return SQLITE_OK;
  failed_ = true;
  return kind_ == Kind::disk_full ? SQLITE_FULL : io_error;
}

}  // namespace ringwright::history::testing
