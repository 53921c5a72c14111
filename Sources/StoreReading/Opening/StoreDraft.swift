import Foundation
import SQLiteEngine

/// A store that is made in a folder beside its place, and comes there when it is whole: a part of a copy looks like a
/// whole store, and an empty one does, too.
///
/// The folder is removed when a signal ends the program; after `kill -9` by the next run that writes to the same place.
package final class StoreDraft {
    /// The store to fill: an empty file for those only who may read the source, if there is one; otherwise no file yet.
    package let url: URL
    private let target: URL
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - target: the place of the store, where nothing may be.
    ///   - source: the store whose permissions it gets; nil for those of any new file.
    /// - Throws: `CommandError` if something is there already, or nothing can be written there.
    package init(of target: URL, like source: URL?) throws {
        self.target = target
        try Self.expectNothing(at: target)
        let parent = target.deletingLastPathComponent()
        guard access(parent.path, W_OK | X_OK) == 0 else {
            throw CommandError("“\(target.path)” cannot be made: \(String(cString: strerror(errno)))")
        }
        let name = target.lastPathComponent
        // With the UUID, names have at most 255 bytes.
        var prefix = name.prefix(200)
        while prefix.utf8.count > 200 { prefix.removeLast() }
        folder = try TemporaryFolder(in: parent, prefix: ".\(prefix).pippin-")
        url = folder.url.appendingPathComponent(name)
        if let source { _ = try url.makeFile(like: source) }
    }

    /// Brings the store to its place. It must not be open.
    ///
    /// - Throws: `CommandError` if something has come there meanwhile; errors of the file system. Nothing is left there
    ///   then.
    package func publish() throws {
        try Self.expectNothing(at: target)
        guard try StoreFiles.move(url, to: target) else { throw Self.isThere(target) }
    }

    private static func isThere(_ url: URL) -> CommandError { CommandError("“\(url.path)” is there already") }

    private static func expectNothing(at target: URL) throws {
        var facts = stat()
        if lstat(target.path, &facts) == 0 { throw isThere(target) }
        // SQLite would take the log of a store that is gone for the new one's.
        for suffix in ["-wal", "-journal"] where stat(target.path + suffix, &facts) == 0 && facts.st_size > 0 {
            throw CommandError(
                "“\(target.path)\(suffix)” is there already. It belongs to a store that is gone; remove it, or choose "
                    + "another name")
        }
    }
}
