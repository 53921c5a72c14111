import CoreDataModel
import Foundation
import StoreEngine

/// Ensures that files are on the disk before anything refers to them.
enum DurableFiles {
    /// Gives one store files of external data of another, which keeps them, under names of its own. This is safe
    /// because such a file is never changed in place.
    static func link(_ files: [(original: String, name: String)], from source: ExternalData, to target: ExternalData)
        throws
    {
        guard !files.isEmpty else { return }
        try target.makeFolders()
        let permissions = StorePermissions(of: target.store)
        for file in files {
            try link(
                source.folder.appendingPathComponent(file.original),
                to: target.folder.appendingPathComponent(file.name), permissions)
        }
        try synchronize(target.folder)
        try synchronize(target.support)
    }

    /// Adds a file of another folder to a folder: by a hard link, or by a copy if the file system has no hard links.
    ///
    /// - Throws: the errors of the file system, with the path.
    private static func link(_ source: URL, to target: URL, _ permissions: StorePermissions) throws {
        // A file with this name is the useless rest of an interrupted copy.
        if unlink(target.path) != 0, errno != ENOENT { throw error(target, "removed") }
        if Foundation.link(source.path, target.path) != 0 {
            let descriptor = try permissions.makeFile(target)
            defer { close(descriptor) }
            try FileWriting.write(Data(contentsOf: source, options: .alwaysMapped), to: descriptor, target)
            return
        }
        try synchronize(target)
    }

    /// Waits until the content of a file, or the names in a folder, are on the disk.
    private static func synchronize(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(url, "opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw error(url, "written to the disk") }
    }

    private static func error(_ url: URL, _ work: String) -> NSError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        return StoreError.make(
            (isFull ? CocoaError.Code.fileWriteOutOfSpace : CocoaError.Code.fileWriteUnknown).rawValue,
            "“\(url.path)” cannot be \(work): \(String(cString: strerror(number))).", url: url,
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(number)))
    }
}
