import CPippinSQLite
import Foundation

/// SQLite's files for readers that leave no trace: no file is made, removed or written, whatever state a store is in.
///
/// To read a database with a write-ahead log, SQLite makes the log and an index of it (`-shm`), or renews a stale one.
/// Here the database and its log are opened for reading only, and a log that is not there has no content. The index of
/// programs that have the database open is shared, without writing to it. Without them SQLite makes one in its own
/// memory, as for each index that it can neither write nor trust, and looks with each transaction whether a program has
/// come (https://www.sqlite.org/wal.html#readonly).
///
/// Where there is no file with an index, no lock keeps a program that comes meanwhile from changing the database. So a
/// page is not used, and the statement fails as busy, if the database was written to since the transaction began.
enum TracelessFiles {
    static let name = "pippin-traceless"

    /// SQLite's result of making these files known to it, once for the process.
    static let registration: Int32 = {
        guard let system = system?.pointer.pointee, let name = strdup(name) else { return SQLITE_NOMEM }
        let files = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        files.initialize(to: system)
        files.pointee.zName = UnsafePointer(name)
        files.pointee.pNext = nil
        files.pointee.szOsFile = Int32(
            max(MainFile.offset + MemoryLayout<MainFile>.stride, MemoryLayout<LogFile>.stride))
        files.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let file else { return SQLITE_MISUSE }
            guard flags & SQLITE_OPEN_WAL == 0 else { return LogFile.open(name, file, outFlags) }
            return flags & SQLITE_OPEN_MAIN_DB == 0
                ? TracelessFiles.openSystem(name, file, flags, outFlags) : MainFile.open(name, file, flags, outFlags)
        }
        // SQLite would remove the log of an empty database.
        files.pointee.xDelete = { _, _, _ in SQLITE_OK }
        return sqlite3_vfs_register(files, 0)
    }()

    /// The system's own files.
    fileprivate static let system = SystemFiles()

    fileprivate static func openSystem(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let system = system?.pointer, let open = system.pointee.xOpen else { return SQLITE_CANTOPEN }
        return open(system, name, file, flags, outFlags)
    }

    fileprivate struct SystemFiles: @unchecked Sendable {
        // @unchecked Sendable: SQLite does not change what is registered.
        let pointer: UnsafeMutablePointer<sqlite3_vfs>

        init?() {
            guard let pointer = sqlite3_vfs_find(nil) else { return nil }
            self.pointer = pointer
        }
    }
}

/// What a write changes of a file.
private struct FileTimes: Equatable {
    private let seconds: Int
    private let nanoseconds: Int
    private let size: Int
    private let node: UInt64

    /// - Returns: nil for a file that is not there.
    init?(_ path: UnsafePointer<CChar>) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        (size, node) = (Int(facts.st_size), UInt64(facts.st_ino))
    }

    /// The times when the clock of the file system has gone on since the last write, so that a later one has another
    /// time: it counts hundredths of a second.
    static func settled(_ path: UnsafePointer<CChar>) -> FileTimes? {
        var now = timespec()
        guard let times = FileTimes(path), clock_gettime(CLOCK_REALTIME, &now) == 0 else { return FileTimes(path) }
        let age = (now.tv_sec - times.seconds) * 1_000_000_000 + now.tv_nsec - times.nanoseconds
        guard (0..<20_000_000).contains(age) else { return times }
        usleep(20_000)
        return FileTimes(path)
    }
}

/// What follows the system's file of a database in its memory.
private struct MainFile {
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>
    private let system: sqlite3_io_methods
    private let path: UnsafeMutablePointer<CChar>
    /// Whether there is a file with an index, with whose locks others are kept from changing what is read.
    private var hasIndex = false
    /// The database when the transaction began; nil outside of one.
    private var begun: FileTimes?

    /// Where this begins in the memory of a file, with the alignment of any structure.
    static let offset = (Int(TracelessFiles.system?.pointer.pointee.szOsFile ?? 0) + 15) & ~15
    /// The index cannot be trusted as long as nobody writes it.
    private static let noIndex = SQLITE_READONLY | 5 << 8

    static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<MainFile> {
        (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: MainFile.self)
    }

