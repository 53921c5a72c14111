import CoreDataModel
import Foundation
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
        guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable("it is no regular file") }
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
