import CompactCollections
import CoreDataModel
import Foundation

// Errors of migrations that fail because of a store's file.
extension MigrationError {
    /// The error of a migration by SQL, if SQLite or the file system failed.
    package static func statements(
        url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, _ error: any Error
    ) -> NSError {
        failed(
            error, url: url, from: version(source, sibling: destination), to: version(destination),
            step: "The step in place",
            userInfo: ["sourceModel": source, "destinationModel": destination])
    }

    /// - Returns: an error with the cause's domain, code and user info.
    package static func failed(
        _ error: any Error, url: URL, from source: String, to destination: String, step: String,
        userInfo: [String: Any]
    ) -> NSError {
        var cause = error as NSError
        // The versions and the step are only named once.
        if cause.userInfo["sourceModel"] != nil, let inner = cause.userInfo[NSUnderlyingErrorKey] as? NSError {
            cause = inner
        }
        var info = cause.userInfo.merging(userInfo) { $1 }
        info[NSURLErrorKey] = url
        info[NSFilePathErrorKey] = url.path
        info[NSUnderlyingErrorKey] = cause
        let outcome = isUncertain(cause) ? "The store is whole, of the old version or the new one." : asItWas
        // A sentence about the store in the cause is replaced by that of the step.
        let reason = cause.localizedDescription.replacing(" " + asItWas, with: "")
        info[NSLocalizedDescriptionKey] =
            "The store “\(url.lastPathComponent)” cannot be migrated from \(source) to \(destination). \(step) failed: "
            + "\(reason) \(outcome)"
        if isOutOfSpace(cause) {
            info[NSLocalizedRecoverySuggestionErrorKey] =
                "Make room: the migration needs up to \(neededBytes(url)) bytes beside the store for a while."
        } else if info[NSLocalizedRecoverySuggestionErrorKey] == nil {
            info[NSLocalizedRecoverySuggestionErrorKey] = "Correct what the step says, and migrate the store again."
        }
        return NSError(domain: cause.domain, code: cause.code, userInfo: info)
    }

    /// The last sentence of an error about a store whose migration failed.
    static let asItWas = "The store is as it was."

    /// Whether it is unknown if the store's last commit succeeded.
    private static func isUncertain(_ error: NSError) -> Bool {
        error.userInfo[StoreError.uncertaintyKey] as? Bool == true
            || (error.userInfo[NSUnderlyingErrorKey] as? NSError).map(isUncertain) ?? false
    }

    private static func isOutOfSpace(_ error: NSError) -> Bool {
        if error.domain == NSCocoaErrorDomain, error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue {
            return true
        }
        if error.domain == NSPOSIXErrorDomain, error.code == Int(ENOSPC) || error.code == Int(EDQUOT) { return true }
        return (error.userInfo[NSUnderlyingErrorKey] as? NSError).map(isOutOfSpace) ?? false
    }

    /// The space for the stores before and after a step, and for the log with which the last one replaces the original.
    private static func neededBytes(_ url: URL) -> Int64 {
        let (folder, name) = (url.deletingLastPathComponent(), url.lastPathComponent)
        // Files that cannot be inspected are ignored in this estimate.
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter {
            $0 == name || $0.hasPrefix(name + "-")
        }
        let sizes = files.map { file -> Int64 in
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: folder.appendingPathComponent(file).path)
            return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        }
        return 3 * sizes.reduce(0, +)
    }
}