    static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let code = TracelessFiles.openSystem(name, file, flags, outFlags)
        guard code == SQLITE_OK, let system = file.pointee.pMethods?.pointee, let name, let path = strdup(name) else {
            return code == SQLITE_OK ? SQLITE_NOMEM : code
        }
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: system)
        // The second version has no pages that are mapped into memory, which would be read without a check.
        methods.pointee.iVersion = 2
        methods.pointee.xClose = { file in
            guard let file else { return SQLITE_MISUSE }
            let main = MainFile.of(file).move()
            let code = main.system.xClose(file)
            free(main.path)
            main.methods.deallocate()
            return code
        }
        methods.pointee.xRead = { file, buffer, count, offset in
            guard let file else { return SQLITE_MISUSE }
            let code = MainFile.of(file).pointee.system.xRead(file, buffer, count, offset)
            return MainFile.of(file).pointee.isChanged ? SQLITE_BUSY : code
        }
        methods.pointee.xShmMap = { file, page, size, extends, result in
            guard let file else { return SQLITE_MISUSE }
            return MainFile.of(file).pointee.mapIndex(file, page, size, extends, result)
        }
        methods.pointee.xShmLock = { file, first, count, flags in
            guard let file else { return SQLITE_MISUSE }
            return MainFile.of(file).pointee.lockIndex(file, first, count, flags)
        }
        methods.pointee.xShmUnmap = { file, _ in
            guard let file, MainFile.of(file).pointee.hasIndex else { return SQLITE_OK }
            MainFile.of(file).pointee.hasIndex = false
            return MainFile.of(file).pointee.system.xShmUnmap(file, 0)
        }
        MainFile.of(file).initialize(to: MainFile(methods: methods, system: system, path: path))
        file.pointee.pMethods = UnsafePointer(methods)
        return SQLITE_OK
    }

    private init(
        methods: UnsafeMutablePointer<sqlite3_io_methods>, system: sqlite3_io_methods,
        path: UnsafeMutablePointer<CChar>
    ) {
        (self.methods, self.system, self.path) = (methods, system, path)
    }

    /// Whether what was read may be of another state than the transaction.
    var isChanged: Bool {
        guard !hasIndex, let begun else { return false }
        return FileTimes(path) != begun
    }

    private mutating func mapIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ page: Int32, _ size: Int32, _ extends: Int32,
        _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        result?.pointee = nil
        guard hasIndex || access(String(cString: path) + "-shm", F_OK) == 0 else { return Self.noIndex }
        let code = system.xShmMap(file, page, size, extends, result)
        if code & 0xFF == SQLITE_CANTOPEN, !hasIndex { return Self.noIndex }
        hasIndex = hasIndex || [SQLITE_OK, SQLITE_READONLY, Self.noIndex].contains(code)
        // The index of a connection of this process that may write it is not written here, either.
        return code == SQLITE_OK ? SQLITE_READONLY : code
    }

    private mutating func lockIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ first: Int32, _ count: Int32, _ flags: Int32
    ) -> Int32 {
        guard !hasIndex else { return system.xShmLock(file, first, count, flags) }
        begun = flags & SQLITE_SHM_LOCK != 0 ? FileTimes.settled(path) : nil
        return SQLITE_OK
    }
}

/// A write-ahead log, which is opened when it is there.
private struct LogFile {
    private var base: sqlite3_file
    private let name: UnsafePointer<CChar>
    /// The system's file; nil as long as there is none.
    private var file: UnsafeMutablePointer<sqlite3_file>?

    private static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<LogFile> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: LogFile.self)
    }

    static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let name else { return SQLITE_CANTOPEN }
        LogFile.of(file).initialize(to: LogFile(base: sqlite3_file(pMethods: methods.pointer), name: name))
        outFlags?.pointee = SQLITE_OPEN_READONLY | SQLITE_OPEN_WAL
        return SQLITE_OK
    }

    private mutating func opened() -> UnsafeMutablePointer<sqlite3_file>? {
        if let file { return file }
        let size = Int(TracelessFiles.system?.pointer.pointee.szOsFile ?? 0)
        guard access(name, F_OK) == 0, let memory = calloc(1, size) else { return nil }
        let made = memory.bindMemory(to: sqlite3_file.self, capacity: 1)
        guard TracelessFiles.openSystem(name, made, SQLITE_OPEN_READONLY | SQLITE_OPEN_WAL, nil) == SQLITE_OK else {
            free(memory)
            return nil
        }
        file = made
        return made
    }

    private mutating func read(_ buffer: UnsafeMutableRawPointer?, _ count: Int32, _ offset: sqlite3_int64) -> Int32 {
        guard let opened = opened() else {
            if let buffer { memset(buffer, 0, Int(count)) }
            // Less than asked for.
            return SQLITE_IOERR | 2 << 8
        }
        let code = opened.pointee.pMethods.pointee.xRead(opened, buffer, count, offset)
        // Before a log begins anew, what it has gets into the database.
        guard let main = sqlite3_database_file_object(name) else { return code }
        return MainFile.of(main).pointee.isChanged ? SQLITE_BUSY : code
    }

    private mutating func close() {
        guard let file else { return }
        _ = file.pointee.pMethods.pointee.xClose(file)
        free(file)
    }

    private struct Methods: @unchecked Sendable {
        // @unchecked Sendable: written once, before SQLite reads it.
        let pointer: UnsafePointer<sqlite3_io_methods>
    }

    private static let methods: Methods = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 1
        methods.pointee.xClose = { file in
            guard let file else { return SQLITE_MISUSE }
            LogFile.of(file).pointee.close()
            return SQLITE_OK
        }
        methods.pointee.xRead = { file, buffer, count, offset in
            guard let file else { return SQLITE_MISUSE }
            return LogFile.of(file).pointee.read(buffer, count, offset)
        }
        methods.pointee.xFileSize = { file, size in
            guard let file else { return SQLITE_MISUSE }
            size?.pointee = 0
            guard let opened = LogFile.of(file).pointee.opened() else { return SQLITE_OK }
            return opened.pointee.pMethods.pointee.xFileSize(opened, size)
        }
        methods.pointee.xWrite = { _, _, _, _ in SQLITE_READONLY }
        methods.pointee.xTruncate = { _, _ in SQLITE_READONLY }
        methods.pointee.xSync = { _, _ in SQLITE_OK }
        methods.pointee.xLock = { _, _ in SQLITE_OK }
        methods.pointee.xUnlock = { _, _ in SQLITE_OK }
        methods.pointee.xCheckReservedLock = { _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        methods.pointee.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.pointee.xSectorSize = { _ in 4096 }
        methods.pointee.xDeviceCharacteristics = { _ in 0 }
        return Methods(pointer: UnsafePointer(methods))
    }()
}
