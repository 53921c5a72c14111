import Foundation

// Reading and replacing the file of a store, and the errors of doing so.
extension DocumentStore {
    /// The content of a store's file, for tools that have no model.
    ///
    /// - Parameters:
    ///   - url: the file of the store.
    ///   - type: the type of XML or binary stores.
    /// - Returns: the metadata and all objects of the file.
    /// - Throws: 259 if the file is damaged, or is not such a store.
    package static func contents(of url: URL, type: String) throws -> StoreDocument {
        let store: DocumentStore.Type = type == NSXMLStoreType ? XMLStore.self : BinaryStore.self
        return try store.read(url)
    }

    static func read(_ url: URL) throws -> StoreDocument {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw self.error(CocoaError.Code.fileReadUnknown.rawValue, "cannot be read", error, url)
        }
        do { return try document(of: data) } catch { throw damaged(url, error) }
    }

    /// Replaces a file, whose lock the caller has, by a copy of another one.
    static func write(from source: URL, to destination: URL) throws {
        guard try FileState(of: source) != nil else { throw missing(source) }
        _ = try read(source)
        try AtomicFile.write(Data(contentsOf: source), to: destination)
    }

    static func missing(_ url: URL) -> NSError {
        StoreError.make(CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no store “\(url.path)”.", url: url)
    }

    static func misfit(_ url: URL?, _ failure: FileValues.Failure) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The model does not fit the store “\(url?.lastPathComponent ?? "")”: \(failure.reason). Open it with the version "
                + "of the model that made it, or migrate it.", url: url)
    }

    static func damaged(_ url: URL?, _ error: any Error) -> NSError {
        self.error(CocoaError.Code.fileReadCorruptFile.rawValue, "is damaged, or no such store", error, url)
    }

    static func error(_ code: Int, _ what: String, _ error: any Error, _ url: URL?) -> NSError {
        let reason = (error as? FileValues.Failure)?.reason ?? (error as NSError).localizedDescription
        return StoreError.make(
            code,
            "The \(formatName) store “\(url?.lastPathComponent ?? "")” \(what): \(reason).",
            url: url, underlying: error is FileValues.Failure ? nil : error)
    }
}
