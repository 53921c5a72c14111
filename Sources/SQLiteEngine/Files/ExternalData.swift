import CPippinSQLite
import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

/// The large values beside the store, in `.<store>_SUPPORT/_EXTERNAL_DATA`.
///
/// The column of an attribute with external storage begins with a byte: 1 if the value follows, 2 if the name of its
/// file follows, which is a UUID in ASCII and a zero byte. Only regular files directly in the folder are values:
/// symbolic links are not followed, for the folder or in it.
package struct ExternalData {
    /// The store of the values.
    let store: URL
    /// The folder of everything that belongs to the store outside its database.
    package let support: URL
    /// The folder of the files, which need not exist.
    let folder: URL
    /// The symbolic link by which the store was opened; earlier builds kept the files beside it.
    private let link: URL?
    /// Values larger than this, in bytes, are written to a file.
    let inlineLimit: Int
    /// How many bytes of values are read at once; nil for any number.
    var budget: ValueBudget?

    /// No files: every value is kept in the database.
    static let none = ExternalData(store: URL(fileURLWithPath: "/dev/null"), inlineLimit: .max)

    /// The options for archiving transformable values.
    private(set) var coding: TransformableCoding.Options

    /// - Parameters:
    ///   - store: the store of the values.
    ///   - inlineLimit: the most bytes of a value that is kept in the database.
    ///   - keepsBytes: whether transformable values are read as the bytes that the store has.
    package init(store: URL, inlineLimit: Int = 128 * 1024, keepsBytes: Bool = false) {
        let file = store.linkedFile
        self.init(store: file, inlineLimit: inlineLimit, link: file == store ? nil : store)
        coding.keepsBytes = keepsBytes
    }

    private init(store: URL, inlineLimit: Int, link: URL?) {
        self.store = store
        self.link = link
        self.inlineLimit = inlineLimit
        coding = inlineLimit == .max ? .inMemory : TransformableCoding.Options()
        let name = store.deletingPathExtension().lastPathComponent
        support = store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
        folder = support.appendingPathComponent(Self.folderName, isDirectory: true)
    }

    private static let folderName = "_EXTERNAL_DATA"

    /// The meaning of a column's bytes.
    package enum Content {
        case value(Data)
        /// The value is in a file that cannot be read.
        case missing(MissingExternalData)
    }

    /// The value for a column's bytes.
    package func content(of bytes: Data) -> Content {
        switch bytes.first {
        case 1: return .value(Data(bytes.dropFirst()))
        case 2:
            guard let name = Self.fileName(in: bytes) else { return .value(bytes) }
            do { return .value(try mapped(name)) } catch {
                return .missing(
                    MissingExternalData(
                        column: bytes, file: folder.appendingPathComponent(name), reason: error.reason))
            }
        default: return .value(bytes)
        }
    }

    /// The name of the file that a column's bytes refer to; nil if they are the value itself.
    package static func fileName(in bytes: Data) -> String? {
        guard bytes.first == 2 else { return nil }
        let name = bytes.dropFirst().prefix { $0 != 0 }
        // Only a UUID is accepted, so that a damaged store cannot lead out of the folder.
        guard let text = String(bytes: name, encoding: .ascii), UUID(uuidString: text) != nil else { return nil }
        return text
    }

    /// The bytes for a column that contains the value itself.
    package static func inline(_ content: Data) -> Data { Data([1]) + content }

    /// The bytes for a column that refers to a file.
    static func reference(to name: String) -> Data { Data([2]) + Data(name.utf8) + Data([0]) }

    // MARK: Reading

    private struct Unreadable: Error {
        package let reason: String
        init(_ reason: String) { self.reason = reason }
        init(_ number: Int32) { reason = String(cString: strerror(number)) }
    }

    /// Memory-mapped: nothing is read before the value is used. The file is never changed in place, and a removed file
    /// can be read as long as the mapping exists.
    private func mapped(_ name: String) throws(Unreadable) -> Data {
        let descriptor: Int32
        do { descriptor = try opened(name) } catch {
            guard let link else { throw error }
            descriptor = try ExternalData(store: link, inlineLimit: 0, link: nil).opened(name)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable("it is not a regular file") }
        let count = Int(status.st_size)
        if count == 0 { return Data() }
        guard let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), memory != MAP_FAILED else {
            throw Unreadable(errno)
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .custom { memory, count in munmap(memory, count) })
    }

    /// Opens a file step by step, so that no link is followed on the way from the store's folder. Opening a pipe does
    /// not wait for a writer.
    private func opened(_ name: String) throws(Unreadable) -> Int32 {
        let folder = try openedFolder()
        defer { close(folder) }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            throw errno == ELOOP ? Unreadable("it is a symbolic link, which is not followed") : Unreadable(errno)
        }
        return file
    }

    private func openedFolder() throws(Unreadable) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let outer = open(support.path, flags)
        guard outer >= 0 else { throw unreadableFolder(support, errno) }
        defer { close(outer) }
        let inner = openat(outer, Self.folderName, flags)
        guard inner >= 0 else { throw unreadableFolder(folder, errno) }
        return inner
    }

    private func unreadableFolder(_ url: URL, _ number: Int32) -> Unreadable {
        Unreadable(
            number == ENOTDIR || number == ELOOP
                ? "“\(url.lastPathComponent)” is a symbolic link, which is not followed, or no folder"
                : String(cString: strerror(number)))
    }

    // MARK: Writing

    /// Makes missing folders.
    func makeFolders() throws {
        let permissions = StorePermissions(of: store)
        try permissions.makeFolder(support)
        try permissions.makeFolder(folder)
    }

    /// Writes a value into a new file.
    ///
    /// - Parameters:
    ///   - content: the bytes.
    ///   - name: the file's name, a UUID.
    /// - Throws: the errors of the file system.
    func write(_ content: Data, as name: String) throws {
        try makeFolders()
        let url = folder.appendingPathComponent(name)
        let descriptor = try StorePermissions(of: store).makeFile(url)
        defer { close(descriptor) }
        do { try FileWriting.write(content, to: descriptor, url) } catch {
            unlink(url.path)
            throw error
        }
    }

    // MARK: Files

    /// The paths of everything in the folder that belongs to the store, and of the folder, the innermost first.
    var contents: [String] {
        func contents(_ path: String) -> [String] {
            var status = stat()
            guard lstat(path, &status) == 0 else { return [] }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let names = isFolder ? (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] : []
            return names.flatMap { contents("\(path)/\($0)") } + [path]
        }
        return contents(support.path)
    }

    /// The names of the files; empty if there is no folder, or it is a symbolic link.
    func fileNames() throws -> Set<String> {
        guard let descriptor = try? openedFolder() else { return [] }
        close(descriptor)
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    /// The names of the files that can be values: not links, pipes or folders.
    func regularFileNames() throws -> Set<String> {
        try fileNames().filter { name in
            var status = stat()
            return lstat(folder.appendingPathComponent(name).path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Removes files; missing ones are ignored.
    package func remove(_ names: [String]) {
        guard !names.isEmpty, let descriptor = try? openedFolder() else { return }
        for name in names { unlinkat(descriptor, name, 0) }
        close(descriptor)
    }
}

/// The stores that keep their large values in one folder, because only the extensions of their names differ.
extension ExternalData {
    /// The other databases, by their files' names, that may have values in the folder.
    ///
    /// Only SQLite opens them: when a process closes a file, it loses the locks of all its connections to it. The files
    /// that SQLite keeps beside a database are not even looked at.
    private func siblings() -> [URL] {
        let (parent, own) = (store.deletingLastPathComponent(), store.lastPathComponent)
        let stem = store.deletingPathExtension().lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.sorted().map(parent.appendingPathComponent).filter { url in
            let name = url.lastPathComponent
            return name != own && url.deletingPathExtension().lastPathComponent == stem
                && !["-wal", "-shm", "-journal"].contains(where: name.hasSuffix) && Self.isDatabase(url)
        }
    }

    private static func isDatabase(_ url: URL) -> Bool {
        if OpenFiles.contains(url.path) { return true }
        var status = stat()
        // SQLite would wait for a pipe.
        guard stat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return false }
        do {
            let connection = try Connection(path: url.path, mode: .readOnly, busyTimeout: 0)
            return try !connection.tableNames().isEmpty
        } catch let error as SQLiteError {
            // One that cannot be read at present may be one all the same.
            return !error.isNoDatabase
        } catch { return true }
    }

    /// Whether another store keeps its values in the same folder.
    var isShared: Bool { !siblings().isEmpty }

    /// The names of the files to which the other stores' rows refer.
    ///
    /// - Parameter timeout: seconds to wait for a connection that writes to one of them.
    /// - Returns: the names; nil if one of the stores cannot be read, so that any file may be one of its values.
    func namesOfSiblings(timeout: Double) -> Set<String>? {
        var names: Set<String> = []
        for sibling in siblings() {
            do {
                let file = try StoreFile.openForReading(sibling, timeout: timeout)
                names.formUnion(try ExternalReferences.names(in: file.connection))
            } catch { return nil }
        }
        return names
    }

    /// Removes files to which this store's rows no longer refer, except those of the other stores; missing ones are
    /// ignored.
    ///
    /// - Parameters:
    ///   - names: the files' names.
    ///   - timeout: seconds to wait for a connection that writes to one of the other stores.
    /// - Returns: false if they stay because one of the other stores cannot be read.
    @discardableResult
    package func removeUnshared(_ names: [String], timeout: Double = 0) -> Bool {
        if names.isEmpty { return true }
        guard let others = namesOfSiblings(timeout: timeout) else { return false }
        remove(names.filter { !others.contains($0) })
        return true
    }

    /// The same, unless a connection still reads a state in which rows refer to them.
    ///
    /// - Parameters:
    ///   - names: the files' names.
    ///   - connection: the store's, outside a transaction.
    /// - Returns: false if the files stay.
    @discardableResult
    package func removeUnread(_ names: [String], _ connection: Connection) -> Bool {
        names.isEmpty || connection.hasNoOlderReaders() && removeUnshared(names)
    }
}

/// How a store's rows and the files beside it match.
package struct ExternalDataSummary: Equatable {
    /// How many values are kept in files.
    package let values: Int
    /// How many of these have no readable file.
    package let missing: Int
    /// How many files no row refers to.
    package let orphans: Int

    /// Reads all rows' references and the names in the folder, without changing anything.
    ///
    /// - Parameters:
    ///   - database: the store's database, or a copy of it.
    ///   - store: the store beside which the files are.
    /// - Throws: SQLite's errors, and those of the file system.
    package init(database: URL, store: URL) throws {
        try self.init(Connection(path: database.path, mode: .readWrite), store: store)
    }

    /// The same for an open database.
    package init(_ connection: Connection, store: URL) throws {
        let files = try ExternalData(store: store).regularFileNames()
        var unused = files.filter { UUID(uuidString: $0) != nil }
        var (values, missing) = (0, 0)
        try ExternalReferences.forEach(in: connection) { name in
            values += 1
            if !files.contains(name) { missing += 1 }
            unused.remove(name)
        }
        (self.values, self.missing, orphans) = (values, missing, unused.count)
    }
}

/// How many bytes the values of a row, or of a page of rows, may have, for programs that read stores of unknown origin.
/// A value that exceeds the rest is not read: something that says so takes its place.
final class ValueBudget: @unchecked Sendable {
    // @unchecked Sendable: confined to the store's lock, as the reading of rows is.
    private let most: Int
    private var rest: Int
    /// The row whose values are counted; nil for those of a page.
    private var key: Int64?
    private var isPage = false
    /// Values of fewer bytes are not counted.
    private static let least = 1 << 16

    /// - Parameter most: how many bytes.
    init(_ most: Int) { (self.most, rest) = (most, most) }

    /// Counts the values of all rows together that are read meanwhile.
    func readingPage<Result>(_ body: () throws -> Result) rethrows -> Result {
        (isPage, rest) = (true, most)
        defer { (isPage, key) = (false, nil) }
        return try body()
    }

    /// Whether a copy of a value, beside the row that SQLite has in memory, exceeds what SQLite alone may take.
    private static func isBeyondHeap(_ count: Int) -> Bool {
        // -1 asks for the limit and leaves it.
        let limit = sqlite3_hard_heap_limit64(-1)
        return limit > 0 && sqlite3_memory_used() + Int64(count) > limit
    }

    /// Counts a value.
    ///
    /// - Parameters:
    ///   - count: how many bytes it has.
    ///   - key: the row's key.
    /// - Returns: what takes the place of a value that is too large; nil for one that may be read.
    func refusal(of count: Int, in key: Int64) -> StoredValue? {
        guard count > Self.least else { return nil }
        if !isPage, self.key != key { (self.key, rest) = (key, most) }
        let reason: String
        if count > rest {
            let scope = isPage ? "of the values that are shown together" : "of an object’s values"
            reason = "of \(most) bytes \(scope), \(rest) are left"
        } else if Self.isBeyondHeap(count) {
            reason = "SQLite holds it and the other values of its row, and both take more than may be in memory"
        } else {
            rest -= count
            return nil
        }
        return .object(UnavailableValue("the value has \(count) bytes, and is not read: \(reason)"))
    }
}

extension ExternalData {
    /// The value for a column of bytes: from the column itself, or from the file that it names. If the file is missing,
    /// a stand-in is returned.
    func value(of bytes: Data, allowsExternal: Bool, _ decode: (Data) -> StoredValue) -> StoredValue {
        guard allowsExternal else { return decode(bytes) }
        switch content(of: bytes) {
        case .value(let content): return decode(content)
        case .missing(let missing): return .object(missing)
        }
    }
}
